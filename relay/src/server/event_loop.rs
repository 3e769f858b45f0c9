//! The one task that owns the relay: events in, effects performed, in order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use shared_protocol::http::PagesStatus;
use shared_protocol::{CloseCode, LogLevel};
use tokio::sync::{mpsc, watch};

use super::events::{Event, Peer};
use super::outbox::{Full, Outbox, Outgoing};
use crate::log::Traffic;
use crate::state::{Effect, Input, Relay};

/// The one loop that owns the relay, and the one that looks at the clock for it.
#[expect(clippy::disallowed_methods, reason = "this is where the time comes from")]
pub(crate) async fn run(
    mut relay: Relay,
    events: &mut mpsc::Receiver<Event>,
    inbox: mpsc::WeakSender<Event>,
    publish: watch::Sender<PagesStatus>,
    mut traffic: Option<Traffic>,
) {
    let mut outboxes = Outboxes::default();
    let mut published = relay.revision();
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
            Event::Input(input) => input,
            Event::View(look) => {
                look(&relay);
                continue;
            }
        };
        if let Some(peer) = Peer::that_left(&input) {
            outboxes.0.remove(&peer);
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
        if relay.revision() != published {
            published = relay.revision();
            publish.send_replace(relay.pages_status());
        }
    }
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
    /// Performs one effect. A peer that does not read is dropped, which is an input of its own.
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
                    let outcome = copy(&from, &to).await;
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
        let outbox = self.0.get_mut(&peer)?;
        match outbox.push(outgoing) {
            Ok(()) => None,
            Err(Full) => {
                outbox.cut_off(CloseCode::ClientTooSlow, "too much is waiting to be read");
                self.0.remove(&peer);
                Some(peer.disconnected())
            }
        }
    }
}

/// Copies a file that the browser has downloaded to where clients expect it.
async fn copy(from: &Path, to: &[PathBuf]) -> Result<(), String> {
    for to in to {
        let copied = tokio::fs::copy(from, to).await;
        copied.map_err(|error| format!("cannot copy it to {}: {error}", to.display()))?;
    }
    Ok(())
}

fn write_log(level: LogLevel, text: &str) {
    match level {
        LogLevel::Debug | LogLevel::Log => tracing::debug!("{text}"),
        LogLevel::Info => tracing::info!("{text}"),
        LogLevel::Warn => tracing::warn!("{text}"),
        LogLevel::Error => tracing::error!("{text}"),
    }
}
