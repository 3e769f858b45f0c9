//! Requests that make no sense, and such as never end.

use std::time::Duration;

use relay::RelayServer;
use relay::server::RelayOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn a_relay_closes_in_time_with_any_open_connection() {
    let server = start().await;
    let mut half = TcpStream::connect(server.address()).await.unwrap();
    half.write_all(b"GET / HTTP/1.1\r\nHost: 127.").await.unwrap();
    // An answer to the second request shows that the relay has read the first.
    assert_eq!(status(&server, "GET / HTTP/1.1", "").await, 200);
    timeout(Duration::from_secs(10), server.close()).await.unwrap();
}

#[tokio::test]
async fn an_unreadable_request_is_answered_with_a_reason() {
    let server = start().await;
    for body in ["", "{}", "no JSON", r#"{"separateWindow":1}"#] {
        assert_eq!(status(&server, "POST /relay/window-mode HTTP/1.1", body).await, 400, "{body}");
    }
    let right = r#"{"separateWindow":true}"#;
    assert_eq!(status(&server, "POST /relay/window-mode HTTP/1.1", right).await, 200);
    let token = server.agents_token().unwrap().as_query();
    let session = |token: &str| format!("POST /mcp?session=a/b&{token} HTTP/1.1");
    assert_eq!(status(&server, &session(&token), "{}").await, 400);
    assert_eq!(status(&server, &session(""), "{}").await, 403);
    let socket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                  Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    for (wanted, expected) in [("maybe", 400), ("1", 101), ("off", 101)] {
        let line = format!("GET /cdp?separateWindow={wanted} HTTP/1.1\r\n{socket}");
        assert_eq!(status(&server, &line, "").await, expected, "{wanted}");
    }
    server.close().await;
}

async fn start() -> RelayServer {
    RelayServer::start(&RelayOptions { port: 0, ..RelayOptions::default() }).await.unwrap()
}

/// The status of the answer to a request.
async fn status(server: &RelayServer, line: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let (host, length) = (server.address(), body.len());
    let head = format!(
        "{line}\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[9..]).parse().unwrap()
}
