//! The queue of frames for one peer: a single order, and a limit in bytes.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{mpsc, watch};

use relay_core::cdp::Frame;
use relay_core::payload::RelayMessage;
use shared_protocol::CloseCode;

/// The number of bytes that may wait for a client beside the largest message, which passes whatever
/// its size. Chrome's own `DevTools` socket holds as much. A client that reads nothing at all is
/// disconnected sooner, by a time limit.
pub(crate) const LIMIT: usize = 256 * 1024 * 1024;

/// The number of bytes that may wait for all clients together. Beyond that, the client with the
/// longest queue is disconnected.
pub(crate) const LIMIT_FOR_ALL: usize = 1024 * 1024 * 1024;

/// The same limit as [`LIMIT`], for an extension: all clients write to it, and a few large bodies at
/// once are no reason to lose a browser. Each command beyond the limit is refused.
pub(crate) const EXTENSION_LIMIT: usize = 512 * 1024 * 1024;

/// The size of a frame beyond its payload.
const ENVELOPE: usize = 256;

/// A frame or a close, to be written to a socket.
#[derive(Debug)]
pub(crate) enum Outgoing {
    ToClient(Frame),
    ToExtension(RelayMessage),
    /// The last one.
    Close {
        code: CloseCode,
        reason: String,
    },
}

/// The way in which the event loop has parted with a peer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Parting {
    #[default]
    NotYet,
    /// The peer gets its queue, with a close at the end.
    AfterTheQueue,
    /// The peer does not read: its queue is dropped.
    AtOnce { code: CloseCode, reason: String },
}

/// The end that the event loop holds. When it is dropped, the socket ends soon, whatever is queued.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: mpsc::UnboundedSender<Outgoing>,
    queued: Arc<AtomicUsize>,
    /// The largest message since nothing was queued.
    largest: usize,
    limit: usize,
    parting: watch::Sender<Parting>,
}

/// The end that the socket holds.
#[derive(Debug)]
pub(crate) struct Pending {
    receiver: mpsc::UnboundedReceiver<Outgoing>,
    queued: Arc<AtomicUsize>,
    parting: watch::Receiver<Parting>,
}

/// The peer does not read, so its queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

pub(crate) fn outbox(limit: usize) -> (Outbox, Pending) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let queued = Arc::new(AtomicUsize::new(0));
    let (parting, parted) = watch::channel(Parting::default());
    let outbox = Outbox { sender, queued: Arc::clone(&queued), largest: 0, limit, parting };
    (outbox, Pending { receiver, queued, parting: parted })
}

impl Outbox {
    pub(crate) fn push(&mut self, outgoing: Outgoing) -> Result<(), Full> {
        let weight = outgoing.weight();
        let before = self.queued.load(Ordering::Relaxed);
        if before == 0 {
            self.largest = 0;
        }
        let largest = self.largest.max(weight);
        if (before + weight).saturating_sub(largest) > self.limit {
            return Err(Full);
        }
        self.largest = largest;
        self.queued.fetch_add(weight, Ordering::Relaxed);
        if matches!(outgoing, Outgoing::Close { .. }) {
            self.parting.send_replace(Parting::AfterTheQueue);
        }
        // A socket that has ended reports so itself; what is still sent to it is lost rightly.
        drop(self.sender.send(outgoing));
        Ok(())
    }

    /// Returns the number of bytes that wait.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Ends a peer that does not read, whatever is queued for it.
    pub(crate) fn cut_off(&self, code: CloseCode, reason: &str) {
        self.parting.send_replace(Parting::AtOnce { code, reason: reason.to_owned() });
    }
}

impl Pending {
    /// Completes when the event loop has parted with the peer, or dropped its end.
    pub(crate) fn parted(&self) -> impl Future<Output = Parting> + use<> {
        let mut parting = self.parting.clone();
        async move {
            let parted = parting.wait_for(|parting| *parting != Parting::NotYet).await;
            // An error says that the other end has been dropped.
            parted.map_or(Parting::AfterTheQueue, |parting| parting.clone())
        }
    }

    /// The next frame, or `None` when the event loop has dropped its end.
    pub(crate) async fn next(&mut self) -> Option<Outgoing> {
        self.receiver.recv().await.inspect(|outgoing| self.taken(outgoing))
    }

    /// The next frame if there is one already.
    pub(crate) fn next_ready(&mut self) -> Option<Outgoing> {
        self.receiver.try_recv().ok().inspect(|outgoing| self.taken(outgoing))
    }

    /// Returns the number of bytes that wait.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    fn taken(&self, outgoing: &Outgoing) {
        self.queued.fetch_sub(outgoing.weight(), Ordering::Relaxed);
    }
}

impl Outgoing {
    pub(crate) fn weight(&self) -> usize {
        let payloads = match self {
            Self::ToClient(Frame::Reply { outcome: Ok(payload), .. }) => slice::from_ref(payload),
            Self::ToClient(Frame::Event { params, .. }) => params.as_slice(),
            Self::ToExtension(RelayMessage::Command { command, .. }) => command.params.as_slice(),
            Self::ToExtension(RelayMessage::CallCookies { calls, .. }) => &calls.details,
            Self::ToClient(Frame::Reply { outcome: Err(_), .. } | Frame::Malformed(_))
            | Self::ToExtension(
                RelayMessage::CreateInitialTab { .. }
                | RelayMessage::Ping
                | RelayMessage::SetWindowMode(..)
                | RelayMessage::GetWindow { .. }
                | RelayMessage::SetWindow { .. }
                | RelayMessage::ActivateTab { .. }
                | RelayMessage::BlankTab { .. }
                | RelayMessage::CloseTab { .. }
                | RelayMessage::SetPermissions { .. }
                | RelayMessage::FindDownload { .. }
                | RelayMessage::CancelDownload { .. }
                | RelayMessage::SetNotice(..)
                | RelayMessage::Unknown { .. },
            )
            | Self::Close { .. } => &[],
        };
        payloads.iter().map(|payload| payload.as_str().len()).sum::<usize>() + ENVELOPE
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use relay_core::payload::Payload;

    #[test]
    fn frames_leave_in_the_order_in_which_they_came() {
        let (mut outbox, mut pending) = outbox(LIMIT);
        for name in ["A.a", "A.b", "A.c"] {
            outbox.push(event(name, 1)).unwrap();
        }
        let mut status_feed = Vec::new();
        while let Some(Outgoing::ToClient(Frame::Event { method, .. })) = pending.next_ready() {
            status_feed.push(method);
        }
        assert_eq!(status_feed, ["A.a", "A.b", "A.c"]);
    }

    #[test]
    fn a_peer_that_does_not_read_is_full_at_the_limit() {
        let (mut outbox, _pending) = outbox(3000);
        outbox.push(event("A.a", 2000)).unwrap();
        outbox.push(event("A.b", 2000)).unwrap();
        assert_eq!(outbox.push(event("A.c", 2000)), Err(Full));
    }

    #[test]
    fn one_message_of_any_size_passes_and_small_ones_beside_it() {
        let (mut outbox, mut pending) = outbox(3000);
        outbox.push(event("A.a", 1000)).unwrap();
        outbox.push(event("A.large", 1_000_000)).unwrap();
        outbox.push(event("A.b", 1000)).unwrap();
        assert_eq!(outbox.push(event("A.large", 1_000_000)), Err(Full));
        while pending.next_ready().is_some() {}
    }

    #[test]
    fn what_a_large_message_was_allowed_ends_with_it() {
        let (mut outbox, mut pending) = outbox(3000);
        outbox.push(event("A.large", 1_000_000)).unwrap();
        assert!(pending.next_ready().is_some());
        let full = (0..10).find_map(|_| outbox.push(event("A.a", 1000)).err());
        assert_eq!(full, Some(Full));
    }

    #[test]
    fn a_peer_that_reads_never_fills_up() {
        let (mut outbox, mut pending) = outbox(3000);
        for _ in 0..10 {
            outbox.push(event("A.a", 2000)).unwrap();
            assert!(pending.next_ready().is_some());
        }
        assert_eq!(pending.queued(), 0);
    }

    pub(crate) fn event(method: &str, text: usize) -> Outgoing {
        let params = Some(Payload::of(&"x".repeat(text)));
        Outgoing::ToClient(Frame::Event { session: None, method: method.to_owned(), params })
    }
}
