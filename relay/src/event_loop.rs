//! The one task that owns the relay: inputs in, effects performed, in order.
//!
//! Everything else reaches the relay through a handle: sockets, HTTP routes and agents send it inputs
//! and query its state. Here are the loop, that handle, the sockets and their outboxes. Who may
//! connect, and which HTTP path leads where, is decided in `server/`.

pub(crate) mod copies;
pub(crate) mod handle;
pub(crate) mod internal_client;
pub(crate) mod observers;
pub(crate) mod outbox;
pub(crate) mod socket;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use shared_protocol::{CloseCode, LogLevel};
use tokio::sync::mpsc;

use crate::log::{Traffic, line};
use crate::trust::Token;
use handle::{LoopEvent, Peer};
use observers::Publisher;
use outbox::{Full, LIMIT_FOR_ALL, Outbox, Outgoing};
use relay_core::payload::{ExtensionMessage, RelayMessage};
use relay_core::{Effect, Input, MAX_CLIENTS, Relay};

/// The one loop that owns the relay, and the one that looks at the clock for it.
#[expect(clippy::disallowed_methods, reason = "this is where the time comes from")]
pub(crate) async fn run(
    mut relay: Relay,
    events: &mut mpsc::Receiver<LoopEvent>,
    inbox: mpsc::WeakSender<LoopEvent>,
    mut publisher: Publisher,
    mut traffic: Option<Traffic>,
    token: Option<Token>,
    own_folders: Arc<[PathBuf]>,
) {
    let limit_for_all = LIMIT_FOR_ALL;
    let mut outboxes = Outboxes { of: BTreeMap::new(), limit_for_all, own_folders };
    loop {
        let event = tokio::select! {
            event = events.recv() => match event {
                Some(event) => event,
                None => return,
            },
            () = passed(relay.next_deadline()) => LoopEvent::Input(Input::DeadlinePassed),
        };
        let input = match event {
            LoopEvent::Opened { peer, outbox, input } => {
                outboxes.of.insert(peer, outbox);
                input
            }
            LoopEvent::Input(input) => for_people(input, token.as_ref()),
            LoopEvent::Query(look) => {
                look(&relay);
                continue;
            }
        };
        if let Some(peer) = Peer::disconnected_by(&input) {
            outboxes.part_with(peer);
        }
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let cause = traffic.as_mut().map(|traffic| traffic.note_input(&input));
            for effect in relay.handle(input, Instant::now()) {
                if let (Some(traffic), Some(cause)) = (&mut traffic, cause) {
                    traffic.note_effect(&effect, cause);
                }
                inputs.extend(outboxes.perform(effect, &inbox));
            }
        }
        publisher.publish(&relay);
    }
}

/// Prepares an extension's message for the log: it may be long, and may hold what no log may show.
fn for_people(mut input: Input, token: Option<&Token>) -> Input {
    if let Input::ExtensionSent { message, .. } = &mut input {
        if let ExtensionMessage::Log(said) = message {
            said.args = vec![line(&said.args.join(" "), token)];
        }
        if let ExtensionMessage::ParseFailure(failure) = message {
            failure.message = line(&failure.message, token);
        }
    }
    input
}

/// Completes at the instant; without one, never.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

#[derive(Debug)]
struct Outboxes {
    of: BTreeMap<Peer, Outbox>,
    /// The number of bytes that may wait for all clients together.
    limit_for_all: usize,
    /// The folders of the relay's own files, which are copied for nobody.
    own_folders: Arc<[PathBuf]>,
}

impl Outboxes {
    /// The peer can no longer be read. If it still reads, it hears that the relay is there.
    fn part_with(&mut self, peer: Peer) {
        if let Some(mut outbox) = self.of.remove(&peer) {
            let reason = "the connection failed; a message may have 256 MiB".to_owned();
            // The queue may be full; the peer is then told nothing.
            drop(outbox.push(Outgoing::Close { code: CloseCode::ConnectionFailed, reason }));
        }
    }

    /// Performs one effect. A client that does not read is dropped, and a command for which an
    /// extension has no room is refused; both are inputs of their own.
    fn perform(&mut self, effect: Effect, inbox: &mpsc::WeakSender<LoopEvent>) -> Option<Input> {
        let (peer, outgoing) = match effect {
            Effect::SendToClient { client, frame } => {
                (Peer::Client(client), Outgoing::ToClient(frame))
            }
            Effect::SendToExtension { connection, message } => {
                (Peer::Extension(connection), Outgoing::ToExtension(message))
            }
            Effect::CloseClient { client, code, reason } => {
                (Peer::Client(client), Outgoing::Close { code, reason })
            }
            Effect::CloseExtension { connection, code, reason } => {
                (Peer::Extension(connection), Outgoing::Close { code, reason })
            }
            Effect::CopyDownload { connection, guid, from, to } => {
                let (inbox, own) = (inbox.clone(), Arc::clone(&self.own_folders));
                tokio::spawn(async move {
                    let copying =
                        tokio::task::spawn_blocking(move || copies::copy(&from, &to, &own));
                    let outcome =
                        copying.await.unwrap_or_else(|error| Err(format!("copying: {error}")));
                    let copied = Input::DownloadCopied { connection, guid, outcome };
                    if let Some(inbox) = inbox.upgrade() {
                        // The relay may be closing.
                        drop(inbox.send(LoopEvent::Input(copied)).await);
                    }
                });
                return None;
            }
            Effect::Log { level, text } => {
                write_log(level, &text);
                return None;
            }
        };
        let refused = match (peer, &outgoing) {
            (
                Peer::Extension(connection),
                Outgoing::ToExtension(
                    RelayMessage::Command { id, .. } | RelayMessage::CallCookies { id, .. },
                ),
            ) => Some(Input::CommandRefused { connection, id: *id }),
            _ => None,
        };
        let outbox = self.of.get_mut(&peer)?;
        match outbox.push(outgoing) {
            // If each client's queue holds only an equal share, the limit for all is kept.
            Ok(()) if outbox.queued() > self.limit_for_all / MAX_CLIENTS => self.make_room(),
            Ok(()) => None,
            Err(Full) if refused.is_some() => refused,
            Err(Full) => Some(self.let_go(peer, "too much is waiting to be read")),
        }
    }

    /// Lets the client go for which most is waiting, if too much is waiting for all together.
    fn make_room(&mut self) -> Option<Input> {
        let queues = self.of.iter().filter(|(peer, _)| matches!(peer, Peer::Client(_)));
        let queues: Vec<(usize, Peer)> = queues.map(|(peer, it)| (it.queued(), *peer)).collect();
        if queues.iter().map(|(queued, _)| queued).sum::<usize>() <= self.limit_for_all {
            return None;
        }
        let (_, peer) = queues.into_iter().max()?;
        Some(self.let_go(peer, "too much is waiting to be read by all clients together"))
    }

    fn let_go(&mut self, peer: Peer, reason: &str) -> Input {
        if let Some(outbox) = self.of.remove(&peer) {
            outbox.cut_off(CloseCode::ClientTooSlow, reason);
        }
        peer.disconnected()
    }
}

fn write_log(level: LogLevel, text: &str) {
    match level {
        LogLevel::Debug | LogLevel::Log => tracing::debug!("{text}"),
        LogLevel::Info => tracing::info!("{text}"),
        LogLevel::Warn => tracing::warn!("{text}"),
        LogLevel::Error => tracing::error!("{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::outbox::outbox;
    use super::outbox::tests::event;
    use super::*;
    use relay_core::ClientId;

    #[test]
    fn when_too_much_waits_for_all_the_longest_queue_goes_and_the_others_stay() {
        let clients = [1, 2, 3].map(ClientId);
        let (boxes, _pending): (Vec<_>, Vec<_>) =
            clients.iter().map(|_| outbox(usize::MAX)).unzip();
        let of = clients.iter().map(|client| Peer::Client(*client)).zip(boxes).collect();
        let mut outboxes = Outboxes { of, limit_for_all: 10_000, own_folders: Arc::new([]) };
        let (inbox, _events) = mpsc::channel(1);
        let mut send = |client: ClientId, bytes| {
            let Outgoing::ToClient(frame) = event("A.a", bytes) else { panic!("it is a frame") };
            outboxes.perform(Effect::SendToClient { client, frame }, &inbox.downgrade())
        };
        for (client, bytes) in [(clients[0], 2000), (clients[1], 5000), (clients[2], 1000)] {
            assert_eq!(send(client, bytes), None);
        }
        // The one whose message is too much is not the one that reads least.
        let gone = Some(Input::ClientDisconnected { client: clients[1] });
        assert_eq!(send(clients[0], 2000), gone);
        assert_eq!(send(clients[0], 2000), None);
        assert_eq!(send(clients[2], 1000), None);
    }
}
