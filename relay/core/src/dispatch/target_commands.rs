//! Commands on a session over a target. Most are forwarded as they are; those that would change something
//! for the other sessions over the same target go to `sharing` first.

use shared_protocol::LogLevel;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::method::{Method, OnTarget};
use crate::cdp::payload::Payload;
use crate::confinement::Confinement;
use crate::ids::SessionRef;
use crate::requests::purpose::Purpose;
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
        let command = match self.needs_guard(session_ref) {
            true => Confinement::guarded_in_page(command),
            false => command,
        };
        match Method::of(&command.method).on_target() {
            OnTarget::Browser => self.browser_command(session_ref, command, turn),
            OnTarget::EnableInterception => self.enable_interception(session_ref, command, turn),
            OnTarget::DisableInterception => {
                self.disable_interception(session_ref, command, turn);
            }
            OnTarget::Interception(action) => {
                self.interception_command(session_ref, action, command, turn);
            }
            OnTarget::Enable => self.enable(session_ref, command, turn),
            OnTarget::Disable => self.disable(session_ref, command, turn),
            OnTarget::GetDocument => {
                // Chrome switches the domain on by itself.
                self.record_domain(session_ref, "DOM");
                self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
            }
            OnTarget::Lifecycle => self.set_lifecycle(session_ref, command, turn),
            OnTarget::AutoAttach => self.set_target_auto_attach(session_ref, command, turn),
            OnTarget::RunIfWaiting => self.run_if_waiting(session_ref, command, turn),
            OnTarget::AddScript => self.add_script(session_ref, command, turn),
            OnTarget::RemoveScript => self.remove_script(session_ref, command, turn),
            OnTarget::AddBinding => self.add_binding(session_ref, command, turn),
            OnTarget::RemoveBinding => self.remove_binding(session_ref, command, turn),
            OnTarget::Breakpoint(action) => {
                self.breakpoint_command(session_ref, action, command, turn);
            }
            OnTarget::DomBreakpoint => self.dom_breakpoint_command(session_ref, command, turn),
            OnTarget::Dialog => self.handle_dialog(session_ref, command, turn),
            OnTarget::Screencast(action) => {
                self.screencast_command(session_ref, action, command, turn);
            }
            OnTarget::Fonts => self.set_fonts(session_ref, command, turn),
            OnTarget::BringToFront if !self.policy.may_focus => {
                turn.log(LogLevel::Info, KEPT_BACK.to_owned());
                turn.ok(&Asker::new(session_ref, &command));
            }
            OnTarget::StartTrace => {
                self.start_tracing(session_ref, &extension_session, command, turn);
            }
            OnTarget::EndTrace => self.end_tracing(session_ref, &extension_session, command, turn),
            OnTarget::Ignore => turn.ok(&Asker::new(session_ref, &command)),
            OnTarget::Profile(action) => {
                let extension_session = Some(&extension_session);
                self.profile_command(session_ref, extension_session, action, command, turn);
            }
            OnTarget::Storage(action) => {
                match self.storage_refusal(session_ref, action, &command) {
                    Some(error) => turn.fail(&Asker::new(session_ref, &command), error),
                    None => {
                        self.forward(
                            session_ref,
                            command,
                            &extension_session,
                            Purpose::Forward,
                            turn,
                        );
                    }
                }
            }
            OnTarget::FileInput => self.set_files(session_ref, command, turn),
            OnTarget::Navigate => {
                self.record_destination(session_ref, &command, turn);
                let purpose = Purpose::of(&command);
                self.forward(session_ref, command, &extension_session, purpose, turn);
            }
            OnTarget::Override(rule) => self.override_command(session_ref, rule, command, turn),
            OnTarget::Forward | OnTarget::BringToFront => {
                let command = with_own_object_group(session_ref, command);
                let purpose = Purpose::of(&command);
                self.forward(session_ref, command, &extension_session, purpose, turn);
            }
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
