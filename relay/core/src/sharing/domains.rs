//! CDP domains are enabled once in Chrome. Each session receives the events of the domains that it
//! enabled itself, and a session that enables one later is sent what Chrome has told before.

use std::collections::BTreeSet;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{CommandNumber, SessionRef, TargetRef};
use crate::requests::deferred_replies::{DeferredReply, ReplyBody};
use crate::requests::purpose::Purpose;
use crate::sharing::dialogs::Dialog;
use crate::sharing::target_state::Domain;
use crate::turn::Turn;

/// Chrome has far fewer; whatever else clients call a domain has no events.
const MAX_DOMAINS: usize = 200;

impl Relay {
    pub(crate) fn enable(&mut self, session_ref: &SessionRef, command: Command, turn: &mut Turn) {
        let method = command.method.clone();
        let (domain, _) = method.split_once('.').unwrap_or_default();
        let asker = Asker::new(session_ref, &command);
        let was_on = self
            .target_session(session_ref)
            .is_some_and(|session| session.domains.contains(domain));
        let deferred = self.deferred_reply(asker.clone(), ReplyBody::Enabled(domain.to_owned()));
        let attempt = self.last_command;
        let Some(target) = self.target_under_mut(session_ref) else { return };
        let extension_session = target.session.clone();
        match target.state.domains.get_mut(domain) {
            None => {
                let pending = Domain {
                    attempt,
                    params: command.params.clone(),
                    result: None,
                    waiting: Vec::new(),
                };
                target.state.domains.insert(domain.to_owned(), pending);
                let has_dialog = target.state.dialog.as_ref().is_some_and(Dialog::is_unassigned);
                let is_new_popup = target.is_popup() && target.state.domains.len() == 1;
                self.record_domain(session_ref, domain);
                let purpose = Purpose::Enable { domain: domain.to_owned(), attempt };
                self.forward(session_ref, command, &extension_session, purpose, turn);
                if has_dialog && domain == "Page" {
                    // Until somebody closes it, Chrome does not answer.
                    match self.connection_of(session_ref).filter(|_| is_new_popup) {
                        Some(connection) => {
                            self.dismiss_dialog(connection.target(&extension_session), turn);
                        }
                        None => self.offer_dialog(session_ref, turn),
                    }
                }
            }
            Some(known) => match &known.result {
                None => known.waiting.push(deferred),
                // A second Runtime.enable would make an old extension start the domain anew, under
                // the feet of everybody else.
                Some(_)
                    if said(&known.params) != said(&command.params) && !is_only_history(domain) =>
                {
                    self.replay_once(session_ref, domain, turn);
                    self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
                }
                Some(result) if was_on => turn.reply(&asker, Ok(result.clone())),
                Some(_) => self.queue_reply(deferred, turn),
            },
        }
    }

    /// Handles Chrome's answer to the first session that enabled a domain.
    pub(crate) fn enabled(
        &mut self,
        target_ref: TargetRef<'_>,
        (domain, attempt): (&str, CommandNumber),
        outcome: &Result<Payload, Error>,
        asker: Option<&Asker>,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(target_ref) else { return };
        let known = target.state.domains.get_mut(domain);
        let Some(known) = known.filter(|known| known.attempt == attempt) else { return };
        let waiting = std::mem::take(&mut known.waiting);
        match outcome {
            Ok(result) => {
                known.result = Some(result.clone());
                if let Some(asker) = asker.filter(|_| domain == "Runtime") {
                    self.report_worker_script(&asker.session, turn);
                }
                for deferred in waiting {
                    self.queue_reply(deferred, turn);
                }
                self.switch_off_unless_used(target_ref, domain, turn);
            }
            Err(error) => {
                target.state.domains.remove(domain);
                let waiting: Vec<&Asker> = waiting.iter().map(DeferredReply::asker).collect();
                let failed = waiting.iter().copied().chain(asker);
                for session_ref in failed.map(|asker| &asker.session) {
                    if let Some(session) = self.target_session_mut(session_ref) {
                        session.domains.remove(domain);
                    }
                }
                turn.effects.extend(waiting.iter().map(|asker| asker.reply(Err(error.clone()))));
            }
        }
    }

    /// Records that the session gets the domain's events from here on. If the session did not get
    /// them before, sends it the events that Chrome has sent so far. Returns Chrome's answer.
    pub(crate) fn replay_once(
        &mut self,
        session_ref: &SessionRef,
        domain: &str,
        turn: &mut Turn,
    ) -> Payload {
        let is_new = self.record_domain(session_ref, domain);
        let Some(target) = self.target_under_mut(session_ref) else {
            return Payload::empty_object();
        };
        let known = target.state.domains.get(domain).and_then(|known| known.result.clone());
        if is_new {
            for (method, params) in target.state.replay(domain) {
                turn.raw_event(session_ref, method, Some(params));
            }
            match domain {
                "Page" => self.offer_dialog(session_ref, turn),
                "Runtime" => self.report_worker_script(session_ref, turn),
                _ => {}
            }
        }
        known.unwrap_or_else(Payload::empty_object)
    }

    /// Tells a session that came late that a worker's script has been loaded: clients wait for it.
    fn report_worker_script(&mut self, session_ref: &SessionRef, turn: &mut Turn) {
        let Some(target) = self.target_under(session_ref) else { return };
        let loaded = target.state.worker_loaded.clone();
        if self
            .target_session_mut(session_ref)
            .is_some_and(|session| std::mem::take(&mut session.missed_script))
        {
            turn.raw_event(session_ref, "Inspector.workerScriptLoaded".to_owned(), loaded);
        }
    }

    pub(crate) fn disable(&mut self, session_ref: &SessionRef, command: Command, turn: &mut Turn) {
        let method = command.method.clone();
        let (domain, _) = method.split_once('.').unwrap_or_default();
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        session.domains.remove(domain);
        let breakpoints = match domain {
            "Debugger" => std::mem::take(&mut session.breakpoints),
            _ => BTreeSet::new(),
        };
        // A session that disables a domain before the domain was enabled for it has no use for what
        // it waits for.
        let mut early = session.replies.take_enables(domain);
        let Some(target) = self.target_under_mut(session_ref) else { return };
        if let Some(known) = target.state.domains.get_mut(domain) {
            let own =
                known.waiting.extract_if(.., |deferred| &deferred.asker().session == session_ref);
            early.extend(own.map(|deferred| deferred.asker().clone()));
        }
        turn.effects.extend(early.iter().map(|asker| asker.reply(Ok(Payload::empty_object()))));
        // The extension itself lives by the events of Page.
        if self.is_wanted(connection.target(&extension_session), domain) || domain == "Page" {
            if domain == "Debugger" {
                self.release_breakpoints(
                    connection.target(&extension_session),
                    session_ref,
                    breakpoints,
                    turn,
                );
            }
            turn.ok(&Asker::new(session_ref, &command));
        } else {
            if let Some(target) = self.target_mut(connection.target(&extension_session)) {
                target.state.forget(domain);
            }
            self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        }
        if domain == "Page" {
            self.release_dialog(connection.target(&extension_session), session_ref.client, turn);
        }
    }

    /// Switches a domain off in Chrome when its last session has gone.
    pub(crate) fn switch_off_unless_used(
        &mut self,
        target_ref: TargetRef<'_>,
        domain: &str,
        turn: &mut Turn,
    ) {
        if self.is_wanted(target_ref, domain) || domain == "Page" {
            return;
        }
        let Some(target) = self.target_mut(target_ref) else { return };
        target.state.forget(domain);
        self.send_to_target(target_ref, &format!("{domain}.disable"), None, turn);
    }

    /// Returns whether a domain is on for a session, or will be.
    fn is_wanted(&self, target_ref: TargetRef<'_>, domain: &str) -> bool {
        let known = self.target(target_ref).and_then(|it| it.state.domains.get(domain));
        known.is_some_and(|known| !known.waiting.is_empty())
            || self.sessions_on(target_ref).any(|session| session.wants_domain(domain))
    }

    /// Records that the session gets the domain's events from here on. Returns `true` if it did not
    /// before.
    pub(crate) fn record_domain(&mut self, session_ref: &SessionRef, domain: &str) -> bool {
        let is_new = self
            .target_session_mut(session_ref)
            .is_some_and(|session| session.domains.insert(domain.to_owned()));
        if is_new
            && let Some(target) = self.target_under_mut(session_ref)
            && target.state.switched.len() < MAX_DOMAINS
        {
            target.state.switched.insert(domain.to_owned());
        }
        is_new
    }

    /// Each `true` makes Chrome tell the current state again, which does no harm to the others.
    pub(crate) fn set_lifecycle(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        #[derive(serde::Deserialize)]
        struct SetLifecycle {
            enabled: bool,
        }

        let asker = Asker::new(session_ref, &command);
        let wanted = match command.read_params::<SetLifecycle>() {
            Ok(wanted) => wanted.enabled,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        session.lifecycle = wanted;
        let extension_session = session.extension_session.clone();
        if !wanted && self.other_sessions(session_ref).any(|other| other.lifecycle) {
            turn.ok(&asker);
        } else {
            self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        }
    }
}

/// Returns the parameters as text. Some clients send an empty object where others send nothing.
fn said(params: &Option<Payload>) -> Option<&str> {
    params.as_ref().map(Payload::as_str).filter(|text| *text != "{}")
}

/// Returns whether switching the domain on does nothing but tell what there is.
fn is_only_history(domain: &str) -> bool {
    matches!(domain, "Runtime" | "Debugger")
}
