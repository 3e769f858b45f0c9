//! One peer's queue of frames: a single order, and a limit in bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{mpsc, watch};

use crate::cdp::Frame;
use crate::payload::{Payload, RelayMessage};
use shared_protocol::CloseCode;

/// Two of the largest messages. A peer that lets more pile up does not read.
pub(crate) const LIMIT: usize = 512 * 1024 * 1024;

/// What a frame weighs beyond its payload.
const ENVELOPE: usize = 256;

/// Something to write to a socket.
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

/// The end that the event loop holds. When it is dropped, the socket ends soon, whatever is queued.
#[derive(Debug)]
pub(crate) struct Outbox {
    sender: mpsc::UnboundedSender<Outgoing>,
    queued: Arc<AtomicUsize>,
    limit: usize,
    dismiss: watch::Sender<bool>,
}

/// The end that the socket holds.
#[derive(Debug)]
pub(crate) struct Pending {
    receiver: mpsc::UnboundedReceiver<Outgoing>,
    queued: Arc<AtomicUsize>,
    dismissed: watch::Receiver<bool>,
}

/// The peer does not read what it is sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

pub(crate) fn outbox(limit: usize) -> (Outbox, Pending) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let queued = Arc::new(AtomicUsize::new(0));
    let (dismiss, dismissed) = watch::channel(false);
    let outbox = Outbox { sender, queued: Arc::clone(&queued), limit, dismiss };
    (outbox, Pending { receiver, queued, dismissed })
}

impl Outbox {
    pub(crate) fn push(&self, outgoing: Outgoing) -> Result<(), Full> {
        let weight = outgoing.weight();
        if self.queued.fetch_add(weight, Ordering::Relaxed) + weight > self.limit {
            return Err(Full);
        }
        if matches!(outgoing, Outgoing::Close { .. }) {
            self.dismiss.send_replace(true);
        }
        // A socket that has ended reports so itself; what is still sent to it is lost rightly.
        drop(self.sender.send(outgoing));
        Ok(())
    }
}

impl Outbox {
    /// Ends a peer that does not read, whatever is queued for it.
    pub(crate) fn cut_off(&self, code: CloseCode, reason: &str) {
        self.dismiss.send_replace(true);
        // It may have ended by itself in this very moment.
        drop(self.sender.send(Outgoing::Close { code, reason: reason.to_owned() }));
    }
}

impl Pending {
    /// Completes when the event loop has closed the peer, or dropped its end.
    pub(crate) fn dismissed(&self) -> impl Future<Output = ()> + use<> {
        let mut dismissed = self.dismissed.clone();
        async move {
            // An error says that the other end has been dropped.
            drop(dismissed.wait_for(|dismissed| *dismissed).await);
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

    fn taken(&self, outgoing: &Outgoing) {
        self.queued.fetch_sub(outgoing.weight(), Ordering::Relaxed);
    }
}

impl Outgoing {
    fn weight(&self) -> usize {
        let payload = match self {
            Self::ToClient(Frame::Reply { outcome: Ok(payload), .. }) => Some(payload),
            Self::ToClient(Frame::Event { params, .. }) => params.as_ref(),
            Self::ToExtension(RelayMessage::Command { command, .. }) => command.params.as_ref(),
            Self::ToClient(Frame::Reply { outcome: Err(_), .. } | Frame::Malformed(_))
            | Self::ToExtension(
                RelayMessage::CreateInitialTab { .. }
                | RelayMessage::Ping
                | RelayMessage::SetWindowMode(_)
                | RelayMessage::GetWindow { .. }
                | RelayMessage::SetWindow { .. }
                | RelayMessage::ActivateTab { .. }
                | RelayMessage::SetPermissions { .. }
                | RelayMessage::FindDownload { .. }
                | RelayMessage::CancelDownload { .. }
                | RelayMessage::Recording { .. }
                | RelayMessage::UpdateTabGroup { .. }
                | RelayMessage::Unknown { .. },
            )
            | Self::Close { .. } => None,
        };
        payload.map(Payload::as_str).map_or(0, str::len) + ENVELOPE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_the_order_in_which_they_came() {
        let (outbox, mut pending) = outbox(LIMIT);
        for name in ["A.a", "A.b", "A.c"] {
            outbox.push(event(name, 1)).unwrap();
        }
        let mut seen = Vec::new();
        while let Some(Outgoing::ToClient(Frame::Event { method, .. })) = pending.next_ready() {
            seen.push(method);
        }
        assert_eq!(seen, ["A.a", "A.b", "A.c"]);
    }

    #[test]
    fn a_peer_that_does_not_read_is_full_at_the_limit() {
        let (outbox, _pending) = outbox(3000);
        outbox.push(event("A.a", 2000)).unwrap();
        assert_eq!(outbox.push(event("A.b", 2000)), Err(Full));
    }

    #[test]
    fn a_peer_that_reads_never_fills_up() {
        let (outbox, mut pending) = outbox(3000);
        for _ in 0..10 {
            outbox.push(event("A.a", 2000)).unwrap();
            assert!(pending.next_ready().is_some());
        }
    }

    fn event(method: &str, text: usize) -> Outgoing {
        let params = Some(Payload::of(&"x".repeat(text)));
        Outgoing::ToClient(Frame::Event { session: None, method: method.to_owned(), params })
    }
}
