//! What extensions say.

use std::time::Instant;

use shared_protocol::{
    AttachedToTarget, CdpEvent, DetachedFromTarget, ExtensionHello, Extra, LogLevel, Payload as _,
    RequestId, StableKey, WINDOW_MODE, WindowMode,
};

use super::announce::InfoEvent;
use super::extensions::Extension;
use super::reconnect::Inheritance;
use super::requests::Purpose;
use super::{ConnectionId, Effect, PING_INTERVAL, Relay, log};
use crate::cdp::{Error, Frame};
use crate::payload::{ExtensionMessage, Payload, RelayMessage};

impl Relay {
    pub(super) fn extension_connected(
        &mut self,
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let stable_key = hello
            .stable_key()
            .unwrap_or_else(|| StableKey::new(format!("connection:{connection}")));
        log(
            effects,
            LogLevel::Info,
            format!("extension {connection} connected as {}", {
                hello.version.as_deref().unwrap_or("an unknown version")
            }),
        );
        if hello.has_capability(WINDOW_MODE) {
            let separate_window = self.separate_window;
            let mode = WindowMode { separate_window, extra: Extra::default() };
            let message = RelayMessage::SetWindowMode(mode);
            effects.push(Effect::SendToExtension { connection, message });
        } else if self.separate_window {
            let text =
                format!("extension {connection} is too old for a separate window: update it");
            log(effects, LogLevel::Warn, text);
        }
        let Inheritance { targets, held, presence } =
            self.succeed(&stable_key, connection, now, effects);
        let next_ping = now + PING_INTERVAL;
        self.extensions.insert(
            connection,
            Extension { hello, stable_key, user_agent, targets, presence, held, next_ping },
        );
        self.revision += 1;
        self.is_back_if_nothing_is_missing(connection, now, effects);
    }

    pub(super) fn extension_sent(
        &mut self,
        connection: ConnectionId,
        message: ExtensionMessage,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        match message {
            ExtensionMessage::Reply { id, outcome } => {
                self.extension_replied(connection, id, outcome, effects);
            }
            ExtensionMessage::Event(event) => self.extension_event(connection, event, now, effects),
            ExtensionMessage::Ready => self.is_back(connection, now, effects),
            ExtensionMessage::Log(line) => {
                log(
                    effects,
                    line.level,
                    format!("extension {connection}: {}", line.args.join(" ")),
                );
            }
            ExtensionMessage::ParseFailure(failure) => log(
                effects,
                LogLevel::Error,
                format!("extension {connection} could not read a message: {}", failure.message),
            ),
            ExtensionMessage::Unknown { method, .. } => {
                log(
                    effects,
                    LogLevel::Warn,
                    format!("extension {connection} sent unknown {method}"),
                );
            }
            ExtensionMessage::Pong
            | ExtensionMessage::Hello(_)
            | ExtensionMessage::RecordingData(_)
            | ExtensionMessage::RecordingCancelled(_) => {}
        }
    }

    fn extension_replied(
        &mut self,
        connection: ConnectionId,
        id: RequestId,
        outcome: Result<Option<Payload>, String>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(request) = self.requests.answer(connection, id) else { return };
        let outcome = outcome
            .map(|result| result.unwrap_or_else(Payload::empty_object))
            .map_err(|text| Error::from_extension(&text));
        if let (Purpose::AutoAttach, Some(real)) = (request.purpose, &request.session) {
            self.replay_children(connection, &request.asker, real, effects);
        }
        effects.push(request.asker.reply(outcome));
    }

    fn extension_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let unreadable = |error| format!("extension {connection}: {}: {error}", event.method);
        match (event.method.as_str(), &event.params) {
            // No client depends on these two, and they flood.
            ("Network.dataReceived" | "Network.resourceChangedPriority", _) => {}
            ("Target.attachedToTarget", Some(params)) => {
                match (params.read::<AttachedToTarget<Payload>>(), event.session_id.as_ref()) {
                    (Ok(attached), None) => {
                        let session = attached.session_id.clone();
                        self.tab_attached(connection, attached, effects);
                        self.confirm(connection, &session, now, effects);
                    }
                    (Ok(attached), Some(parent)) => {
                        let session = attached.session_id.clone();
                        self.child_attached(connection, parent, attached, effects);
                        self.confirm(connection, &session, now, effects);
                    }
                    (Err(error), _) => log(effects, LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.targetInfoChanged", Some(params)) if event.session_id.is_none() => {
                match params.read::<InfoEvent>() {
                    Ok(changed) => self.info_changed(connection, changed, effects),
                    Err(error) => log(effects, LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.detachedFromTarget", Some(params)) => {
                match params.read::<DetachedFromTarget<Payload>>() {
                    Ok(detached) => self.detached(connection, &detached.session_id, effects),
                    Err(error) => log(effects, LogLevel::Error, unreadable(error)),
                }
            }
            _ => self.forward_event(connection, event, effects),
        }
    }

    /// Sends an event to every client session over the real one it came from.
    fn forward_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(real) = event.session_id else { return };
        if event.method == "Page.frameNavigated"
            && let Some(params) = &event.params
        {
            self.frame_navigated(connection, &real, params, effects);
        }
        for client in self.clients.of(connection) {
            let sessions = self.clients.get(client).map(|client| client.sessions.over(&real));
            for session in sessions.unwrap_or_default() {
                effects.push(Effect::SendToClient {
                    client,
                    frame: Frame::Event {
                        session: Some(session),
                        method: event.method.clone(),
                        params: event.params.clone(),
                    },
                });
            }
        }
    }
}
