//! Completes a request when its answer arrives, or when it is known that none will.

use serde_json::json;
use shared_protocol::RequestId;

use crate::Relay;
use crate::cdp::Error;
use crate::cdp::payload::Payload;
use crate::ids::ConnectionId;
use crate::requests::data_urls;
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

/// Answers of `chrome.debugger` to all commands that wait when a tab closes.
const DETACHED: &str = "Detached while handling command.";

impl Relay {
    pub(crate) fn extension_replied(
        &mut self,
        connection: ConnectionId,
        id: RequestId,
        outcome: Result<Option<Payload>, String>,
        turn: &mut Turn,
    ) {
        let Some(request) = self.requests.answer(connection, id) else { return };
        if outcome.as_ref().is_err_and(|text| text == DETACHED) && request.session.is_some() {
            // Chrome says so before it says that the session has ended, which clients hear first.
            let deadline = Some(turn.now + QUICK);
            return self.requests.insert(id, Request { deadline, ..request });
        }
        let outcome = match (outcome, request.needs) {
            (Ok(None), Some(feature)) => Err(self.lacks_after_all(connection, feature, turn)),
            (Ok(result), _) => Ok(result.unwrap_or_else(Payload::empty_object)),
            (Err(text), _) => Err(Error::from_extension(&text)),
        };
        self.complete_request(id, request, outcome, turn);
    }

    /// Replies to a command for which there is no room among those that wait for the extension.
    pub(crate) fn command_refused(
        &mut self,
        connection: ConnectionId,
        id: RequestId,
        turn: &mut Turn,
    ) {
        let Some(request) = self.requests.answer(connection, id) else { return };
        let error =
            Error::server("the browser does not keep up with what it is sent: send less at once");
        self.complete_request(id, request, Err(error), turn);
    }

    /// Ends the requests whose time is up.
    pub(crate) fn expire_requests(&mut self, turn: &mut Turn) {
        for (id, request) in self.requests.take_expired(turn.now) {
            let error = Error::server(match &request.session {
                Some(_) => "no answer from the tab in time: it may be frozen, or show a dialog",
                None => "no answer from the extension in time",
            });
            let connection = self.extensions.current_connection(request.connection);
            let enabled = request
                .enables()
                .map(|(extension_session, domain)| (extension_session.clone(), domain.to_owned()));
            self.complete_request(id, request, Err(error), turn);
            if let Some((extension_session, domain)) = enabled {
                // Chrome will execute the command all the same, and then this one.
                self.switch_off_unless_used(connection.target(&extension_session), &domain, turn);
            }
        }
    }

    /// Completes a request that has its answer, from the extension or because none will come. It is
    /// long because it has one arm for each purpose.
    pub(crate) fn complete_request(
        &mut self,
        id: RequestId,
        request: Request,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Some((request, mut outcome)) = self.check_restriction(request, outcome, turn) else {
            return;
        };
        let Request { connection, session, asker, purpose, .. } = request;
        let is_own = asker.is_none();
        // The tabs may belong to the next connection of the same installation by now.
        let connection = self.extensions.current_connection(connection);
        let target_ref = session.as_ref().map(|session| connection.target(session));
        match (purpose, target_ref) {
            (Purpose::AutoAttach, target_ref) => {
                if let (Err(_), Some(target_ref)) = (&outcome, target_ref) {
                    self.auto_attach_failed(target_ref, is_own, turn);
                }
                if let Some(asker) = &asker {
                    self.announce_children(&asker.session, turn);
                }
            }
            (Purpose::StartTrace, Some(target_ref)) => {
                if outcome.is_ok() {
                    self.trace_started(target_ref, asker.as_ref(), turn);
                }
            }
            (Purpose::ChangeSetting(rollback), _) => {
                if let (Err(_), Some(asker)) = (&outcome, &asker) {
                    self.roll_back(asker, rollback, turn);
                }
            }
            (Purpose::AnswerDialog, Some(target_ref)) => {
                if outcome.is_err() {
                    self.dialog_not_answered(target_ref);
                }
            }
            (Purpose::Enable { domain, attempt }, Some(target_ref)) => {
                let domain = (domain.as_str(), attempt);
                self.enabled(target_ref, domain, &outcome, asker.as_ref(), turn);
            }
            (Purpose::AddScript, Some(target_ref)) => {
                if let Ok(result) = &outcome {
                    self.script_added(target_ref, asker.as_ref(), result, turn);
                }
            }
            (Purpose::AddBreakpoint, Some(target_ref)) => {
                if let Ok(result) = &outcome {
                    self.breakpoint_added(target_ref, asker.as_ref(), result, turn);
                }
            }
            (Purpose::RunsPage { opens_data }, Some(target_ref)) => {
                if let Some(target) = self.target_mut(target_ref) {
                    target.state.last_completed_run = target.state.last_completed_run.max(id);
                    if opens_data {
                        outcome = data_urls::explained(&target.info.target_id, outcome);
                    }
                }
                self.left_restricted_page(target_ref, turn);
            }
            (Purpose::InitialTab, _) => {
                return self.initial_tab_answered(connection, outcome, turn);
            }
            (Purpose::FirstTab, _) => {
                return self.first_tab_answered(connection, outcome.err(), turn);
            }
            (Purpose::Cookies(question), _) => return self.cookie_answer(question, outcome, turn),
            (Purpose::CookieCalls(asked), _) => {
                return self.cookie_call_answered(asked, outcome, turn);
            }
            (Purpose::Window(step), _) => return self.window_answered(asker, step, outcome, turn),
            (Purpose::FileInput(command), _) => {
                return self.file_input_described(asker, command, outcome, turn);
            }
            (Purpose::Download(search), _) => {
                return self.download_found(connection, asker, search, outcome, turn);
            }
            (Purpose::CheckRestricted { number }, Some(target_ref)) => {
                self.restriction_checked(target_ref, number, &outcome, turn);
            }
            (Purpose::DeferredCommand { script: Some((session_ref, given)) }, Some(target_ref)) => {
                if let Ok(result) = &outcome {
                    self.deferred_script_added(target_ref, &session_ref, given, result, turn);
                }
            }
            (Purpose::CloseTarget, Some(target_ref)) => {
                outcome = outcome.map(|_| closed());
                if outcome.is_err()
                    && let Some(target) = self.target_mut(target_ref)
                {
                    target.closes_until = None;
                }
            }
            (Purpose::CloseAgain, Some(target_ref)) => {
                self.close_again(target_ref, turn);
            }
            (Purpose::Forward | Purpose::BlankPage | Purpose::DeferredCommand { .. }, _)
            | (
                Purpose::CloseTarget
                | Purpose::CheckRestricted { .. }
                | Purpose::CloseAgain
                | Purpose::Enable { .. }
                | Purpose::AddScript
                | Purpose::AddBreakpoint
                | Purpose::RunsPage { .. }
                | Purpose::StartTrace
                | Purpose::AnswerDialog,
                None,
            ) => {}
        }
        let Some(asker) = asker else { return };
        turn.reply(&asker, outcome);
        if let Some(session) = self.target_session_mut(&asker.session)
            && session.replies.answered(id)
        {
            self.flush_due_replies(&asker.session, turn);
        }
    }
}

/// Returns what Chrome answers when a target has closed.
pub(crate) fn closed() -> Payload {
    Payload::of(&json!({ "success": true }))
}

pub(crate) fn target_closed() -> Error {
    Error::server("Target closed")
}
