//! Commands on a session over a target. Most are forwarded as they are; those that would change something
//! for the other sessions over the same target go to `sharing` first.

use shared_protocol::LogLevel;
use shared_protocol::overrides::Override;

use crate::Relay;
use crate::asker::Asker;
use crate::browser::cookies::is_profile_command;
use crate::browser::folders;
use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::dispatch::browser_commands::serves_on_target;
use crate::ids::SessionRef;
use crate::requests::purpose::Purpose;
use crate::sharing::{dom_breakpoints, tracing};
use crate::turn::Turn;

impl Relay {
    /// It is long because it has one arm for each kind of command.
    pub(crate) fn target_command(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let now = self.last_command.advance();
        let Some(session) = self.target_session_mut(session_ref) else { return };
        session.last_active = now;
        let extension_session = session.extension_session.clone();
        if serves_on_target(&command.method) {
            return self.browser_command(session_ref, command, turn);
        }
        let method = command.method.clone();
        let (domain, name) = method.split_once('.').unwrap_or_default();
        match (method.as_str(), name) {
            ("Fetch.enable" | "Fetch.disable", _) => {
                self.set_interception(session_ref, command, turn);
            }
            (method, _) if method.starts_with("Fetch.") => {
                self.interception_command(session_ref, command, turn);
            }
            (_, "enable") => self.enable(session_ref, domain, command, turn),
            (_, "disable") => self.disable(session_ref, domain, command, turn),
            ("DOM.getDocument" | "DOM.getFlattenedDocument", _) => {
                // Chrome switches the domain on by itself.
                self.record_domain(session_ref, "DOM");
                self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
            }
            ("Page.setLifecycleEventsEnabled", _) => self.set_lifecycle(session_ref, command, turn),
            ("Target.setAutoAttach", _) => self.set_target_auto_attach(session_ref, command, turn),
            ("Runtime.runIfWaitingForDebugger", _) => {
                self.run_if_waiting(session_ref, command, turn);
            }
            (
                "Page.addScriptToEvaluateOnNewDocument"
                | "Page.removeScriptToEvaluateOnNewDocument"
                | "Page.addScriptToEvaluateOnLoad"
                | "Page.removeScriptToEvaluateOnLoad",
                _,
            ) => self.script_command(session_ref, command, turn),
            ("Runtime.addBinding" | "Runtime.removeBinding", _) => {
                self.binding_command(session_ref, command, turn);
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
            ) => self.breakpoint_command(session_ref, command, turn),
            (method, _) if dom_breakpoints::is_dom_breakpoint_command(method) => {
                self.dom_breakpoint_command(session_ref, command, turn);
            }
            ("Page.handleJavaScriptDialog", _) => self.handle_dialog(session_ref, command, turn),
            ("Page.startScreencast" | "Page.stopScreencast" | "Page.screencastFrameAck", _) => {
                self.screencast_command(session_ref, command, turn);
            }
            ("Page.setFontFamilies", _) => self.set_fonts(session_ref, command, turn),
            ("Page.bringToFront", _) if !self.policy.may_focus => {
                turn.log(LogLevel::Info, KEPT_BACK.to_owned());
                turn.ok(&Asker::new(session_ref, &command));
            }
            ("Tracing.start", _) => {
                self.start_tracing(session_ref, &extension_session, command, turn);
            }
            (tracing::END, _) => self.end_tracing(session_ref, &extension_session, command, turn),
            // It would hide failures from the user; clients that send it live well without.
            ("Security.setIgnoreCertificateErrors", _) => {
                turn.ok(&Asker::new(session_ref, &command));
            }
            (method, _) if is_profile_command(method) => {
                self.profile_command(session_ref, Some(&extension_session), command, turn);
            }
            (method, _) if method.starts_with("Storage.") => {
                match self.storage_refusal(session_ref, &command) {
                    Some(error) => {
                        turn.fail(&Asker::new(session_ref, &command), error);
                    }
                    None => self.forward(
                        session_ref,
                        command,
                        &extension_session,
                        Purpose::Forward,
                        turn,
                    ),
                }
            }
            (folders::SET_FILES, _) => self.set_files(session_ref, command, turn),
            ("Page.navigate", _) => {
                self.record_destination(session_ref, &command, turn);
                let purpose = Purpose::of(&command);
                self.forward(session_ref, command, &extension_session, purpose, turn);
            }
            (method, _) => match Override::of(method) {
                Some(rule) => self.override_command(session_ref, rule, command, turn),
                None => {
                    let command = with_own_object_group(session_ref, command);
                    let purpose = Purpose::of(&command);
                    self.forward(session_ref, command, &extension_session, purpose, turn);
                }
            },
        }
    }

    /// A font set can be given once per tab; a client that gives another keeps the first.
    fn set_fonts(&mut self, session_ref: &SessionRef, command: Command, turn: &mut Turn) {
        let Some(target) = self.target_under_mut(session_ref) else { return };
        if std::mem::replace(&mut target.state.has_fonts, true) {
            turn.ok(&Asker::new(session_ref, &command));
        } else {
            let extension_session = target.session.clone();
            self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        }
    }
}

const KEPT_BACK: &str = "a client asked to bring a tab to the front; it works behind, as the user's \
                         browser is the user's (serve --allow-focus lets clients do it)";

/// Gives object groups a name of the session's own, so that releasing one leaves those of the other
/// sessions alone.
fn with_own_object_group(session_ref: &SessionRef, command: Command) -> Command {
    use serde_json::value::{RawValue, to_raw_value};
    use std::collections::BTreeMap;

    const GROUP: &str = "objectGroup";
    let mentioned = command.params.as_ref().is_some_and(|params| params.as_str().contains(GROUP));
    if !mentioned {
        return command;
    }
    let fields = command.read_params::<BTreeMap<String, Box<RawValue>>>();
    let Ok(mut fields) = fields else { return command };
    let group = fields.get(GROUP).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let Some(group) = group else { return command };
    let own = to_raw_value(&format!("{}:{}/{group}", session_ref.client.0, session_ref.session));
    fields.extend(own.ok().map(|own| (GROUP.to_owned(), own)));
    Command { params: Some(Payload::of(&fields)), ..command }
}
