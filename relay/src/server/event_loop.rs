//! The one task that owns the relay: events in, effects performed, in order.

use std::collections::BTreeMap;
use std::time::Instant;

use shared_protocol::{CloseCode, LogLevel};
use tokio::sync::mpsc;

use super::changes::Publisher;
use super::copies;
use super::events::{Event, Peer};
use super::outbox::{Full, Outbox, Outgoing};
use super::token::Token;
use crate::log::{Traffic, line};
use crate::payload::{ExtensionMessage, RelayMessage};
use crate::state::{Effect, Input, Relay};

/// The one loop that owns the relay, and the one that looks at the clock for it.
#[expect(clippy::disallowed_methods, reason = "this is where the time comes from")]
pub(crate) async fn run(
    mut relay: Relay,
    events: &mut mpsc::Receiver<Event>,
    inbox: mpsc::WeakSender<Event>,
    mut publisher: Publisher,
    mut traffic: Option<Traffic>,
    token: Option<Token>,
) {
    let mut outboxes = Outboxes::default();
    loop {
        let event = tokio::select! {
            event = events.recv() => match event {
                Some(event) => event,
                None => return,
            },
            () = passed(relay.next_deadline()) => Event::Input(Input::DeadlinePassed),
        };
        let input = match event {
            Event::Opened { peer, outbox, input } => {
                outboxes.0.insert(peer, outbox);
                input
            }
            Event::Input(input) => for_people(input, token.as_ref()),
            Event::View(look) => {
                look(&relay);
                continue;
            }
        };
        if let Some(peer) = Peer::that_left(&input) {
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

/// What an extension says for the log may be long, and may hold what no log may show.
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

#[derive(Debug, Default)]
struct Outboxes(BTreeMap<Peer, Outbox>);

impl Outboxes {
    /// The peer can no longer be read. If it still reads, it hears that the relay is there.
    fn part_with(&mut self, peer: Peer) {
        if let Some(mut outbox) = self.0.remove(&peer) {
            let reason = "the connection failed; a message may have 256 MiB".to_owned();
            // It may have no room, and then hears nothing.
            drop(outbox.push(Outgoing::Close { code: CloseCode::ConnectionFailed, reason }));
        }
    }

    /// Performs one effect. A client that does not read is dropped, and a command for which an
    /// extension has no room is refused; both are inputs of their own.
    fn perform(&mut self, effect: Effect, inbox: &mpsc::WeakSender<Event>) -> Option<Input> {
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
                let inbox = inbox.clone();
                tokio::spawn(async move {
                    let copying = tokio::task::spawn_blocking(move || copies::copy(&from, &to));
                    let outcome =
                        copying.await.unwrap_or_else(|error| Err(format!("copying: {error}")));
                    let copied = Input::DownloadCopied { connection, guid, outcome };
                    if let Some(inbox) = inbox.upgrade() {
                        // The relay may be closing.
                        drop(inbox.send(Event::Input(copied)).await);
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
        let outbox = self.0.get_mut(&peer)?;
        match outbox.push(outgoing) {
            Ok(()) => None,
            Err(Full) if refused.is_some() => refused,
            Err(Full) => {
                outbox.cut_off(CloseCode::ClientTooSlow, "too much is waiting to be read");
                self.0.remove(&peer);
                Some(peer.disconnected())
            }
        }
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
