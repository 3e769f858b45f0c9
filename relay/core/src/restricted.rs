//! Tabs that show a page on which Chrome refuses every command of an extension, though its debugger
//! is attached: a warning of a bad certificate, say. Clients go on as if the page did not answer
//! them, and what they set up meanwhile is done when the tab shows another page.
//!
//! Whether a tab is restricted is asked whenever it shows another page and when Chrome refuses
//! something; only the answer to the last question counts, since events overtake answers.

mod refusal;

use serde_json::json;
use shared_protocol::{Extra, Feature, LogLevel, RequestId, SessionId, TabQuery, Understood};

use super::on_target::cdp_command;
use super::requests::{Asker, Purpose, QUICK, Request};
use super::sessions::Seat;
use super::targets::Target;
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::cdp::{Command, Error};
use crate::payload::{Payload, RelayMessage};
pub(crate) use refusal::{OnRefusal, WORDS};
use refusal::{exception, is_refusal};

/// How many commands wait for one tab, and of how many bytes.
const MAX_DEFERRED: usize = 1000;
const MAX_DEFERRED_BYTES: usize = 8 * 1024 * 1024;

const REMOVE_SCRIPT: &str = "Page.removeScriptToEvaluateOnNewDocument";

type RestrictedTabs = Understood<{ Feature::RestrictedTabs as u8 }>;

/// A tab that shows a page of this kind, or may do so.
#[derive(Debug, Default)]
pub(crate) struct Restriction {
    /// Counts the questions whether there still is one.
    asked: u64,
    is_asking: bool,
    deferred: Vec<Deferred>,
}

/// A command that is sent when the tab shows another page.
#[derive(Debug)]
pub(crate) struct Deferred {
    method: String,
    params: Option<Payload>,
    /// Whose script it adds, and the id that its client was given for it.
    script: Option<(Seat, String)>,
}

impl Deferred {
    fn weight(&self) -> usize {
        self.method.len() + self.params.as_ref().map_or(0, |params| params.as_str().len())
    }

    fn adds_script(&self) -> bool {
        self.method.starts_with("Page.addScript")
    }
}

impl Restriction {
    /// Keeps a command for later, unless there are too many.
    fn defer(&mut self, deferred: Deferred) -> Result<(), Error> {
        let weight: usize = self.deferred.iter().map(Deferred::weight).sum();
        if self.deferred.len() >= MAX_DEFERRED || weight + deferred.weight() > MAX_DEFERRED_BYTES {
            return Err(Error::server(WORDS));
        }
        self.deferred.push(deferred);
        Ok(())
    }

    /// Forgets a script that waits; says whether there was one.
    fn forget_script(&mut self, given: &str) -> bool {
        let is_it =
            |deferred: &Deferred| deferred.script.as_ref().is_some_and(|(_, known)| known == given);
        let before = self.deferred.len();
        self.deferred.retain(|deferred| !is_it(deferred));
        self.deferred.len() < before
    }
}

impl Relay {
    /// Looks at an answer of Chrome's before anybody else does. Gives nothing if the request goes on
    /// in another way.
    pub(super) fn unless_restricted(
        &mut self,
        mut request: Request,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) -> Option<(Request, Result<Payload, Error>)> {
        let connection = self.extensions.heir_of(request.connection);
        let Some(real) = &request.session else { return Some((request, outcome)) };
        let Some(target) = self.target_mut(connection, real) else {
            return Some((request, outcome));
        };
        let is_question = matches!(request.purpose, Purpose::AskRestricted { .. });
        if !outcome.as_ref().is_err_and(is_refusal) {
            let is_forgotten = target.restriction.as_ref().is_some_and(|it| !it.is_asking);
            if outcome.is_ok() && is_forgotten && !is_question && request.needs.is_none() {
                self.ask_restricted(connection, real, turn);
            }
            return Some((request, outcome));
        }
        if is_question {
            return Some((request, outcome));
        }
        let real = real.clone();
        if target.parent.is_some() {
            return Some((request, Err(Error::server(WORDS))));
        }
        if target.restriction.is_none() {
            self.ask_restricted(connection, &real, turn);
        }
        let outcome = match std::mem::take(&mut request.on_refusal) {
            OnRefusal::Fails => Err(Error::server(WORDS)),
            OnRefusal::Throws => Ok(exception()),
            OnRefusal::Waits(deferred) => {
                let is_again = matches!(request.purpose, Purpose::Deferred { .. });
                let answer = self.defer(connection, &real, deferred, request.asker.as_ref());
                if is_again {
                    return None;
                }
                answer
            }
            OnRefusal::Navigates(command) => {
                self.leave_page(connection, &real, request, command, turn);
                return None;
            }
            OnRefusal::Closes => {
                self.close_tab(connection, &real, request.asker, turn);
                return None;
            }
        };
        Some((request, outcome))
    }

    /// Asks Chrome whether it takes commands for a tab. Until it has said so, it does not.
    pub(super) fn ask_restricted(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let restriction = target.restriction.get_or_insert_default();
        restriction.asked += 1;
        restriction.is_asking = true;
        let purpose = Purpose::AskRestricted { number: restriction.asked };
        let question = ("Target.getTargetInfo", None);
        self.ask(connection, None, Some(real), question, purpose, turn);
    }

    /// Asks again when the page has loaded: on a busy machine Chrome tells of another page before it
    /// takes commands for it.
    pub(super) fn restricted_page_loaded(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        if self.target(connection, real).is_some_and(|target| target.restriction.is_some()) {
            self.ask_restricted(connection, real, turn);
        }
    }

    /// Chrome has said whether it takes commands, or nobody could ask it.
    pub(super) fn restriction_told(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        number: u64,
        outcome: &Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let Some(restriction) = &mut target.restriction else { return };
        if restriction.asked != number {
            return;
        }
        restriction.is_asking = false;
        if outcome.is_ok() {
            self.lift_restriction(connection, real, turn);
        }
    }

    fn lift_restriction(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let Some(restriction) = target.restriction.take() else { return };
        for deferred in restriction.deferred {
            let Deferred { method, params, script } = deferred;
            let request = Request {
                connection,
                session: Some(real.clone()),
                asker: None,
                purpose: Purpose::Deferred { script: script.clone() },
                deadline: Some(turn.now + QUICK),
                needs: None,
                on_refusal: OnRefusal::Waits(Deferred {
                    method: method.clone(),
                    params: params.clone(),
                    script,
                }),
            };
            let command = cdp_command(method, Some(real.clone()), params);
            self.ask_extension(request, |id| RelayMessage::Command { id, command }, turn);
        }
        let waiting = self.requests.end(|request| is_leaving(request, connection, real));
        if let Some(target) = self.target_mut(connection, real) {
            target.is_departing = !waiting.is_empty();
        }
        for (_, request) in waiting {
            if let (Some(asker), OnRefusal::Navigates(command)) =
                (request.asker, request.on_refusal)
            {
                self.target_command(&asker.seat, command, turn);
            }
        }
        self.announce_hidden(connection, real, turn);
    }

    /// A navigation away from such a page is through, or none was under way.
    pub(super) fn departed(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let target = self.target_mut(connection, real);
        if target.is_some_and(|target| std::mem::take(&mut target.is_departing)) {
            self.announce_hidden(connection, real, turn);
        }
    }

    /// Keeps a command until the tab shows another page, and gives what its client is answered.
    fn defer(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        mut deferred: Deferred,
        asker: Option<&Asker>,
    ) -> Result<Payload, Error> {
        let number = self.commands;
        let target = self.target_mut(connection, real);
        let Some(restriction) = target.and_then(|target| target.restriction.as_mut()) else {
            return Err(Error::server(WORDS));
        };
        if let (None, Some(asker), true) = (&deferred.script, asker, deferred.adds_script()) {
            // Chrome counts; no number of its own looks like this.
            let RequestId(id) = asker.id;
            let given = format!("deferred-{number}-{id}");
            deferred.script = Some((asker.seat.clone(), given));
        }
        let answer = match &deferred.script {
            Some((_, given)) => Payload::of(&json!({ "identifier": given })),
            None => Payload::empty_object(),
        };
        restriction.defer(deferred).map(|()| answer)
    }

    /// Keeps a command of the relay's own, whose answer nobody waits for, if the tab would refuse it.
    /// Says whether it did.
    pub(super) fn deferred_own(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        method: &str,
        params: Option<&Payload>,
    ) -> bool {
        let target = self.target_mut(connection, real);
        let Some(restriction) = target.and_then(|target| target.restriction.as_mut()) else {
            return false;
        };
        let given = (method == REMOVE_SCRIPT).then(|| super::scripts::identifier(params)).flatten();
        if !given.is_some_and(|given| restriction.forget_script(&given)) {
            let (method, params) = (method.to_owned(), params.cloned());
            // One too many is lost: there is nobody who could be told.
            drop(restriction.defer(Deferred { method, params, script: None }));
        }
        true
    }

    /// A client removes a script; says whether it was one that Chrome has not been given yet.
    pub(super) fn forget_deferred_script(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        given: &str,
    ) -> bool {
        let target = self.target_mut(connection, real);
        let restriction = target.and_then(|target| target.restriction.as_mut());
        restriction.is_some_and(|restriction| restriction.forget_script(given))
    }

    /// Has `chrome.tabs` take a tab to a blank page, from which a client's navigation begins anew.
    fn leave_page(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        request: Request,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(asker) = request.asker else { return };
        let (proof, tab) = match self.restricted_tab(connection, real, turn) {
            Ok(found) => found,
            Err(error) => return turn.effects.push(asker.reply(Err(error))),
        };
        let session = Some(real.clone());
        let deadline = Some(turn.now + QUICK);
        self.requests.add(Request {
            connection,
            session: session.clone(),
            asker: Some(asker),
            purpose: Purpose::Leaving,
            deadline,
            needs: None,
            on_refusal: OnRefusal::Navigates(command),
        });
        let request = Request {
            connection,
            session,
            asker: None,
            purpose: Purpose::Forward,
            deadline,
            needs: None,
            on_refusal: OnRefusal::Fails,
        };
        self.ask_extension(request, |id| RelayMessage::BlankTab { id, tab, proof }, turn);
    }

    /// Whether a tab is on its way to the blank page from which a navigation is to begin.
    pub(super) fn is_leaving(&self, connection: ConnectionId, real: &SessionId) -> bool {
        let target = self.target(connection, real);
        target.is_some_and(|target| target.restriction.is_some())
            && self.requests.any(|request| is_leaving(request, connection, real))
    }

    /// Has `chrome.tabs` close a tab. An extension that cannot do that keeps it; for clients it has
    /// gone, who would wait for ever.
    pub(super) fn close_tab(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        asker: Option<Asker>,
        turn: &mut Turn,
    ) {
        let closing = Request {
            connection,
            session: Some(real.clone()),
            asker,
            purpose: Purpose::CloseTarget,
            deadline: Some(turn.now + QUICK),
            needs: None,
            on_refusal: OnRefusal::Fails,
        };
        if let Ok((proof, tab)) = self.restricted_tab(connection, real, turn) {
            self.ask_extension(closing, |id| RelayMessage::CloseTab { id, tab, proof }, turn);
        } else {
            let text = "a tab that shows a warning stays open, and clients see it no more: this \
                        extension cannot close it";
            turn.log(LogLevel::Warn, text.to_owned());
            self.requests.add(closing);
            self.detached(connection, real, turn);
        }
    }

    /// Names a tab to an extension that can take it off its page.
    fn restricted_tab(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) -> Result<(RestrictedTabs, TabQuery<Payload>), Error> {
        let target = self.target(connection, real).ok_or_else(Error::unknown_session)?;
        let target_id = target.info.target_id.clone();
        let Some(proof) = self.proof(connection, turn) else {
            let extension = self.extensions.get(connection);
            let old = extension.map(|it| it.too_old_for(Feature::RestrictedTabs));
            return Err(Error::server(format!("{WORDS}; {}", old.unwrap_or_default())));
        };
        Ok((proof, TabQuery { target_id, extra: Extra::default() }))
    }
}

impl Target {
    /// Whether it answers nothing for now.
    pub(super) fn is_silent(&self) -> bool {
        self.shared.dialog.is_some() || self.restriction.is_some() || self.is_departing
    }
}

fn is_leaving(request: &Request, connection: ConnectionId, real: &SessionId) -> bool {
    request.connection == connection
        && request.session.as_ref() == Some(real)
        && matches!(request.purpose, Purpose::Leaving)
}
