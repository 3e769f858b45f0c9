//! What extensions say.

use std::time::Instant;

use shared_protocol::{
    AttachedToTarget, CdpEvent, CloseCode, DetachedFromTarget, ExtensionHello, Extra, Feature,
    Features, InitialTab, LogLevel, Payload as _, RequestId, StableKey,
};

use crate::cdp::Error;
use crate::cdp::payload::{ExtensionMessage, Payload};
use crate::ids::ConnectionId;
use crate::peers::extensions::Extension;
use crate::peers::reconnect::Inheritance;
use crate::requests::data_urls as data_addresses;
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::Purpose;
use crate::sessions::teardown::closed;
use crate::targets::announce::InfoEvent;
use crate::turn::Turn;
use crate::{Effect, MAX_EXTENSIONS, MAX_UNPROVEN, PING_INTERVAL, Relay};

/// Answers of `chrome.debugger` to all commands that wait when a tab closes.
const DETACHED: &str = "Detached while handling command.";

impl Relay {
    pub(crate) fn extension_connected(
        &mut self,
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        proven: bool,
        turn: &mut Turn,
    ) {
        let stable_key = hello
            .stable_key()
            .unwrap_or_else(|| StableKey::new(format!("connection:{connection}")));
        let is_known = self.extensions.newest(&stable_key).is_some();
        let limit = if proven { MAX_EXTENSIONS } else { MAX_UNPROVEN };
        let refusal = if !proven && self.extensions.is_posing(&hello, &stable_key) {
            Some("this installation has to prove itself")
        } else if self.extensions.count(proven) >= limit && !is_known {
            Some("too many extensions")
        } else {
            None
        };
        if let Some(reason) = refusal {
            let (code, reason) = (CloseCode::ExtensionInUse, reason.to_owned());
            return turn.effects.push(Effect::CloseExtension { connection, code, reason });
        }
        let version = hello.version.as_deref().unwrap_or("an unknown version");
        turn.log(LogLevel::Info, format!("extension {connection} connected as {version}"));
        let Inheritance {
            targets,
            downloads,
            held,
            interrupted,
            unsaid,
            missed,
            may_lack_tab,
            presence,
        } = self.succeed(&stable_key, connection, turn);
        let features = Features::of(&hello);
        let next_ping: Instant = turn.now + PING_INTERVAL;
        let extension = Extension {
            features,
            missed: missed.without(features),
            hello,
            stable_key,
            proven,
            user_agent,
            targets,
            downloads,
            permissions: Vec::new(),
            context: None,
            may_lack_tab,
            opens_tab: false,
            presence,
            held,
            interrupted,
            unsaid,
            next_ping,
            heard: turn.now,
            pongs: false,
        };
        self.extensions.insert(connection, extension);
        self.revision += 1;
        self.say_window_mode(connection, turn);
        self.say_notice(connection, turn);
        if features.has(Feature::Permissions) {
            // Also if there are none: it may have some of clients that left meanwhile.
            self.apply_permissions(connection, None, Purpose::Forward, turn);
        }
        self.is_back_if_nothing_is_missing(connection, turn);
    }

    pub(crate) fn extension_sent(
        &mut self,
        connection: ConnectionId,
        message: ExtensionMessage,
        turn: &mut Turn,
    ) {
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.heard = turn.now;
            extension.pongs |= matches!(message, ExtensionMessage::Pong);
        }
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
        if outcome.as_ref().is_err_and(|text| text == DETACHED) && request.session.is_some() {
            // Chrome says so before it says that the session has ended, which clients hear first.
            let deadline = Some(turn.now + QUICK);
            return self.requests.insert(id, Request { deadline, ..request });
        }
        let outcome = match (outcome, request.needs) {
            (Ok(None), Some(feature)) => Err(self.turned_out_to_lack(connection, feature, turn)),
            (Ok(result), _) => Ok(result.unwrap_or_else(Payload::empty_object)),
            (Err(text), _) => Err(Error::from_extension(&text)),
        };
        self.conclude(id, request, outcome, turn);
    }

    /// There is no room for a command among those that wait for the extension.
    pub(crate) fn command_refused(
        &mut self,
        connection: ConnectionId,
        id: RequestId,
        turn: &mut Turn,
    ) {
        let Some(request) = self.requests.answer(connection, id) else { return };
        let error =
            Error::server("the browser does not keep up with what it is sent: send less at once");
        self.conclude(id, request, Err(error), turn);
    }

    /// A request has its answer, from the extension or because none will come.
    pub(crate) fn conclude(
        &mut self,
        id: RequestId,
        request: Request,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Some((request, mut outcome)) = self.unless_restricted(request, outcome, turn) else {
            return;
        };
        let Request { connection, session, asker, purpose, .. } = request;
        let is_own = asker.is_none();
        // Its tabs may have gone over to the next connection of the same installation.
        let connection = self.extensions.heir_of(connection);
        match (purpose, session) {
            (Purpose::AutoAttach, real) => {
                if let (Err(_), Some(real)) = (&outcome, real) {
                    self.auto_attach_failed(connection, &real, is_own, turn);
                }
                if let Some(asker) = &asker {
                    self.announce_children(&asker.seat, turn);
                }
            }
            (Purpose::StartTrace, Some(real)) => {
                if outcome.is_ok() {
                    self.trace_started(connection, asker.as_ref(), real, turn);
                }
            }
            (Purpose::Wish(before), _) => {
                if let (Err(_), Some(asker)) = (&outcome, &asker) {
                    self.take_back(asker, before, turn);
                }
            }
            (Purpose::AnswerDialog, Some(real)) => {
                if outcome.is_err() {
                    self.dialog_not_answered(connection, &real);
                }
            }
            (Purpose::Enable { domain, attempt }, Some(real)) => {
                let domain = (domain.as_str(), attempt);
                self.enabled(connection, &real, domain, &outcome, asker.as_ref(), turn);
            }
            (Purpose::AddScript, Some(real)) => {
                if let Ok(result) = &outcome {
                    self.script_added(connection, &real, asker.as_ref(), result, turn);
                }
            }
            (Purpose::AddBreakpoint, Some(real)) => {
                if let Ok(result) = &outcome {
                    self.breakpoint_added(connection, &real, asker.as_ref(), result, turn);
                }
            }
            (Purpose::RunsPage { opens_data }, Some(real)) => {
                if let Some(target) = self.target_mut(connection, &real) {
                    target.shared.last_run = target.shared.last_run.max(id);
                    if opens_data {
                        outcome = data_addresses::explained(&target.info.target_id, outcome);
                    }
                }
                self.departed(connection, &real, turn);
            }
            (Purpose::InitialTab, _) => return self.initial_tab_came(connection, outcome, turn),
            (Purpose::FirstTab, _) => return self.first_tab_came(connection, outcome.err(), turn),
            (Purpose::Cookies(question), _) => return self.cookies_came(question, outcome, turn),
            (Purpose::CookieJar(asked), _) => return self.jar_answered(asked, outcome, turn),
            (Purpose::Window(step), _) => return self.window_answered(asker, step, outcome, turn),
            (Purpose::FileInput(command), _) => {
                return self.file_input_described(asker, command, outcome, turn);
            }
            (Purpose::Download(search), _) => {
                return self.download_found(connection, asker, search, outcome, turn);
            }
            (Purpose::AskRestricted { number }, Some(real)) => {
                self.restriction_told(connection, &real, number, &outcome, turn);
            }
            (Purpose::Deferred { script: Some((seat, given)) }, Some(real)) => {
                if let Ok(result) = &outcome {
                    self.deferred_script_added(connection, &real, &seat, given, result, turn);
                }
            }
            (Purpose::CloseTarget, Some(real)) => {
                outcome = outcome.map(|_| closed());
                if outcome.is_err()
                    && let Some(target) = self.target_mut(connection, &real)
                {
                    target.closes_until = None;
                }
            }
            (Purpose::CloseAgain, Some(real)) => self.close_again(connection, &real, turn),
            (Purpose::Forward | Purpose::Leaving | Purpose::Deferred { .. }, _)
            | (
                Purpose::CloseTarget
                | Purpose::AskRestricted { .. }
                | Purpose::CloseAgain
                | Purpose::Enable { .. }
                | Purpose::AddScript
                | Purpose::AddBreakpoint
                | Purpose::RunsPage { .. }
                | Purpose::StartTrace
                | Purpose::AnswerDialog,
                None,
            ) => {}
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
        let failure = match tab {
            Ok(tab) => {
                let attached = AttachedToTarget {
                    session_id: tab.session_id,
                    target_info: tab.target_info,
                    waiting_for_debugger: false,
                    extra: Extra::default(),
                };
                self.tab_attached(connection, attached, turn);
                None
            }
            Err(error) => Some(error),
        };
        self.first_tab_came(connection, failure, turn);
    }

    fn first_tab_came(
        &mut self,
        connection: ConnectionId,
        failure: Option<Error>,
        turn: &mut Turn,
    ) {
        if let Some(error) = &failure {
            let text = format!("no first tab could be opened: {}", error.message);
            turn.log(LogLevel::Warn, text);
        }
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.opens_tab = false;
            // Its next worker is asked.
            extension.may_lack_tab = failure.is_some() && !extension.presence.is_connected();
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
