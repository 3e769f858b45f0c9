//! Children that do not run until the sessions that hold them back let them.

use shared_protocol::LogLevel;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::ids::{SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

const RESUME: &str = "Runtime.runIfWaitingForDebugger";

impl Relay {
    /// `Runtime.runIfWaitingForDebugger`: the last session for which a target waits lets it run.
    pub(crate) fn run_if_waiting(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(session) = self.target_session_mut(session_ref) else { return };
        session.holds_back = false;
        let extension_session = session.extension_session.clone();
        let is_held = self.other_sessions(session_ref).any(|other| other.holds_back);
        let Some(target) = self.target_under_mut(session_ref) else { return };
        if target.waits_until.is_some() && is_held {
            turn.ok(&Asker::new(session_ref, &command));
        } else {
            target.waits_until = None;
            self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        }
    }

    /// Lets a target run that nobody holds back.
    pub(crate) fn resume_unless_held(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let is_held = self.sessions_on(target_ref).any(|session| session.holds_back);
        let Some(target) = self.target_mut(target_ref) else { return };
        if !is_held && target.waits_until.take().is_some() {
            self.send_to_target(target_ref, RESUME, None, turn);
        }
    }

    /// Lets targets run whose sessions have had time enough.
    pub(crate) fn resume_overdue(&mut self, turn: &mut Turn) {
        let mut late = Vec::new();
        for (connection, extension) in self.extensions.iter_mut() {
            for target in extension.targets.iter_mut() {
                if target.waits_until.is_some_and(|until| until <= turn.now) {
                    target.waits_until = None;
                    late.push((connection, target.session.clone()));
                }
            }
        }
        for (connection, extension_session) in late {
            let text = format!("{extension_session} was kept from running for too long; it runs");
            turn.log(LogLevel::Warn, text);
            self.send_to_target(connection.target(&extension_session), RESUME, None, turn);
        }
    }
}
