//! Commands on a session over a target. Most pass on as they are; those whose effect the other
//! sessions over the same target would feel are shared out first.

use shared_protocol::{CdpCommand, Extra, LogLevel, Payload as _, SessionId};

use super::browser_domain::serves_on_target;
use super::confinement::Confinement;
use super::overrides::Rule;
use super::requests::{Asker, Purpose, QUICK, Request, is_quick};
use super::restricted::OnRefusal;
use super::sessions::Seat;
use super::targets::Target;
use super::turn::Turn;
use super::{ConnectionId, Relay, folders, stops, trace};
use crate::cdp::{Command, Error};
use crate::payload::{Payload, RelayMessage};

impl Relay {
    pub(super) fn target_command(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        self.commands += 1;
        let now = self.commands;
        let Some(on) = self.virtual_mut(seat) else { return };
        on.last_active = now;
        let real = on.real.clone();
        if serves_on_target(&command.method) {
            return self.browser_command(seat, command, turn);
        }
        let is_worker = self.target_under(seat).is_some_and(Target::is_worker);
        let command = match self.is_confined(seat.client) && !is_worker {
            true => Confinement::guarded_in_page(command),
            false => command,
        };
        let method = command.method.clone();
        let (domain, name) = method.split_once('.').unwrap_or_default();
        match (method.as_str(), name) {
            ("Fetch.enable" | "Fetch.disable", _) => self.change_fetch(seat, command, turn),
            (method, _) if method.starts_with("Fetch.") => {
                self.fetch_command(seat, command, turn);
            }
            (_, "enable") => self.enable(seat, domain, command, turn),
            (_, "disable") => self.disable(seat, domain, command, turn),
            ("DOM.getDocument" | "DOM.getFlattenedDocument", _) => {
                // Chrome switches the domain on by itself.
                self.note_domain(seat, "DOM");
                self.forward(seat, command, &real, Purpose::Forward, turn);
            }
            ("Page.setLifecycleEventsEnabled", _) => self.set_lifecycle(seat, command, turn),
            ("Target.setAutoAttach", _) => self.set_children_wanted(seat, command, turn),
            ("Runtime.runIfWaitingForDebugger", _) => self.let_run(seat, command, turn),
            (
                "Page.addScriptToEvaluateOnNewDocument"
                | "Page.removeScriptToEvaluateOnNewDocument"
                | "Page.addScriptToEvaluateOnLoad"
                | "Page.removeScriptToEvaluateOnLoad",
                _,
            ) => self.script_command(seat, command, turn),
            ("Runtime.addBinding" | "Runtime.removeBinding", _) => {
                self.binding_command(seat, command, turn);
            }
            (
                "Debugger.setBreakpoint"
                | "Debugger.setBreakpointByUrl"
                | "Debugger.setBreakpointOnFunctionCall"
                | "Debugger.setInstrumentationBreakpoint"
                | "Debugger.removeBreakpoint"
                | "Debugger.pause"
                | "Debugger.resume"
                | "Debugger.stepInto"
                | "Debugger.stepOut"
                | "Debugger.stepOver"
                | "Debugger.continueToLocation",
                _,
            ) => self.debugger_command(seat, command, turn),
            (method, _) if stops::is_concerned(method) => self.stop_command(seat, command, turn),
            ("Page.handleJavaScriptDialog", _) => self.handle_dialog(seat, command, turn),
            ("Page.startScreencast" | "Page.stopScreencast" | "Page.screencastFrameAck", _) => {
                self.screencast_command(seat, command, turn);
            }
            ("Page.setFontFamilies", _) => self.set_fonts(seat, command, turn),
            ("Page.bringToFront", _) if !self.policy.may_focus => {
                turn.log(LogLevel::Info, KEPT_BACK.to_owned());
                turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
            }
            ("Tracing.start", _) => self.start_trace(seat, &real, command, turn),
            (trace::END, _) => self.end_trace(seat, &real, command, turn),
            // It would hide failures from the user; clients that send it live well without.
            ("Security.setIgnoreCertificateErrors", _) => {
                turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
            }
            (method, _) if super::cookies::is_concerned(method) => {
                self.profile_command(seat, Some(&real), command, turn);
            }
            (method, _) if method.starts_with("Storage.") => {
                match self.storage_refusal(seat, &command) {
                    Some(error) => {
                        turn.effects.push(Asker::new(seat, &command).reply(Err(error)));
                    }
                    None => self.forward(seat, command, &real, Purpose::Forward, turn),
                }
            }
            (folders::SET_FILES, _) => self.set_files(seat, command, turn),
            ("Page.navigate", _) => {
                self.note_heading(seat, &command, turn);
                let purpose = Purpose::of(&command);
                self.forward(seat, command, &real, purpose, turn);
            }
            (method, _) => match Rule::of(method) {
                Some(rule) => self.override_command(seat, rule, command, turn),
                None => {
                    let command = with_own_object_group(seat, command);
                    let purpose = Purpose::of(&command);
                    self.forward(seat, command, &real, purpose, turn);
                }
            },
        }
    }

    /// Passes a command on to the client's extension and remembers who waits for the reply.
    pub(super) fn forward(
        &mut self,
        seat: &Seat,
        command: Command,
        real: &SessionId,
        purpose: Purpose,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(seat) else { return };
        let quick = is_quick(&command.method);
        let id = self.requests.add(Request {
            connection,
            session: Some(real.clone()),
            asker: Some(Asker::new(seat, &command)),
            purpose,
            deadline: quick.then(|| turn.now + QUICK),
            needs: None,
            on_refusal: OnRefusal::of(&command),
        });
        if quick && let Some(on) = self.virtual_mut(seat) {
            on.outstanding.insert(id);
        }
        let command = cdp_command(command.method, Some(real.clone()), command.params);
        turn.tell_extension(connection, RelayMessage::Command { id, command });
    }

    /// Asks an extension for something that has no session, or that the relay itself wants to know.
    pub(super) fn ask(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        real: Option<&SessionId>,
        (method, params): (&str, Option<Payload>),
        purpose: Purpose,
        turn: &mut Turn,
    ) {
        let deadline = Some(turn.now + QUICK);
        let session = real.cloned();
        let on_refusal = OnRefusal::of_own(method, params.as_ref());
        let request =
            Request { connection, session, asker, purpose, deadline, needs: None, on_refusal };
        let id = self.requests.add(request);
        let command = cdp_command(method.to_owned(), real.cloned(), params);
        turn.tell_extension(connection, RelayMessage::Command { id, command });
    }

    /// Sends a command of our own, whose answer nobody waits for.
    pub(super) fn tell_target(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        method: &str,
        params: Option<Payload>,
        turn: &mut Turn,
    ) {
        if self.deferred_own(connection, real, method, params.as_ref()) {
            return;
        }
        let command = cdp_command(method.to_owned(), Some(real.clone()), params);
        let message = RelayMessage::Command { id: self.requests.unasked(), command };
        turn.tell_extension(connection, message);
    }

    /// A font set can be given once per tab; a client that gives another keeps the first.
    fn set_fonts(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let Some(target) = self.target_under_mut(seat) else { return };
        if std::mem::replace(&mut target.shared.has_fonts, true) {
            turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
        } else {
            let real = target.session.clone();
            self.forward(seat, command, &real, Purpose::Forward, turn);
        }
    }
}

const KEPT_BACK: &str = "a client asked to bring a tab to the front; it works behind, as the user's \
                         browser is the user's (serve --allow-focus lets clients do it)";

pub(super) fn cdp_command(
    method: String,
    session_id: Option<SessionId>,
    params: Option<Payload>,
) -> CdpCommand<Payload> {
    CdpCommand { method, session_id, params, source: None, extra: Extra::default() }
}

/// Reads parameters as the answer to them would.
///
/// # Errors
///
/// Gives Chrome's error for parameters that do not fit.
pub(super) fn params<T: serde::de::DeserializeOwned>(command: &Command) -> Result<T, Error> {
    match &command.params {
        Some(params) => params.read(),
        None => Payload::empty_object().read(),
    }
    .map_err(|error| Error::invalid_params(error.to_string()))
}

/// Gives object groups a name of the session's own, so that releasing one leaves those of the other
/// sessions alone.
fn with_own_object_group(seat: &Seat, command: Command) -> Command {
    use serde_json::value::{RawValue, to_raw_value};
    use std::collections::BTreeMap;

    const GROUP: &str = "objectGroup";
    let mentioned = command.params.as_ref().is_some_and(|params| params.as_str().contains(GROUP));
    if !mentioned {
        return command;
    }
    let fields = params::<BTreeMap<String, Box<RawValue>>>(&command);
    let Ok(mut fields) = fields else { return command };
    let group = fields.get(GROUP).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let Some(group) = group else { return command };
    let own = to_raw_value(&format!("{}:{}/{group}", seat.client.0, seat.session));
    fields.extend(own.ok().map(|own| (GROUP.to_owned(), own)));
    Command { params: Some(Payload::of(&fields)), ..command }
}
