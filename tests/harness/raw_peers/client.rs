//! A CDP client that sends exactly what a test says.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async, connect_async_with_config};

use crate::machine::{LONG_TIMEOUT, TIMEOUT};

/// A WebSocket to the relay.
#[derive(Debug)]
pub struct RawClient {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The latest frame, for the error when no further one comes.
    last: Option<Message>,
}

impl RawClient {
    /// Opens a socket.
    pub async fn connect(url: &str) -> Self {
        Self::connect_with(url, &[]).await.expect("the relay takes the socket")
    }

    pub(crate) async fn connect_as_extension(port: u16, query: &str) -> Self {
        Self::knock(port, query).await.expect("the relay takes the socket")
    }

    /// Opens a socket as an extension, or gives the status and the sentence with which the relay
    /// refuses it.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub async fn knock(port: u16, query: &str) -> Result<Self, (u16, String)> {
        let url = format!("ws://127.0.0.1:{port}/extension?{query}");
        let origin = format!("chrome-extension://{}", relay::EXTENSION_ID);
        Self::connect_with(&url, &[("origin", &origin)]).await
    }

    /// Works like [`RawClient::knock`], over a connection that somebody else has made.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub async fn knock_over(
        connection: std::net::TcpStream,
        query: &str,
    ) -> Result<Self, (u16, String)> {
        connection.set_nonblocking(true).expect("a socket can be waited for");
        let connection = TcpStream::from_std(connection).expect("it is a socket");
        let relay = connection.peer_addr().expect("it is connected");
        let url = format!("ws://{relay}/extension?{query}");
        let mut request = url.into_client_request().expect("the address is one");
        let origin = format!("chrome-extension://{}", relay::EXTENSION_ID);
        let origin = origin.parse().expect("the value fits into a header");
        request.headers_mut().insert("origin", origin);
        let opened = client_async(request, MaybeTlsStream::Plain(connection)).await;
        opened.map(|(socket, _)| Self { socket, last: None }).map_err(refusal)
    }

    /// Opens a socket, or gives the status and the sentence with which the relay refuses it.
    ///
    /// # Errors
    ///
    /// The refusal.
    pub async fn connect_with(
        url: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, (u16, String)> {
        let mut request = url.into_client_request().expect("the address is one");
        for (name, value) in headers {
            let value = value.parse().expect("the value fits into a header");
            request.headers_mut().insert(*name, value);
        }
        // The relay alone decides about the size of messages.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let opened = connect_async_with_config(request, Some(config), true).await;
        opened.map(|(socket, _)| Self { socket, last: None }).map_err(refusal)
    }

    pub(crate) fn into_socket(self) -> WebSocketStream<MaybeTlsStream<TcpStream>> {
        self.socket
    }

    /// Sends a text frame.
    pub async fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.expect("the relay reads");
    }

    /// Sends a text frame to a relay that may have closed the socket.
    pub async fn try_send(&mut self, text: &str) {
        drop(self.socket.send(Message::text(text)).await);
    }

    /// Waits for the next text frame, and returns it parsed.
    pub async fn next(&mut self) -> Value {
        parsed(&self.frame().await)
    }

    /// Waits for the next text frame, and returns it as it came.
    pub(crate) async fn next_text(&mut self) -> String {
        let frame =
            self.socket.next().await.expect("the socket is open").expect("it is well-formed");
        frame.into_text().expect("the relay sends text").to_string()
    }

    /// Waits for the next text frame, and returns it parsed.
    ///
    /// # Errors
    ///
    /// Waits until the relay closes, and returns its code and reason.
    pub async fn next_or_closed(&mut self) -> Result<Value, (u16, String)> {
        let frame = self.frame().await;
        if let Message::Close(Some(close)) = &frame {
            return Err((close.code.into(), close.reason.to_string()));
        }
        Ok(parsed(&frame))
    }

    /// Waits for the next text frame, and returns its length: for one that is too long to look at.
    pub async fn next_length(&mut self) -> usize {
        self.frame_within(LONG_TIMEOUT).await.len()
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

    /// Attaches to a target, and gives the session.
    pub async fn attach(&mut self, target: &str) -> String {
        let params = json!({ "targetId": target, "flatten": true });
        let command = json!({ "id": 1, "method": "Target.attachToTarget", "params": params });
        let answer = self.answer_to(1, &command.to_string()).await;
        answer["result"]["sessionId"].as_str().expect("there is such a target").to_owned()
    }

    /// The code and reason with which the relay closes.
    pub async fn closed(&mut self) -> (u16, String) {
        let frame = self.frame().await;
        let Message::Close(Some(close)) = frame else { panic!("expected a close, got {frame:?}") };
        (close.code.into(), close.reason.to_string())
    }

    /// Waits until the relay has gone, with or without a word.
    pub async fn ended(&mut self) {
        let ended = async { while let Some(Ok(_)) = self.socket.next().await {} };
        timeout(TIMEOUT, ended).await.expect("the relay goes");
    }

    async fn frame(&mut self) -> Message {
        self.frame_within(TIMEOUT).await
    }

    async fn frame_within(&mut self, limit: Duration) -> Message {
        let Ok(frame) = timeout(limit, self.socket.next()).await else {
            panic!("waited in vain for a frame; the last one was {}", self.last_text());
        };
        let Some(frame) = frame else {
            panic!("the socket is closed; the last frame was {}", self.last_text());
        };
        let frame = frame.expect("the frame is well-formed");
        self.last = Some(frame.clone());
        frame
    }

    /// Returns the beginning of the latest frame.
    fn last_text(&self) -> String {
        let text = self.last.as_ref().map(|frame| frame.to_text().unwrap_or("not text"));
        text.unwrap_or("none").chars().take(300).collect()
    }
}

/// Returns the status and the sentence with which a relay refuses a socket.
fn refusal(error: Error) -> (u16, String) {
    let Error::Http(answer) = error else { panic!("{error}") };
    let reason = answer.body().as_deref().map(String::from_utf8_lossy);
    (answer.status().as_u16(), reason.unwrap_or_default().into_owned())
}

fn parsed(frame: &Message) -> Value {
    let Message::Text(text) = frame else { panic!("expected text, got {frame:?}") };
    serde_json::from_str(text).expect("the relay sends JSON")
}
