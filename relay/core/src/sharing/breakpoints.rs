//! Breakpoints belong to the session that set them. A page that is paused for a session is resumed
//! when that one ends: others may have switched `Debugger` on only to hear of scripts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use shared_protocol::Payload as _;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::method::BreakpointCommand;
use crate::cdp::payload::Payload;
use crate::confinement::Confinement;
use crate::ids::{SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::sharing::dom_breakpoints;
use crate::turn::Turn;

const REMOVE: &str = "Debugger.removeBreakpoint";

/// The pause of a target, and the session for which it paused.
#[derive(Debug, Default)]
pub(crate) struct PauseState {
    pub(crate) is_paused: bool,
    /// The session that set the breakpoint that was hit, or else asked for a pause or a step last.
    pub(crate) paused_for: Option<SessionRef>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Breakpoint {
    breakpoint_id: String,
}

impl Relay {
    /// Commands that the other sessions over the target would feel.
    pub(crate) fn breakpoint_command(
        &mut self,
        session_ref: &SessionRef,
        action: BreakpointCommand,
        mut command: Command,
        turn: &mut Turn,
    ) {
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        let purpose = match action {
            BreakpointCommand::Remove => {
                let id = command.read_params::<Breakpoint>().map(|it| it.breakpoint_id);
                let id = id.unwrap_or_default();
                session.breakpoints.remove(&id);
                if self.other_sessions(session_ref).any(|other| other.breakpoints.contains(&id)) {
                    // Chrome says the same of what it does not know.
                    let done = Ok(Payload::empty_object());
                    return turn.reply(&Asker::new(session_ref, &command), done);
                }
                Purpose::Forward
            }
            BreakpointCommand::Add => {
                if self.needs_guard(session_ref) {
                    command = Confinement::guarded_breakpoint(command);
                }
                Purpose::AddBreakpoint
            }
            BreakpointCommand::Pause | BreakpointCommand::Resume => {
                let pauses = action == BreakpointCommand::Pause;
                let paused_for = pauses.then(|| session_ref.clone());
                if let Some(target) = self.target_under_mut(session_ref) {
                    target.state.pause.paused_for = paused_for;
                }
                Purpose::Forward
            }
        };
        self.forward(session_ref, command, &extension_session, purpose, turn);
    }

    /// Records the id that Chrome gave a breakpoint.
    pub(crate) fn breakpoint_added(
        &mut self,
        target_ref: TargetRef<'_>,
        asker: Option<&Asker>,
        result: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(breakpoint) = result.read::<Breakpoint>() else { return };
        match asker.and_then(|asker| self.target_session_mut(&asker.session)) {
            Some(session) => {
                session.breakpoints.insert(breakpoint.breakpoint_id);
            }
            // The session left before Chrome could give the breakpoint an id.
            None => {
                self.send_to_target(target_ref, REMOVE, Some(Payload::of(&breakpoint)), turn);
            }
        }
    }

    /// `Debugger.paused`
    pub(crate) fn target_paused(&mut self, target_ref: TargetRef<'_>, event: &Payload) {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Paused {
            reason: String,
            hit_breakpoints: Vec<String>,
        }

        let Paused { reason, hit_breakpoints: hit } = event.read().unwrap_or_default();
        let Some(target) = self.target(target_ref) else { return };
        let owner = target.sessions.iter().find(|session_ref| {
            let session = self.target_session(session_ref);
            session.is_some_and(|session| {
                hit.iter().any(|id| session.breakpoints.contains(id))
                    || (dom_breakpoints::is_pause_reason(&reason)
                        && !session.dom_breakpoints.is_empty())
            })
        });
        let owner = owner.cloned();
        let Some(target) = self.target_mut(target_ref) else { return };
        target.state.pause.is_paused = true;
        if owner.is_some() {
            target.state.pause.paused_for = owner;
        }
    }

    /// A session needs its debugger no more, or has ended.
    pub(crate) fn release_breakpoints(
        &mut self,
        target_ref: TargetRef<'_>,
        session_ref: &SessionRef,
        breakpoints: BTreeSet<String>,
        turn: &mut Turn,
    ) {
        for breakpoint_id in breakpoints {
            let breakpoint = Some(Payload::of(&Breakpoint { breakpoint_id }));
            self.send_to_target(target_ref, REMOVE, breakpoint, turn);
        }
        let Some(target) = self.target_mut(target_ref) else { return };
        let pause = &mut target.state.pause;
        if pause.paused_for.take_if(|by| by == session_ref).is_some() && pause.is_paused {
            self.send_to_target(target_ref, "Debugger.resume", None, turn);
        }
    }
}
