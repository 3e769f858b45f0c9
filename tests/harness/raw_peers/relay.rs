//! A relay that says exactly what a test says: for what released relays send and ours does not.

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use warp::Filter;
use warp::ws::{Message, WebSocket};

use crate::machine::TIMEOUT;

/// Serves one extension until it is dropped.
#[derive(Debug)]
pub struct RawRelay {
    to_extension: mpsc::UnboundedSender<Value>,
    from_extension: mpsc::UnboundedReceiver<Value>,
    last_id: i64,
    /// The latest message of the extension, for the error when no further one comes.
    last: Value,
    serving: JoinHandle<()>,
}

impl RawRelay {
    pub(crate) async fn start(port: u16) -> Self {
        let (to_extension, outgoing) = mpsc::unbounded_channel();
        let (incoming, from_extension) = mpsc::unbounded_channel();
        let outgoing = Arc::new(Mutex::new(outgoing));
        let probe = warp::path::end().map(|| "OK");
        let socket = warp::path!("extension").and(warp::ws()).map(move |ws: warp::ws::Ws| {
            let (incoming, outgoing) = (incoming.clone(), Arc::clone(&outgoing));
            ws.on_upgrade(move |socket| serve(socket, incoming, outgoing))
        });
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = TcpListener::bind(address).await.expect("the port is free");
        let serving = tokio::spawn(warp::serve(probe.or(socket)).incoming(listener).run());
        Self { to_extension, from_extension, last_id: 0, last: Value::Null, serving }
    }

    /// Sends a message.
    pub fn send(&self, message: Value) {
        self.to_extension.send(message).expect("the relay runs");
    }

    /// The next message of the extension.
    pub async fn next(&mut self) -> Value {
        let Ok(message) = timeout(TIMEOUT, self.from_extension.recv()).await else {
            panic!("waited in vain for the extension; its last message was {}", self.last);
        };
        self.last = message.expect("the relay runs");
        self.last.clone()
    }

    /// Skips what comes before a message that is as wanted, and gives that.
    pub async fn next_that(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if wanted(&message) {
                return message;
            }
        }
    }

    /// Sends a request and gives what came before its reply, and the reply.
    pub async fn request(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({ "id": id, "method": method, "params": params }));
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// Works like [`RawRelay::request`], for a CDP command.
    pub async fn command(&mut self, command: Value) -> (Vec<Value>, Value) {
        self.request("forwardCDPCommand", command).await
    }
}

impl Drop for RawRelay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    socket: WebSocket,
    incoming: mpsc::UnboundedSender<Value>,
    outgoing: Arc<Mutex<mpsc::UnboundedReceiver<Value>>>,
) {
    let (mut sink, mut stream) = socket.split();
    let reading = async {
        while let Some(Ok(message)) = stream.next().await {
            let parsed = message.to_str().ok().and_then(|text| serde_json::from_str(text).ok());
            // The test may have seen enough.
            drop(parsed.map(|message| incoming.send(message)));
        }
    };
    let writing = async {
        let mut outgoing = outgoing.lock().await;
        while let Some(message) = outgoing.recv().await {
            if sink.send(Message::text(message.to_string())).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = writing => {}
    }
}
