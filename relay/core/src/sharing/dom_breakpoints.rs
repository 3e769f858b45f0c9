//! `DOMDebugger` breakpoints: on requests, listeners and changes of the document. Chrome gives them no
//! ids; each is named by the parameters it was set with, and belongs to the session that set it.

use serde_json::Value;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

const SET: &str = "DOMDebugger.set";
const REMOVE: &str = "DOMDebugger.remove";

/// The largest number of DOM breakpoints that a session may have; more are refused.
const MAX_DOM_BREAKPOINTS: usize = 1000;

/// A DOM breakpoint: its kind, such as `XHRBreakpoint`, and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DomBreakpoint {
    kind: String,
    params: Value,
}

/// Returns whether `Debugger.paused` has this reason because of such a breakpoint.
pub(crate) fn is_pause_reason(reason: &str) -> bool {
    matches!(reason, "XHR" | "DOM" | "EventListener" | "instrumentation")
}

impl Relay {
    pub(crate) fn dom_breakpoint_command(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, &command);
        let params = match command.read_params::<Value>() {
            Ok(params) => params,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        if let Some(kind) = command.method.strip_prefix(SET) {
            if session.dom_breakpoints.len() >= MAX_DOM_BREAKPOINTS {
                let error =
                    Error::server(format!("{MAX_DOM_BREAKPOINTS} breakpoints are set already"));
                return turn.fail(&asker, error);
            }
            let breakpoint = DomBreakpoint { kind: kind.to_owned(), params };
            if !session.dom_breakpoints.contains(&breakpoint) {
                session.dom_breakpoints.push(breakpoint);
            }
        } else if let Some(kind) = command.method.strip_prefix(REMOVE) {
            let breakpoint = DomBreakpoint { kind: kind.to_owned(), params };
            session.dom_breakpoints.retain(|other| *other != breakpoint);
            if self
                .other_sessions(session_ref)
                .any(|other| other.dom_breakpoints.contains(&breakpoint))
            {
                return turn.ok(&asker);
            }
        }
        self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
    }

    /// A session that set breakpoints has ended.
    pub(crate) fn release_dom_breakpoints(
        &mut self,
        target_ref: TargetRef<'_>,
        breakpoints: Vec<DomBreakpoint>,
        turn: &mut Turn,
    ) {
        for breakpoint in breakpoints {
            if !self
                .sessions_on(target_ref)
                .any(|session| session.dom_breakpoints.contains(&breakpoint))
            {
                let (method, params) =
                    (format!("{REMOVE}{}", breakpoint.kind), Payload::of(&breakpoint.params));
                self.send_to_target(target_ref, &method, Some(params), turn);
            }
        }
    }
}
