//! Domains are switched on once in Chrome and counted here: each session hears only of those that
//! it switched on itself, and a newcomer hears what Chrome told before.

use std::collections::BTreeSet;

use shared_protocol::SessionId;

use super::dialogs::Dialog;
use super::later::{Later, LocalAnswer};
use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::shared::Domain;
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::cdp::{Command, Error};
use crate::payload::Payload;

/// Chrome has far fewer; whatever else clients call a domain has no events.
const MAX_DOMAINS: usize = 200;

impl Relay {
    pub(super) fn enable(&mut self, seat: &Seat, domain: &str, command: Command, turn: &mut Turn) {
        let asker = Asker::new(seat, &command);
        let was_on = self.virtual_of(seat).is_some_and(|on| on.domains.contains(domain));
        let later = self.later(asker.clone(), LocalAnswer::Enabled(domain.to_owned()));
        let attempt = self.commands;
        let Some(target) = self.target_under_mut(seat) else { return };
        let real = target.session.clone();
        match target.shared.domains.get_mut(domain) {
            None => {
                let pending = Domain {
                    attempt,
                    params: command.params.clone(),
                    result: None,
                    waiting: Vec::new(),
                };
                target.shared.domains.insert(domain.to_owned(), pending);
                let has_dialog = target.shared.dialog.as_ref().is_some_and(Dialog::is_unclaimed);
                let is_new_popup = target.is_popup() && target.shared.domains.len() == 1;
                self.note_domain(seat, domain);
                let purpose = Purpose::Enable { domain: domain.to_owned(), attempt };
                self.forward(seat, command, &real, purpose, turn);
                if has_dialog && domain == "Page" {
                    // Until somebody closes it, Chrome does not answer.
                    match self.connection_of(seat).filter(|_| is_new_popup) {
                        Some(connection) => self.dismiss(connection, &real, turn),
                        None => self.offer_dialog(seat, turn),
                    }
                }
            }
            Some(known) => match &known.result {
                None => known.waiting.push(later),
                // A second Runtime.enable would make an old extension start the domain anew, under
                // the feet of everybody else.
                Some(_)
                    if said(&known.params) != said(&command.params) && !is_only_history(domain) =>
                {
                    self.replay_once(seat, domain, turn);
                    self.forward(seat, command, &real, Purpose::Forward, turn);
                }
                Some(result) if was_on => turn.effects.push(asker.reply(Ok(result.clone()))),
                Some(_) => self.answer_when_due(later, turn),
            },
        }
    }

    /// Chrome has answered the first who switched a domain on.
    pub(super) fn enabled(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        (domain, attempt): (&str, u64),
        outcome: &Result<Payload, Error>,
        asker: Option<&Asker>,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let known = target.shared.domains.get_mut(domain);
        let Some(known) = known.filter(|known| known.attempt == attempt) else { return };
        let waiting = std::mem::take(&mut known.waiting);
        match outcome {
            Ok(result) => {
                known.result = Some(result.clone());
                if let Some(asker) = asker.filter(|_| domain == "Runtime") {
                    self.tell_of_script(&asker.seat, turn);
                }
                for later in waiting {
                    self.answer_when_due(later, turn);
                }
                self.switch_off_unless_used(connection, real, domain, turn);
            }
            Err(error) => {
                target.shared.domains.remove(domain);
                let waiting: Vec<&Asker> = waiting.iter().map(Later::asker).collect();
                let failed = waiting.iter().copied().chain(asker);
                for seat in failed.map(|asker| &asker.seat) {
                    if let Some(on) = self.virtual_mut(seat) {
                        on.domains.remove(domain);
                    }
                }
                turn.effects.extend(waiting.iter().map(|asker| asker.reply(Err(error.clone()))));
            }
        }
    }

    /// From here on the session gets the domain's events; if it did not before, it is told now what
    /// Chrome has told about it. Gives what Chrome answered.
    pub(super) fn replay_once(&mut self, seat: &Seat, domain: &str, turn: &mut Turn) -> Payload {
        let is_new = self.note_domain(seat, domain);
        let Some(target) = self.target_under_mut(seat) else { return Payload::empty_object() };
        let known = target.shared.domains.get(domain).and_then(|known| known.result.clone());
        if is_new {
            for (method, params) in target.shared.history(domain) {
                turn.raw_event(seat, method, Some(params));
            }
            match domain {
                "Page" => self.offer_dialog(seat, turn),
                "Runtime" => self.tell_of_script(seat, turn),
                _ => {}
            }
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
        let Some(connection) = self.connection_of(seat) else { return };
        let Some(on) = self.virtual_mut(seat) else { return };
        let real = on.real.clone();
        on.domains.remove(domain);
        let breakpoints = match domain {
            "Debugger" => std::mem::take(&mut on.breakpoints),
            _ => BTreeSet::new(),
        };
        // Whoever switches a domain off before it was on for it has no use for what it waits for.
        let mut early = on.take_enables(domain);
        let Some(target) = self.target_under_mut(seat) else { return };
        if let Some(known) = target.shared.domains.get_mut(domain) {
            let own = known.waiting.extract_if(.., |later| &later.asker().seat == seat);
            early.extend(own.map(|later| later.asker().clone()));
        }
        turn.effects.extend(early.iter().map(|asker| asker.reply(Ok(Payload::empty_object()))));
        // The extension itself lives by the events of Page.
        if self.is_wanted(connection, &real, domain) || domain == "Page" {
            if domain == "Debugger" {
                self.leave_debugger(connection, &real, seat, breakpoints, turn);
            }
            turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
        } else {
            if let Some(target) = self.target_mut(connection, &real) {
                target.shared.forget(domain);
            }
            self.forward(seat, command, &real, Purpose::Forward, turn);
        }
        if domain == "Page" {
            self.leave_dialog(connection, &real, seat.client, turn);
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
        if self.is_wanted(connection, real, domain) || domain == "Page" {
            return;
        }
        let Some(target) = self.target_mut(connection, real) else { return };
        target.shared.forget(domain);
        self.tell_target(connection, real, &format!("{domain}.disable"), None, turn);
    }

    /// Whether a domain is on for a session, or will be.
    fn is_wanted(&self, connection: ConnectionId, real: &SessionId, domain: &str) -> bool {
        let known = self.target(connection, real).and_then(|it| it.shared.domains.get(domain));
        known.is_some_and(|known| !known.waiting.is_empty())
            || self.over(connection, real).any(|on| on.wants(domain))
    }

    /// From here on the session gets the domain's events; says whether it did not before.
    pub(super) fn note_domain(&mut self, seat: &Seat, domain: &str) -> bool {
        let is_new = self.virtual_mut(seat).is_some_and(|on| on.domains.insert(domain.to_owned()));
        if is_new
            && let Some(target) = self.target_under_mut(seat)
            && target.shared.switched.len() < MAX_DOMAINS
        {
            target.shared.switched.insert(domain.to_owned());
        }
        is_new
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
}

/// Some clients send an empty object where others send nothing.
fn said(params: &Option<Payload>) -> Option<&str> {
    params.as_ref().map(Payload::as_str).filter(|text| *text != "{}")
}

/// Whether switching the domain on does nothing but tell what there is.
fn is_only_history(domain: &str) -> bool {
    matches!(domain, "Runtime" | "Debugger")
}
