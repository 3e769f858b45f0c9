//! Domains are switched on once in Chrome and counted here: each session hears only of those that
//! it switched on itself, and a newcomer hears what Chrome told before.

use shared_protocol::SessionId;

use super::later::LocalAnswer;
use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::{Seat, Virtual};
use super::shared::Domain;
use super::targets::Target;
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::cdp::{Command, Error};
use crate::payload::Payload;

impl Relay {
    pub(super) fn enable(&mut self, seat: &Seat, domain: &str, command: Command, turn: &mut Turn) {
        let was_on = self.note_domain(seat, domain);
        let asker = Asker::new(seat, &command);
        let Some(target) = self.target_under_mut(seat) else { return };
        let real = target.session.clone();
        match target.shared.domains.get_mut(domain) {
            None => {
                let pending =
                    Domain { params: command.params.clone(), result: None, waiting: Vec::new() };
                target.shared.domains.insert(domain.to_owned(), pending);
                self.forward(seat, command, &real, Purpose::Enable(domain.to_owned()), turn);
            }
            Some(known) => match &known.result {
                None => known.waiting.push(asker),
                // A second Runtime.enable would make an old extension start the domain anew, under
                // the feet of everybody else.
                Some(_) if known.params != command.params && !is_only_history(domain) => {
                    self.forward(seat, command, &real, Purpose::Forward, turn);
                }
                Some(result) if was_on => turn.effects.push(asker.reply(Ok(result.clone()))),
                Some(_) => {
                    let answer = LocalAnswer::Enabled(domain.to_owned());
                    self.answer_in_turn(asker, answer, turn);
                }
            },
        }
    }

    /// Chrome has answered the first who switched a domain on.
    pub(super) fn enabled(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        domain: &str,
        outcome: &Result<Payload, Error>,
        asker: Option<&Asker>,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let Some(known) = target.shared.domains.get_mut(domain) else { return };
        let waiting = std::mem::take(&mut known.waiting);
        match outcome {
            Ok(result) => {
                known.result = Some(result.clone());
                if let Some(asker) = asker.filter(|_| domain == "Runtime") {
                    self.tell_of_script(&asker.seat, turn);
                }
                for asker in waiting {
                    let answer = LocalAnswer::Enabled(domain.to_owned());
                    self.answer_in_turn(asker, answer, turn);
                }
                self.switch_off_unless_used(connection, real, domain, turn);
            }
            Err(error) => {
                target.shared.domains.remove(domain);
                let failed = waiting.iter().chain(asker);
                for seat in failed.map(|asker| &asker.seat) {
                    if let Some(on) = self.virtual_mut(seat) {
                        on.domains.remove(domain);
                    }
                }
                turn.effects.extend(waiting.iter().map(|asker| asker.reply(Err(error.clone()))));
            }
        }
    }

    /// Tells one session what Chrome has told about a domain; gives what Chrome answered.
    pub(super) fn replay(&mut self, seat: &Seat, domain: &str, turn: &mut Turn) -> Payload {
        let Some(target) = self.target_under_mut(seat) else { return Payload::empty_object() };
        for (method, params) in target.shared.history(domain) {
            turn.raw_event(seat, method, Some(params));
        }
        let known = target.shared.domains.get(domain).and_then(|known| known.result.clone());
        match domain {
            "Page" => self.offer_dialog(seat, turn),
            "Runtime" => self.tell_of_script(seat, turn),
            _ => {}
        }
        known.unwrap_or_else(Payload::empty_object)
    }

    /// Tells a session that came late that a worker's script has been loaded: clients wait for it.
    fn tell_of_script(&mut self, seat: &Seat, turn: &mut Turn) {
        let Some(target) = self.target_under(seat) else { return };
        let loaded = target.shared.worker_loaded.clone();
        if self.virtual_mut(seat).is_some_and(|on| std::mem::take(&mut on.missed_script)) {
            turn.raw_event(seat, "Inspector.workerScriptLoaded".to_owned(), loaded);
        }
    }

    pub(super) fn disable(&mut self, seat: &Seat, domain: &str, command: Command, turn: &mut Turn) {
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        on.domains.remove(domain);
        let is_used = self.others(seat).any(|other| other.domains.contains(domain));
        let Some(target) = self.target_under_mut(seat) else { return };
        // The extension itself lives by the events of Page.
        if is_used || domain == "Page" {
            turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
        } else {
            target.shared.forget(domain);
            self.forward(seat, command, &real, Purpose::Forward, turn);
        }
    }

    /// Switches a domain off in Chrome when its last session has gone.
    pub(super) fn switch_off_unless_used(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        domain: &str,
        turn: &mut Turn,
    ) {
        let is_used = self.over(connection, real).any(|on| on.domains.contains(domain));
        if is_used || domain == "Page" {
            return;
        }
        let Some(target) = self.target_mut(connection, real) else { return };
        target.shared.forget(domain);
        self.tell_target(connection, real, &format!("{domain}.disable"), None, turn);
    }

    /// From here on the session gets the domain's events; says whether it did before.
    pub(super) fn note_domain(&mut self, seat: &Seat, domain: &str) -> bool {
        let is_new = self.virtual_mut(seat).is_some_and(|on| on.domains.insert(domain.to_owned()));
        if is_new && let Some(target) = self.target_under_mut(seat) {
            target.shared.switched.insert(domain.to_owned());
        }
        !is_new
    }

    /// Each `true` makes Chrome tell the current state again, which does no harm to the others.
    pub(super) fn set_lifecycle(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        #[derive(serde::Deserialize)]
        struct SetLifecycle {
            enabled: bool,
        }

        let asker = Asker::new(seat, &command);
        let wanted = match params::<SetLifecycle>(&command) {
            Ok(wanted) => wanted.enabled,
            Err(error) => return turn.effects.push(asker.reply(Err(error))),
        };
        let Some(on) = self.virtual_mut(seat) else { return };
        on.lifecycle = wanted;
        let real = on.real.clone();
        if !wanted && self.others(seat).any(|other| other.lifecycle) {
            turn.effects.push(asker.reply(Ok(Payload::empty_object())));
        } else {
            self.forward(seat, command, &real, Purpose::Forward, turn);
        }
    }

    /// What the other sessions over the same target asked for.
    pub(super) fn others<'a>(&'a self, seat: &'a Seat) -> impl Iterator<Item = &'a Virtual> + 'a {
        let seats = self.target_under(seat).map(|target| target.seats.as_slice());
        seats
            .unwrap_or_default()
            .iter()
            .filter(move |other| *other != seat)
            .filter_map(|other| self.virtual_of(other))
    }

    /// What all sessions over a target asked for, oldest first.
    pub(super) fn over<'a>(
        &'a self,
        connection: ConnectionId,
        real: &SessionId,
    ) -> impl Iterator<Item = &'a Virtual> + 'a {
        let seats = self.target(connection, real).map(|target| target.seats.as_slice());
        seats.unwrap_or_default().iter().filter_map(|seat| self.virtual_of(seat))
    }

    pub(super) fn target(&self, connection: ConnectionId, real: &SessionId) -> Option<&Target> {
        self.extensions.get(connection)?.targets.by_session(real)
    }

    pub(super) fn target_mut(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
    ) -> Option<&mut Target> {
        self.extensions.get_mut(connection)?.targets.by_session_mut(real)
    }

    /// The target that a session stands on.
    pub(super) fn target_under(&self, seat: &Seat) -> Option<&Target> {
        let connection = self.connection_of(seat)?;
        self.target(connection, &self.virtual_of(seat)?.real)
    }

    pub(super) fn target_under_mut(&mut self, seat: &Seat) -> Option<&mut Target> {
        let connection = self.connection_of(seat)?;
        let real = self.virtual_of(seat)?.real.clone();
        self.target_mut(connection, &real)
    }

    pub(super) fn connection_of(&self, seat: &Seat) -> Option<ConnectionId> {
        self.clients.get(seat.client).map(|client| client.connection)
    }
}

/// Whether switching the domain on does nothing but tell what there is.
fn is_only_history(domain: &str) -> bool {
    matches!(domain, "Runtime" | "Debugger")
}
