//! Breakpoints belong to the session that set them. A page that stands still for a session goes on
//! when that one ends: others may have switched `Debugger` on only to hear of scripts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use shared_protocol::{Payload as _, SessionId};

use super::confinement::Confinement;
use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::targets::Target;
use super::turn::Turn;
use super::{ConnectionId, Relay, stops};
use crate::cdp::Command;
use crate::payload::Payload;

const REMOVE: &str = "Debugger.removeBreakpoint";

/// Whether, and for whom, a target stands still.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    pub(super) is_paused: bool,
    /// Who set the breakpoint that was hit, or else asked for a pause or a step last.
    pub(super) steered_by: Option<Seat>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Breakpoint {
    breakpoint_id: String,
}

impl Relay {
    /// Commands that the other sessions over the target would feel.
    pub(super) fn debugger_command(&mut self, seat: &Seat, mut command: Command, turn: &mut Turn) {
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        let purpose = match command.method.as_str() {
            REMOVE => {
                let id = params::<Breakpoint>(&command).map(|it| it.breakpoint_id);
                let id = id.unwrap_or_default();
                on.breakpoints.remove(&id);
                if self.others(seat).any(|other| other.breakpoints.contains(&id)) {
                    // Chrome says the same of what it does not know.
                    let done = Ok(Payload::empty_object());
                    return turn.effects.push(Asker::new(seat, &command).reply(done));
                }
                Purpose::Forward
            }
            set if set.starts_with("Debugger.set") => {
                // A worker is one script for as long as it lives, and has no document.
                let is_worker = self.target_under(seat).is_some_and(Target::is_worker);
                if self.is_confined(seat.client) && !is_worker {
                    command = Confinement::guarded_breakpoint(command);
                }
                Purpose::AddBreakpoint
            }
            steers => {
                let steered_by = (steers != "Debugger.resume").then(|| seat.clone());
                if let Some(target) = self.target_under_mut(seat) {
                    target.shared.standstill.steered_by = steered_by;
                }
                Purpose::Forward
            }
        };
        self.forward(seat, command, &real, purpose, turn);
    }

    /// Chrome has named a breakpoint.
    pub(super) fn breakpoint_added(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        asker: Option<&Asker>,
        result: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(breakpoint) = result.read::<Breakpoint>() else { return };
        match asker.and_then(|asker| self.virtual_mut(&asker.seat)) {
            Some(on) => {
                on.breakpoints.insert(breakpoint.breakpoint_id);
            }
            // Its owner left before Chrome could name it.
            None => {
                self.tell_target(connection, real, REMOVE, Some(Payload::of(&breakpoint)), turn);
            }
        }
    }

    /// `Debugger.paused`
    pub(super) fn target_paused(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        event: &Payload,
    ) {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Paused {
            reason: String,
            hit_breakpoints: Vec<String>,
        }

        let Paused { reason, hit_breakpoints: hit } = event.read().unwrap_or_default();
        let Some(target) = self.target(connection, real) else { return };
        let owner = target.seats.iter().find(|seat| {
            let on = self.virtual_of(seat);
            on.is_some_and(|on| {
                hit.iter().any(|id| on.breakpoints.contains(id))
                    || (stops::is_reason(&reason) && !on.stops.is_empty())
            })
        });
        let owner = owner.cloned();
        let Some(target) = self.target_mut(connection, real) else { return };
        target.shared.standstill.is_paused = true;
        if owner.is_some() {
            target.shared.standstill.steered_by = owner;
        }
    }

    /// A session needs its debugger no more, or has ended.
    pub(super) fn leave_debugger(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        seat: &Seat,
        breakpoints: BTreeSet<String>,
        turn: &mut Turn,
    ) {
        for breakpoint_id in breakpoints {
            let breakpoint = Some(Payload::of(&Breakpoint { breakpoint_id }));
            self.tell_target(connection, real, REMOVE, breakpoint, turn);
        }
        let Some(target) = self.target_mut(connection, real) else { return };
        let standstill = &mut target.shared.standstill;
        if standstill.steered_by.take_if(|by| by == seat).is_some() && standstill.is_paused {
            self.tell_target(connection, real, "Debugger.resume", None, turn);
        }
    }
}
