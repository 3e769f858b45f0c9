//! One WebSocket: text frames come in as inputs, an outbox goes out.

use std::borrow::Cow;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use shared_protocol::CloseCode;
use tokio::time::timeout;
use warp::ws::{Message, WebSocket};

use super::handle::{LoopEvent, Peer, RelayHandle};
use super::outbox::{EXTENSION_LIMIT, LIMIT, Outgoing, Parting, Pending, outbox};
use relay_core::Input;
use relay_core::cdp::Command;
use relay_core::payload::ExtensionMessage;

/// The largest message either way. Clients accept about as much.
pub(crate) const MAX_MESSAGE: usize = 256 * 1024 * 1024;

/// The largest message of agents' code, whose connections are many.
pub(crate) const MAX_CONFINED_MESSAGE: usize = 64 * 1024 * 1024;

/// The largest message of an extension that has not proven itself, before it has told of a tab.
const MAX_UNPROVEN_MESSAGE: usize = 64 * 1024 * 1024;

/// The time that a peer may take to read the rest and answer a close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The same time as [`CLOSE_TIMEOUT`], for a peer that was not reading, and should learn why it was
/// closed.
const CLOSE_TIMEOUT_UNREAD: Duration = Duration::from_secs(30);

/// The time for which a peer may read nothing while much is queued for it: by itself, and for each
/// byte of a message in flight.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
const STALL_TIMEOUT_PER_BYTE: Duration = Duration::from_micros(1);

/// The number of bytes that may wait without a time limit.
const LITTLE: usize = 8 * 1024 * 1024;

/// WebSocket close reasons are limited to 123 bytes.
const MAX_REASON: usize = 123;

/// Serves one socket until either side ends it.
pub(crate) async fn run(socket: WebSocket, handle: RelayHandle, peer: Peer, connected: Input) {
    let (outbox, pending) = outbox(match peer {
        Peer::Client(_) => LIMIT,
        Peer::Extension(_) => EXTENSION_LIMIT,
    });
    let is_proven = !matches!(connected, Input::ExtensionConnected { proven: false, .. });
    if handle.send(LoopEvent::Opened { peer, outbox, input: connected }).await.is_err() {
        return;
    }
    let (sink, stream) = socket.split();
    let parted = pending.parted();
    let largest = if is_proven { MAX_MESSAGE } else { MAX_UNPROVEN_MESSAGE };
    let reading = read(stream, &handle, peer, largest);
    let writing = write(sink, pending, &handle, peer);
    // A peer that is dismissed reads what is left for it and answers the close, or is dropped.
    let overdue = async {
        let patience = match parted.await {
            Parting::NotYet | Parting::AfterTheQueue => CLOSE_TIMEOUT,
            Parting::AtOnce { .. } => CLOSE_TIMEOUT_UNREAD,
        };
        tokio::time::sleep(patience).await;
    };
    tokio::select! {
        () = async { tokio::join!(reading, writing); } => {}
        () = overdue => tracing::debug!(?peer, "did not answer the close"),
    }
    // The reading may have been cut off before it could say so.
    drop(handle.send(LoopEvent::Input(peer.disconnected())).await);
}

async fn read(
    mut stream: SplitStream<WebSocket>,
    handle: &RelayHandle,
    peer: Peer,
    mut largest: usize,
) {
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
        if text.len() > largest {
            tracing::warn!(?peer, "dropped an extension without tabs that sent too much");
            break;
        }
        let input = match peer {
            Peer::Client(client) => match Command::parse(text) {
                Ok(command) => Input::ClientSent { client, command },
                Err(error) => Input::ClientSentGarbage { client, error },
            },
            Peer::Extension(connection) => match serde_json::from_str::<ExtensionMessage>(text) {
                Ok(message) => {
                    if tells_of_tab(&message) {
                        largest = MAX_MESSAGE;
                    }
                    Input::ExtensionSent { connection, message }
                }
                Err(error) => {
                    tracing::warn!(%connection, %error, "ignored a message from the extension");
                    continue;
                }
            },
        };
        if handle.send(LoopEvent::Input(input)).await.is_err() {
            return;
        }
    }
    // The event loop drops the outbox, which ends the writing; it may have ended before us.
    drop(handle.send(LoopEvent::Input(peer.disconnected())).await);
}

fn tells_of_tab(message: &ExtensionMessage) -> bool {
    let ExtensionMessage::Event(event) = message else { return false };
    event.method == "Target.attachedToTarget"
}

/// Writes until the event loop parts with the peer, or the peer stops reading, and says why.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut pending: Pending,
    handle: &RelayHandle,
    peer: Peer,
) {
    let parted = pending.parted();
    let cut_off = async {
        match parted.await {
            Parting::AtOnce { code, reason } => Ending::Dismissed { code: code.number(), reason },
            Parting::NotYet | Parting::AfterTheQueue => std::future::pending().await,
        }
    };
    // Dropping a write between two frames loses nothing that the peer could still make sense of.
    let ending = tokio::select! {
        biased;
        ending = cut_off => ending,
        ending = write_queue(&mut sink, &mut pending) => ending,
    };
    // Frees what is queued, which may be much.
    drop(pending);
    let (code, reason) = match ending {
        // Frames that the peer has sent by now still count: an extension may be answering.
        Ending::Dismissed { code, reason } => (code, reason),
        Ending::Stalled { reason } => {
            // The event loop may have ended.
            drop(handle.send(LoopEvent::Input(peer.disconnected())).await);
            (CloseCode::ClientTooSlow.number(), reason)
        }
        Ending::Failed => return,
    };
    if code == CloseCode::ClientTooSlow.number() {
        tracing::warn!(?peer, "dropped a peer that does not read: {reason}");
    }
    let reason = Cow::Owned(shortened(&reason).to_owned());
    // The peer may have gone already.
    drop(sink.send(Message::close_with(code, reason)).await);
}

/// The reason why nothing more is written.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// The event loop has parted with the peer.
    Dismissed { code: u16, reason: String },
    /// The peer does not read.
    Stalled { reason: String },
    /// The socket has failed.
    Failed,
}

/// Writes what is queued, in order, flushing whenever nothing is.
async fn write_queue(sink: &mut SplitSink<WebSocket, Message>, pending: &mut Pending) -> Ending {
    while let Some(first) = pending.next().await {
        let mut next = Some(first);
        let mut in_flight = 0;
        while let Some(outgoing) = next {
            let weight = outgoing.weight();
            let message = match &outgoing {
                Outgoing::ToClient(frame) => text(frame),
                Outgoing::ToExtension(message) => text(message),
                Outgoing::Close { code, reason } => {
                    return Ending::Dismissed { code: code.number(), reason: reason.clone() };
                }
            };
            drop(outgoing);
            // Taking a message means that the one before it has been written.
            if let Err(ending) = unless_stalled(sink.feed(message), in_flight, pending).await {
                return ending;
            }
            in_flight = weight;
            next = pending.next_ready();
        }
        if let Err(ending) = unless_stalled(sink.flush(), in_flight, pending).await {
            return ending;
        }
    }
    // 1001: going away; the peer may come back when we do.
    Ending::Dismissed { code: 1001, reason: "relay is shutting down".to_owned() }
}

/// Waits for a write as long as the peer reads, or little is queued behind it.
async fn unless_stalled(
    write: impl Future<Output = Result<(), warp::Error>>,
    in_flight: usize,
    pending: &Pending,
) -> Result<(), Ending> {
    let bytes = u32::try_from(in_flight).unwrap_or(u32::MAX);
    let patience = STALL_TIMEOUT + STALL_TIMEOUT_PER_BYTE * bytes;
    let mut write = std::pin::pin!(write);
    loop {
        match timeout(patience, &mut write).await {
            Ok(written) => return written.map_err(|_| Ending::Failed),
            Err(_) if pending.queued() > LITTLE => {
                let reason = format!("nothing was read for {} seconds", patience.as_secs());
                return Err(Ending::Stalled { reason });
            }
            Err(_) => {}
        }
    }
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
    use super::super::outbox::tests::event;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_nothing_is_let_go_when_much_waits_for_it() {
        let (mut outbox, pending) = outbox(LIMIT);
        let mut queue = |bytes| outbox.push(event("A.a", bytes)).unwrap();
        queue(LITTLE / 2);
        let never = || std::future::pending::<Result<(), warp::Error>>();
        let waiting = timeout(10 * STALL_TIMEOUT, unless_stalled(never(), 0, &pending)).await;
        assert!(waiting.is_err(), "it may take as long as it likes");
        queue(LITTLE);
        let start = tokio::time::Instant::now();
        let ending = unless_stalled(never(), 0, &pending).await.unwrap_err();
        assert_eq!(start.elapsed().as_secs(), STALL_TIMEOUT.as_secs());
        let reason = "nothing was read for 30 seconds".to_owned();
        assert_eq!(ending, Ending::Stalled { reason });
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(100)).len(), 122);
    }
}
