//! An extension with one tab, which answers every command with the command's own parameters.

use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use super::RawClient;
use crate::network::http_until;

const SESSION: &str = "pw-tab-1";

/// Runs until it is dropped.
#[derive(Debug)]
pub struct RawTab {
    events: mpsc::Sender<String>,
    serving: JoinHandle<()>,
}

#[derive(Deserialize)]
struct Request<'a> {
    id: Option<i64>,
    #[serde(borrow)]
    params: Option<Command<'a>>,
}

#[derive(Deserialize)]
struct Command<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl RawTab {
    /// The tab's target.
    pub const TARGET: &str = "T1";

    pub(crate) async fn start(port: u16) -> Self {
        let mut extension = RawClient::connect_as_extension(port, "browser=Chrome&v=0.7.0").await;
        extension.send(&Self::announced()).await;
        http_until(port, "GET /extension/status", |status| status["activeTargets"] == 1).await;
        let (events, queue) = mpsc::channel(64);
        Self { events, serving: tokio::spawn(serve(extension, queue)) }
    }

    /// Returns the message with which an extension tells of such a tab.
    #[must_use]
    pub fn announced() -> String {
        let info = json!({
            "targetId": Self::TARGET, "type": "page", "title": "a tab", "url": "http://a.example/",
            "attached": true, "canAccessOpener": false,
        });
        let attached =
            json!({ "sessionId": SESSION, "targetInfo": info, "waitingForDebugger": false });
        event(None, "Target.attachedToTarget", attached)
    }

    /// Sends an event of the tab.
    pub async fn event(&self, method: &str, params: Value) {
        let event = event(Some(SESSION), method, params);
        self.events.send(event).await.expect("the relay reads");
    }
}

impl Drop for RawTab {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(extension: RawClient, mut queue: mpsc::Receiver<String>) {
    let (mut sink, mut stream) = extension.into_socket().split();
    loop {
        let text = tokio::select! {
            event = queue.recv() => match event {
                Some(event) => event,
                None => return,
            },
            message = stream.next() => match message {
                Some(Ok(Message::Text(text))) => match answer(&text) {
                    Some(answer) => answer,
                    None => continue,
                },
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => return,
            },
        };
        if sink.send(Message::text(text)).await.is_err() {
            return;
        }
    }
}

fn answer(text: &str) -> Option<String> {
    let request: Request<'_> = serde_json::from_str(text).ok()?;
    let params = request.params.and_then(|command| command.params).map_or("{}", RawValue::get);
    Some(format!("{{\"id\":{},\"result\":{params}}}", request.id?))
}

fn event(session: Option<&str>, method: &str, params: Value) -> String {
    let mut event = json!({ "method": method, "params": params });
    if let Some(session) = session {
        event["sessionId"] = session.into();
    }
    json!({ "method": "forwardCDPEvent", "params": event }).to_string()
}
