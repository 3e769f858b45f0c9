//! How this program's own commands talk to a running relay.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use shared_protocol::http::Version;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A relay on this machine answers at once or is none.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most that any answer of ours takes; a stranger on the port may send more.
const MAX_ANSWER: u64 = 64 * 1024;

/// The version of the relay at this address, or `None` when there is none of ours.
pub async fn version(address: SocketAddr) -> Option<String> {
    let answer = timeout(PATIENCE, get(address, "/version")).await.ok()?.ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str::<Version>(body).ok().map(|answer| answer.version)
}

async fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer).await?;
    Ok(answer)
}
