//! A CDP client that sends exactly what a test says.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::PATIENCE;

/// A WebSocket to the relay.
#[derive(Debug)]
pub struct RawClient(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl RawClient {
    pub(crate) async fn connect(url: &str) -> Self {
        let (socket, _) = connect_async(url).await.expect("the relay takes the socket");
        Self(socket)
    }

    pub(crate) async fn connect_from(url: &str, origin: &str) -> Self {
        let mut request = url.into_client_request().expect("the address is one");
        let origin = origin.parse().expect("the origin fits into a header");
        request.headers_mut().insert("origin", origin);
        let (socket, _) = connect_async(request).await.expect("the relay takes the socket");
        Self(socket)
    }

    /// Sends a text frame.
    pub async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.expect("the relay reads");
    }

    /// The next text frame, parsed.
    pub async fn next(&mut self) -> Value {
        let frame = self.frame().await;
        let Message::Text(text) = frame else { panic!("expected text, got {frame:?}") };
        serde_json::from_str(&text).expect("the relay sends JSON")
    }

    /// Sends a command and gives the next frame, which must be its answer.
    pub async fn call(&mut self, text: &str) -> Value {
        self.send(text).await;
        self.next().await
    }

    /// Sends a command and gives its answer; a tab may have something to tell before.
    pub async fn answer_to(&mut self, id: i64, text: &str) -> Value {
        self.send(text).await;
        loop {
            let frame = self.next().await;
            if frame["id"] == id {
                return frame;
            }
            assert!(frame["method"].is_string(), "an answer to nothing: {frame}");
        }
    }

    /// The code and reason with which the relay closes.
    pub async fn closed(&mut self) -> (u16, String) {
        let frame = self.frame().await;
        let Message::Close(Some(close)) = frame else { panic!("expected a close, got {frame:?}") };
        (close.code.into(), close.reason.to_string())
    }

    async fn frame(&mut self) -> Message {
        timeout(PATIENCE, self.0.next())
            .await
            .expect("the relay answers")
            .expect("the socket is open")
            .expect("the frame is well-formed")
    }
}
