//! Stands between an extension and the relay, and writes down what passes.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite;
use warp::Filter;
use warp::ws::{Message, WebSocket};

use super::line::Line;
use crate::network::http;
use crate::raw_peers::RawClient;

/// Serves until it is dropped.
#[derive(Debug)]
pub(super) struct Tap(JoinHandle<()>);

impl Tap {
    pub(super) async fn start(port: u16, relay: u16, heard: UnboundedSender<Line>) -> Self {
        let probe = warp::path::end().map(|| "OK");
        let hello = warp::path!("extension" / "hello")
            .then(move || async move { http(relay, "GET /extension/hello", &[]).await.body });
        let query = warp::query::raw().or(warp::any().map(String::new)).unify();
        let socket = warp::path!("extension").and(query).and(warp::ws()).map(
            move |query: String, ws: warp::ws::Ws| {
                let heard = heard.clone();
                ws.on_upgrade(move |socket| pass_on(socket, relay, query, heard))
            },
        );
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let listener = TcpListener::bind(address).await.expect("the port is free");
        Self(tokio::spawn(warp::serve(probe.or(hello).or(socket)).incoming(listener).run()))
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn pass_on(extension: WebSocket, port: u16, query: String, heard: UnboundedSender<Line>) {
    let relay = RawClient::connect_as_extension(port, &query).await.into_socket();
    let hear = |line| heard.send(line).expect("the recorder listens");
    hear(Line::Hello(query));
    let (mut to_relay, mut from_relay) = relay.split();
    let (mut to_extension, mut from_extension) = extension.split();
    loop {
        tokio::select! {
            message = from_extension.next() => {
                let Some(Ok(message)) = message else { return };
                let Ok(text) = message.to_str() else { continue };
                hear(Line::Extension(raw(text)));
                let message = tungstenite::Message::text(text);
                to_relay.send(message).await.expect("the relay reads");
            }
            message = from_relay.next() => {
                let Some(Ok(message)) = message else { return };
                let Ok(text) = message.to_text() else { continue };
                hear(Line::Relay(raw(text)));
                if to_extension.send(Message::text(text)).await.is_err() {
                    return;
                }
            }
        }
    }
}

pub(super) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("a message is JSON")
}
