//! A program that has the relay's port and is no relay.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Answers HTTP requests as a test says, and keeps all that it is told. It ends when it is dropped.
#[derive(Debug)]
pub struct FalseRelay {
    heard: Arc<Mutex<String>>,
    serving: JoinHandle<()>,
}

impl FalseRelay {
    /// Takes a port. Each request line, as `GET /version?nonce=…`, is answered with a status and a
    /// body.
    pub async fn start<F>(port: u16, answer: impl Fn(String) -> F + Clone + Send + 'static) -> Self
    where
        F: Future<Output = (u16, String)> + Send + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
        let heard = Arc::<Mutex<String>>::default();
        let told = Arc::clone(&heard);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer.clone(), Arc::clone(&told)));
            }
        });
        Self { heard, serving }
    }

    /// Returns everything that any peer sent to it.
    #[must_use]
    pub fn heard(&self) -> String {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the port back.
    pub async fn leave(mut self) {
        self.serving.abort();
        // The task was told to end.
        drop((&mut self.serving).await);
    }
}

impl Drop for FalseRelay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve<F>(
    mut stream: TcpStream,
    answer: impl Fn(String) -> F + Send,
    heard: Arc<Mutex<String>>,
) where
    F: Future<Output = (u16, String)> + Send,
{
    let (mut unread, mut buffer) = (String::new(), vec![0; 64 * 1024]);
    loop {
        let Ok(count @ 1..) = stream.read(&mut buffer).await else { return };
        let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
        heard.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
        unread.push_str(&text);
        // Bodies are kept with the rest; only heads are answered.
        while let Some((head, rest)) = unread.split_once("\r\n\r\n") {
            let line = head.lines().next().unwrap_or_default();
            let request = line.trim_end_matches(" HTTP/1.1").to_owned();
            unread = rest.to_owned();
            let (status, body) = answer(request).await;
            let length = body.len();
            let head = format!("HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n");
            let answer = format!("{head}Content-Length: {length}\r\n\r\n{body}");
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}
