//! One WebSocket: text frames in as inputs, an outbox out.

use std::borrow::Cow;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use warp::ws::{Message, WebSocket};

use super::events::{Event, Handle, Peer};
use super::outbox::{LIMIT, Outgoing, Pending, outbox};
use crate::cdp::Command;
use crate::payload::ExtensionMessage;
use crate::state::Input;

/// The largest message either way. Clients accept about as much.
pub(crate) const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// How long a peer may take to answer a close.
const CLOSING: Duration = Duration::from_secs(2);

/// WebSocket close reasons are limited to 123 bytes.
const MAX_REASON: usize = 123;

/// Serves one socket until either side ends it.
pub(crate) async fn run(socket: WebSocket, handle: Handle, peer: Peer, connected: Input) {
    let (outbox, pending) = outbox(LIMIT);
    if handle.tell(Event::Opened { peer, outbox, input: connected }).await.is_err() {
        return;
    }
    let (sink, stream) = socket.split();
    let dismissed = pending.dismissed();
    let reading = read(stream, &handle, peer);
    let writing = write(sink, pending);
    // A peer that is dismissed reads what is left for it and answers the close, or is cut off.
    let cut_off = async {
        dismissed.await;
        tokio::time::sleep(CLOSING).await;
    };
    tokio::select! {
        () = async { tokio::join!(reading, writing); } => {}
        () = cut_off => tracing::debug!(?peer, "did not answer the close"),
    }
    // The reading may have been cut off before it could say so.
    drop(handle.tell(Event::Input(peer.disconnected())).await);
}

async fn read(mut stream: SplitStream<WebSocket>, handle: &Handle, peer: Peer) {
    // After a close, one more turn sends the answer to it.
    while let Some(message) = stream.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                tracing::debug!(?peer, %error, "the socket failed");
                break;
            }
        };
        let Ok(text) = message.to_str() else { continue };
        let input = match peer {
            Peer::Client(client) => match Command::parse(text) {
                Ok(command) => Input::ClientSent { client, command },
                Err(error) => Input::ClientSentGarbage { client, error },
            },
            Peer::Extension(connection) => match serde_json::from_str::<ExtensionMessage>(text) {
                Ok(message) => Input::ExtensionSent { connection, message },
                Err(error) => {
                    tracing::warn!(%connection, %error, "ignored a message from the extension");
                    continue;
                }
            },
        };
        if handle.tell(Event::Input(input)).await.is_err() {
            return;
        }
    }
    // The event loop drops the outbox, which ends the writing; it may have ended before us.
    drop(handle.tell(Event::Input(peer.disconnected())).await);
}

/// Writes until the event loop closes or drops the peer, flushing whenever nothing is queued.
async fn write(mut sink: SplitSink<WebSocket, Message>, mut pending: Pending) {
    while let Some(first) = pending.next().await {
        let mut next = Some(first);
        while let Some(outgoing) = next {
            let message = match &outgoing {
                Outgoing::ToClient(frame) => text(frame),
                Outgoing::ToExtension(message) => text(message),
                Outgoing::Close { code, reason } => {
                    let reason = Cow::Owned(shortened(reason).to_owned());
                    // The peer may have gone already.
                    drop(sink.send(Message::close_with(code.number(), reason)).await);
                    return;
                }
            };
            if sink.feed(message).await.is_err() {
                return;
            }
            next = pending.next_ready();
        }
        if sink.flush().await.is_err() {
            return;
        }
    }
    // 1001: going away; the peer may come back when we do.
    drop(sink.send(Message::close_with(1001_u16, "relay is shutting down")).await);
}

fn text<T: Serialize>(value: &T) -> Message {
    // Frames and messages are objects with text keys, which always have a JSON form.
    Message::text(serde_json::to_string(value).unwrap_or_default())
}

fn shortened(reason: &str) -> &str {
    &reason[..reason.floor_char_boundary(MAX_REASON)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(100)).len(), 122);
    }
}
