//! What a page is to stop at besides breakpoints: requests, listeners, changes of its document. They
//! have no names in Chrome but what they were set with, and belong to the session that set them.

use serde_json::Value;
use shared_protocol::SessionId;

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{ConnectionId, Seat};
use crate::requests::asker::Asker;
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

const SET: &str = "DOMDebugger.set";
const REMOVE: &str = "DOMDebugger.remove";

/// How many a session may have; more are refused.
const MAX_STOPS: usize = 1000;

/// `XHRBreakpoint` and the like, and what it was set with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    kind: String,
    params: Value,
}

/// Whether a command sets or removes a stop.
pub(crate) fn is_concerned(method: &str) -> bool {
    (method.starts_with(SET) || method.starts_with(REMOVE)) && method.ends_with("Breakpoint")
}

/// Whether a page that stands still does so because of a stop.
pub(crate) fn is_reason(reason: &str) -> bool {
    matches!(reason, "XHR" | "DOM" | "EventListener" | "instrumentation")
}

impl Relay {
    pub(crate) fn stop_command(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let asker = Asker::new(seat, &command);
        let params = match command.read_params::<Value>() {
            Ok(params) => params,
            Err(error) => return turn.effects.push(asker.reply(Err(error))),
        };
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        if let Some(kind) = command.method.strip_prefix(SET) {
            if on.stops.len() >= MAX_STOPS {
                let error = Error::server(format!("{MAX_STOPS} breakpoints are set already"));
                return turn.effects.push(asker.reply(Err(error)));
            }
            let stop = Stop { kind: kind.to_owned(), params };
            if !on.stops.contains(&stop) {
                on.stops.push(stop);
            }
        } else if let Some(kind) = command.method.strip_prefix(REMOVE) {
            let stop = Stop { kind: kind.to_owned(), params };
            on.stops.retain(|other| *other != stop);
            if self.others(seat).any(|other| other.stops.contains(&stop)) {
                return turn.effects.push(asker.reply(Ok(Payload::empty_object())));
            }
        }
        self.forward(seat, command, &real, Purpose::Forward, turn);
    }

    /// A session that set stops has ended.
    pub(crate) fn leave_stops(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        stops: Vec<Stop>,
        turn: &mut Turn,
    ) {
        for stop in stops {
            if !self.over(connection, real).any(|on| on.stops.contains(&stop)) {
                let (method, params) =
                    (format!("{REMOVE}{}", stop.kind), Payload::of(&stop.params));
                self.tell_target(connection, real, &method, Some(params), turn);
            }
        }
    }
}
