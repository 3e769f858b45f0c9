//! Tabs that show a page on which Chrome refuses every command of an extension, though its debugger
//! is attached: a warning of a bad certificate, say. Clients go on as if the page did not answer
//! them, and what they set up meanwhile is done when the tab shows another page.
//!
//! Whether a tab is restricted is asked whenever it shows another page and when Chrome refuses
//! something; only the answer to the last question counts, since events overtake answers.

use serde_json::json;
use shared_protocol::{Extra, Feature, RequestId, TabQuery, Understood};

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::{Command, Error};
use crate::ids::TargetRef;
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::Purpose;
use crate::requests::refusal::{DeferredCommand, OnRefusal, RESTRICTED, exception, is_refusal};
use crate::requests::send::extension_command;
use crate::turn::Turn;

/// The largest number of commands that wait for one tab; [`MAX_DEFERRED_BYTES`] limits their size.
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
    deferred: Vec<DeferredCommand>,
}

impl Restriction {
    /// Keeps a command for later, unless there are too many.
    fn defer(&mut self, deferred: DeferredCommand) -> Result<(), Error> {
        let weight: usize = self.deferred.iter().map(DeferredCommand::weight).sum();
        if self.deferred.len() >= MAX_DEFERRED || weight + deferred.weight() > MAX_DEFERRED_BYTES {
            return Err(Error::server(RESTRICTED));
        }
        self.deferred.push(deferred);
        Ok(())
    }

    /// Forgets a script that waits; says whether there was one.
    fn forget_script(&mut self, given: &str) -> bool {
        let is_it = |deferred: &DeferredCommand| {
            deferred.script.as_ref().is_some_and(|(_, known)| known == given)
        };
        let before = self.deferred.len();
        self.deferred.retain(|deferred| !is_it(deferred));
        self.deferred.len() < before
    }
}

impl Relay {
    /// Looks at an answer of Chrome's before anybody else does. Gives nothing if the request goes on
    /// in another way.
    pub(crate) fn check_restriction(
        &mut self,
        mut request: Request,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) -> Option<(Request, Result<Payload, Error>)> {
        let connection = self.extensions.current_connection(request.connection);
        let Some(extension_session) = &request.session else { return Some((request, outcome)) };
        let Some(target) = self.target_mut(connection.target(extension_session)) else {
            return Some((request, outcome));
        };
        let is_question = matches!(request.purpose, Purpose::CheckRestricted { .. });
        if !outcome.as_ref().is_err_and(is_refusal) {
            let is_forgotten = target.restriction.as_ref().is_some_and(|it| !it.is_asking);
            if outcome.is_ok() && is_forgotten && !is_question && request.needs.is_none() {
                self.check_if_restricted(connection.target(extension_session), turn);
            }
            return Some((request, outcome));
        }
        if is_question {
            return Some((request, outcome));
        }
        let extension_session = extension_session.clone();
        if target.parent.is_some() {
            return Some((request, Err(Error::server(RESTRICTED))));
        }
        if target.restriction.is_none() {
            self.check_if_restricted(connection.target(&extension_session), turn);
        }
        let outcome = match std::mem::take(&mut request.on_refusal) {
            OnRefusal::Fails => Err(Error::server(RESTRICTED)),
            OnRefusal::Throws => Ok(exception()),
            OnRefusal::Waits(deferred) => {
                let is_again = matches!(request.purpose, Purpose::DeferredCommand { .. });
                let answer = self.defer(
                    connection.target(&extension_session),
                    deferred,
                    request.asker.as_ref(),
                );
                if is_again {
                    return None;
                }
                answer
            }
            OnRefusal::Navigates(command) => {
                self.navigate_via_blank_page(
                    connection.target(&extension_session),
                    request,
                    command,
                    turn,
                );
                return None;
            }
            OnRefusal::Closes => {
                self.close_tab(connection.target(&extension_session), request.asker, turn);
                return None;
            }
        };
        Some((request, outcome))
    }

    /// Asks Chrome whether it takes commands for a tab. Until it has said so, it does not.
    pub(crate) fn check_if_restricted(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(target) = self.target_mut(target_ref) else { return };
        let restriction = target.restriction.get_or_insert_default();
        restriction.asked += 1;
        restriction.is_asking = true;
        let purpose = Purpose::CheckRestricted { number: restriction.asked };
        let question = ("Target.getTargetInfo", None);
        self.ask(target_ref.connection, None, Some(target_ref.session), question, purpose, turn);
    }

    /// Checks again when a page has loaded: for a moment after it came, Chrome may judge by the page
    /// before.
    pub(crate) fn check_if_still_restricted(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        if self.target(target_ref).is_some_and(|target| target.restriction.is_some()) {
            self.check_if_restricted(target_ref, turn);
        }
    }

    /// Handles Chrome's answer that it takes commands or refuses them, or the lack of an answer.
    pub(crate) fn restriction_checked(
        &mut self,
        target_ref: TargetRef<'_>,
        number: u64,
        outcome: &Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(target_ref) else { return };
        let Some(restriction) = &mut target.restriction else { return };
        if restriction.asked != number {
            return;
        }
        restriction.is_asking = false;
        if outcome.is_ok() {
            self.lift_restriction(target_ref, turn);
        }
    }

    fn lift_restriction(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(target) = self.target_mut(target_ref) else { return };
        let Some(restriction) = target.restriction.take() else { return };
        for deferred in restriction.deferred {
            let DeferredCommand { method, params, script } = deferred;
            let request =
                Request::to_target(target_ref, Purpose::DeferredCommand { script: script.clone() })
                    .until(turn.now + QUICK)
                    .on_refusal(OnRefusal::Waits(DeferredCommand {
                        method: method.clone(),
                        params: params.clone(),
                        script,
                    }));
            let command = extension_command(method, Some(target_ref.session), params);
            self.ask_extension(request, |id| RelayMessage::Command { id, command }, turn);
        }
        let waiting =
            self.requests.take_where(|request| is_leaving_restricted_page(request, target_ref));
        if let Some(target) = self.target_mut(target_ref) {
            target.is_leaving_page = !waiting.is_empty();
        }
        for (_, request) in waiting {
            if let (Some(asker), OnRefusal::Navigates(command)) =
                (request.asker, request.on_refusal)
            {
                self.target_command(&asker.session, command, turn);
            }
        }
        self.announce_hidden(target_ref, turn);
    }

    /// A navigation away from such a page is through, or none was under way.
    pub(crate) fn left_restricted_page(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let target = self.target_mut(target_ref);
        if target.is_some_and(|target| std::mem::take(&mut target.is_leaving_page)) {
            self.announce_hidden(target_ref, turn);
        }
    }

    /// Keeps a command until the tab shows another page, and gives what its client is answered.
    fn defer(
        &mut self,
        target_ref: TargetRef<'_>,
        mut deferred: DeferredCommand,
        asker: Option<&Asker>,
    ) -> Result<Payload, Error> {
        let number = self.last_command;
        let target = self.target_mut(target_ref);
        let Some(restriction) = target.and_then(|target| target.restriction.as_mut()) else {
            return Err(Error::server(RESTRICTED));
        };
        if let (None, Some(asker), true) = (&deferred.script, asker, deferred.adds_script()) {
            // Chrome counts; no number of its own looks like this.
            let RequestId(id) = asker.id;
            let given = format!("deferred-{number}-{id}");
            deferred.script = Some((asker.session.clone(), given));
        }
        let answer = match &deferred.script {
            Some((_, given)) => Payload::of(&json!({ "identifier": given })),
            None => Payload::empty_object(),
        };
        restriction.defer(deferred).map(|()| answer)
    }

    /// Keeps a command of the relay's own, whose answer nobody waits for, if the tab would refuse it.
    /// Says whether it did.
    pub(crate) fn defer_own_command(
        &mut self,
        target_ref: TargetRef<'_>,
        method: &str,
        params: Option<&Payload>,
    ) -> bool {
        let target = self.target_mut(target_ref);
        let Some(restriction) = target.and_then(|target| target.restriction.as_mut()) else {
            return false;
        };
        let given = (method == REMOVE_SCRIPT)
            .then(|| crate::sharing::scripts::identifier(params))
            .flatten();
        if !given.is_some_and(|given| restriction.forget_script(&given)) {
            let (method, params) = (method.to_owned(), params.cloned());
            // One command too many is lost: there is nobody who could be told.
            drop(restriction.defer(DeferredCommand { method, params, script: None }));
        }
        true
    }

    /// A client removes a script; says whether it was one that Chrome has not been given yet.
    pub(crate) fn forget_deferred_script(
        &mut self,
        target_ref: TargetRef<'_>,
        given: &str,
    ) -> bool {
        let target = self.target_mut(target_ref);
        let restriction = target.and_then(|target| target.restriction.as_mut());
        restriction.is_some_and(|restriction| restriction.forget_script(given))
    }

    /// Has `chrome.tabs` navigate a tab to a blank page, from which a client's navigation begins
    /// anew.
    fn navigate_via_blank_page(
        &mut self,
        target_ref: TargetRef<'_>,
        request: Request,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(asker) = request.asker else { return };
        let (proof, tab) = match self.restricted_tab(target_ref, turn) {
            Ok(found) => found,
            Err(error) => return turn.fail(&asker, error),
        };
        let deadline = Some(turn.now + QUICK);
        self.requests.add(
            Request::to_target(target_ref, Purpose::BlankPage)
                .asked_by(asker)
                .until(deadline)
                .on_refusal(OnRefusal::Navigates(command)),
        );
        let request = Request::to_target(target_ref, Purpose::Forward).until(deadline);
        self.ask_extension(request, |id| RelayMessage::BlankTab { id, tab, proof }, turn);
    }

    /// Returns whether a tab is on its way to the blank page from which a navigation is to begin.
    pub(crate) fn is_leaving_restricted_page(&self, target_ref: TargetRef<'_>) -> bool {
        let target = self.target(target_ref);
        target.is_some_and(|target| target.restriction.is_some())
            && self.requests.any(|request| is_leaving_restricted_page(request, target_ref))
    }

    /// Names a tab to an extension that can take it off its page.
    pub(crate) fn restricted_tab(
        &mut self,
        target_ref: TargetRef<'_>,
        turn: &mut Turn,
    ) -> Result<(RestrictedTabs, TabQuery<Payload>), Error> {
        let target = self.target(target_ref).ok_or_else(Error::unknown_session)?;
        let target_id = target.info.target_id.clone();
        let Some(proof) = self.proof(target_ref.connection, turn) else {
            let extension = self.extensions.get(target_ref.connection);
            let old = extension.map(|it| it.too_old_for(Feature::RestrictedTabs));
            return Err(Error::server(format!("{RESTRICTED}; {}", old.unwrap_or_default())));
        };
        Ok((proof, TabQuery { target_id, extra: Extra::default() }))
    }
}

fn is_leaving_restricted_page(request: &Request, target_ref: TargetRef<'_>) -> bool {
    request.connection == target_ref.connection
        && request.session.as_ref() == Some(target_ref.session)
        && matches!(request.purpose, Purpose::BlankPage)
}
