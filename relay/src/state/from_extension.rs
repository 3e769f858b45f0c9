//! What extensions say.

use std::time::Instant;

use shared_protocol::{
    AttachedToTarget, CdpEvent, CloseCode, DetachedFromTarget, ExtensionHello, Extra, InitialTab,
    LogLevel, Payload as _, RequestId, StableKey, WINDOW_MODE, WindowMode,
};

use super::announce::InfoEvent;
use super::downloads::Downloads;
use super::extensions::Extension;
use super::reconnect::Inheritance;
use super::requests::{Purpose, Request};
use super::turn::Turn;
use super::{ConnectionId, Effect, MAX_EXTENSIONS, PING_INTERVAL, Relay};
use crate::cdp::Error;
use crate::payload::{ExtensionMessage, Payload, RelayMessage};

impl Relay {
    pub(super) fn extension_connected(
        &mut self,
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        turn: &mut Turn,
    ) {
        if self.extensions.iter().count() >= MAX_EXTENSIONS {
            let (code, reason) = (CloseCode::ExtensionInUse, "too many extensions".to_owned());
            return turn.effects.push(Effect::CloseExtension { connection, code, reason });
        }
        let stable_key = hello
            .stable_key()
            .unwrap_or_else(|| StableKey::new(format!("connection:{connection}")));
        let version = hello.version.as_deref().unwrap_or("an unknown version");
        turn.log(LogLevel::Info, format!("extension {connection} connected as {version}"));
        if hello.has_capability(WINDOW_MODE) {
            let separate_window = self.policy.separate_window;
            let mode = WindowMode { separate_window, extra: Extra::default() };
            turn.tell_extension(connection, RelayMessage::SetWindowMode(mode));
        } else if self.policy.separate_window {
            let text =
                format!("extension {connection} is too old for a separate window: update it");
            turn.log(LogLevel::Warn, text);
        }
        let Inheritance { targets, held, presence } = self.succeed(&stable_key, connection, turn);
        let next_ping: Instant = turn.now + PING_INTERVAL;
        let extension = Extension {
            hello,
            stable_key,
            user_agent,
            targets,
            downloads: Downloads::default(),
            may_lack_tab: false,
            opens_tab: false,
            presence,
            held,
            next_ping,
        };
        self.extensions.insert(connection, extension);
        self.revision += 1;
        if self.clients.all_of(connection).any(|client| !client.permissions.is_empty()) {
            self.apply_permissions(connection, None, turn);
        }
        self.is_back_if_nothing_is_missing(connection, turn);
    }

    pub(super) fn extension_sent(
        &mut self,
        connection: ConnectionId,
        message: ExtensionMessage,
        turn: &mut Turn,
    ) {
        match message {
            ExtensionMessage::Reply { id, outcome } => {
                self.extension_replied(connection, id, outcome, turn);
            }
            ExtensionMessage::Event(event) => self.extension_event(connection, event, turn),
            ExtensionMessage::Ready => self.is_back(connection, turn),
            ExtensionMessage::Log(line) => {
                turn.log(line.level, format!("extension {connection}: {}", line.args.join(" ")));
            }
            ExtensionMessage::ParseFailure(failure) => turn.log(
                LogLevel::Error,
                format!("extension {connection} could not read a message: {}", failure.message),
            ),
            ExtensionMessage::Unknown { method, .. } => {
                turn.log(LogLevel::Warn, format!("extension {connection} sent unknown {method}"));
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
        turn: &mut Turn,
    ) {
        let Some(request) = self.requests.answer(connection, id) else { return };
        let outcome = outcome
            .map(|result| result.unwrap_or_else(Payload::empty_object))
            .map_err(|text| Error::from_extension(&text));
        self.conclude(id, request, outcome, turn);
    }

    /// A request has its answer, from the extension or because none will come.
    pub(super) fn conclude(
        &mut self,
        id: RequestId,
        request: Request,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Request { connection, session, asker, purpose, .. } = request;
        match (purpose, session) {
            (Purpose::AutoAttach, _) => {
                if let Some(asker) = &asker {
                    self.announce_children(&asker.seat, turn);
                }
            }
            (Purpose::Enable(domain), Some(real)) => {
                self.enabled(connection, &real, &domain, &outcome, asker.as_ref(), turn);
            }
            (Purpose::AddScript, Some(real)) => {
                if let Ok(result) = &outcome {
                    self.script_added(connection, &real, asker.as_ref(), result, turn);
                }
            }
            (Purpose::RunsPage, Some(real)) => {
                if let Some(target) = self.target_mut(connection, &real) {
                    target.shared.last_run = target.shared.last_run.max(id);
                }
            }
            (Purpose::InitialTab, _) => return self.initial_tab_came(connection, outcome, turn),
            (Purpose::Cookies(question), _) => return self.cookies_came(question, outcome, turn),
            (Purpose::Window(step), _) => return self.window_answered(asker, step, outcome, turn),
            (Purpose::Download(search), _) => {
                return self.download_found(connection, asker, search, outcome, turn);
            }
            (Purpose::Forward | Purpose::CloseTarget, _)
            | (Purpose::Enable(_) | Purpose::AddScript | Purpose::RunsPage, None) => {}
        }
        let Some(asker) = asker else { return };
        turn.effects.push(asker.reply(outcome));
        if let Some(on) = self.virtual_mut(&asker.seat)
            && on.outstanding.remove(&id)
        {
            self.settle(&asker.seat, turn);
        }
    }

    /// The first tab, which is announced by its answer alone, is there or will not come.
    fn initial_tab_came(
        &mut self,
        connection: ConnectionId,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let tab = outcome.and_then(|payload| {
            let tab = payload.read::<InitialTab<Payload>>();
            tab.map_err(|error| Error::server(error.to_string()))
        });
        match tab {
            Ok(tab) => {
                let attached = AttachedToTarget {
                    session_id: tab.session_id,
                    target_info: tab.target_info,
                    waiting_for_debugger: false,
                    extra: Extra::default(),
                };
                self.tab_attached(connection, attached, turn);
            }
            Err(error) => {
                turn.log(
                    LogLevel::Warn,
                    format!("no first tab could be opened: {}", error.message),
                );
            }
        }
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.opens_tab = false;
        }
        self.release_held(connection, turn);
    }

    fn extension_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        turn: &mut Turn,
    ) {
        let unreadable = |error| format!("extension {connection}: {}: {error}", event.method);
        match (event.method.as_str(), &event.params) {
            // No client depends on these two, and they flood.
            ("Network.dataReceived" | "Network.resourceChangedPriority", _) => {}
            ("Target.attachedToTarget", Some(params)) => {
                match (params.read::<AttachedToTarget<Payload>>(), event.session_id.as_ref()) {
                    (Ok(attached), parent) => {
                        let session = attached.session_id.clone();
                        match parent {
                            None => self.tab_attached(connection, attached, turn),
                            Some(parent) => {
                                self.child_attached(connection, parent, attached, turn);
                            }
                        }
                        self.confirm(connection, &session, turn);
                    }
                    (Err(error), _) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.targetInfoChanged", Some(params)) if event.session_id.is_none() => {
                match params.read::<InfoEvent>() {
                    Ok(changed) => self.info_changed(connection, changed, turn),
                    Err(error) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.detachedFromTarget", Some(params)) => {
                match params.read::<DetachedFromTarget<Payload>>() {
                    Ok(detached) => self.detached(connection, &detached.session_id, turn),
                    Err(error) => turn.log(LogLevel::Error, unreadable(error)),
                }
            }
            // What Chrome tells a page's own session of other targets, the relay has told already.
            (method, _) if method.starts_with("Target.") => {}
            _ => self.forward_event(connection, event, turn),
        }
    }
}
