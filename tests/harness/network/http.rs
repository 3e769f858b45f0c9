//! HTTP requests that say exactly what a test says.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::machine::TIMEOUT;

/// The answer to an HTTP request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// 200 and the like.
    pub status: u16,
    /// The lines before the body.
    pub head: String,
    /// The rest.
    pub body: String,
}

/// Sends a request line like `GET /json` with header lines, and gives the answer. Without a `Host`
/// among the lines, it is the server's address.
pub async fn http(port: u16, request: &str, headers: &[&str]) -> Answer {
    let address = format!("127.0.0.1:{port}");
    let mut lines = vec![format!("{request} HTTP/1.1"), "Connection: close".to_owned()];
    if !headers.iter().any(|header| header.starts_with("Host:")) {
        lines.push(format!("Host: {address}"));
    }
    lines.extend(headers.iter().map(|&header| header.to_owned()));
    let mut stream = TcpStream::connect(address).await.expect("the relay listens");
    let request = lines.join("\r\n") + "\r\n\r\n";
    stream.write_all(request.as_bytes()).await.expect("the relay reads");
    let mut answer = String::new();
    let read = timeout(TIMEOUT, stream.read_to_string(&mut answer)).await;
    read.expect("the relay answers").expect("the answer is text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("the answer has a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Answer {
        status: status.expect("the answer has a status"),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// Asks until the answer is as wanted: a relay answers nothing to what an extension announces.
pub async fn http_until(port: u16, request: &str, wanted: impl Fn(&Value) -> bool) {
    let mut last = String::new();
    let asking = async {
        loop {
            last = http(port, request, &[]).await.body;
            if wanted(&serde_json::from_str(&last).expect("the answer is JSON")) {
                return;
            }
        }
    };
    if timeout(TIMEOUT, asking).await.is_err() {
        panic!("waited in vain for another answer to {request}; the last one was {last}");
    }
}
