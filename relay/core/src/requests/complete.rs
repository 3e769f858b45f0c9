//! What becomes of a request when its answer is there, or will not come.

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

    /// There is no room for a command among those that wait for the extension.
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
            let undone = self.extensions.current_connection(request.connection);
            let enabled = request
                .enables()
                .map(|(extension_session, domain)| (extension_session.clone(), domain.to_owned()));
            self.complete_request(id, request, Err(error), turn);
            if let Some((extension_session, domain)) = enabled {
                // Chrome will do it all the same, and then this.
                self.switch_off_unless_used(undone.target(&extension_session), &domain, turn);
            }
        }
    }

    /// A request has its answer, from the extension or because none will come.
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
        // Its tabs may have gone over to the next connection of the same installation.
        let connection = self.extensions.current_connection(connection);
        match (purpose, session) {
            (Purpose::AutoAttach, extension_session) => {
                if let (Err(_), Some(extension_session)) = (&outcome, extension_session) {
                    self.auto_attach_failed(connection.target(&extension_session), is_own, turn);
                }
                if let Some(asker) = &asker {
                    self.announce_children(&asker.session, turn);
                }
            }
            (Purpose::StartTrace, Some(extension_session)) => {
                if outcome.is_ok() {
                    self.trace_started(connection, asker.as_ref(), extension_session, turn);
                }
            }
            (Purpose::OverrideValue(before), _) => {
                if let (Err(_), Some(asker)) = (&outcome, &asker) {
                    self.roll_back(asker, before, turn);
                }
            }
            (Purpose::AnswerDialog, Some(extension_session)) => {
                if outcome.is_err() {
                    self.dialog_not_answered(connection.target(&extension_session));
                }
            }
            (Purpose::Enable { domain, attempt }, Some(extension_session)) => {
                let domain = (domain.as_str(), attempt);
                self.enabled(
                    connection.target(&extension_session),
                    domain,
                    &outcome,
                    asker.as_ref(),
                    turn,
                );
            }
            (Purpose::AddScript, Some(extension_session)) => {
                if let Ok(result) = &outcome {
                    self.script_added(
                        connection.target(&extension_session),
                        asker.as_ref(),
                        result,
                        turn,
                    );
                }
            }
            (Purpose::AddBreakpoint, Some(extension_session)) => {
                if let Ok(result) = &outcome {
                    self.breakpoint_added(
                        connection.target(&extension_session),
                        asker.as_ref(),
                        result,
                        turn,
                    );
                }
            }
            (Purpose::RunsPage { opens_data }, Some(extension_session)) => {
                if let Some(target) = self.target_mut(connection.target(&extension_session)) {
                    target.state.last_completed_run = target.state.last_completed_run.max(id);
                    if opens_data {
                        outcome = data_urls::explained(&target.info.target_id, outcome);
                    }
                }
                self.left_restricted_page(connection.target(&extension_session), turn);
            }
            (Purpose::InitialTab, _) => {
                return self.initial_tab_answered(connection, outcome, turn);
            }
            (Purpose::FirstTab, _) => {
                return self.first_tab_answered(connection, outcome.err(), turn);
            }
            (Purpose::Cookies(question), _) => return self.cookie_answer(question, outcome, turn),
            (Purpose::CookieJar(asked), _) => {
                return self.cookie_call_answered(asked, outcome, turn);
            }
            (Purpose::Window(step), _) => return self.window_answered(asker, step, outcome, turn),
            (Purpose::FileInput(command), _) => {
                return self.file_input_described(asker, command, outcome, turn);
            }
            (Purpose::Download(search), _) => {
                return self.download_found(connection, asker, search, outcome, turn);
            }
            (Purpose::CheckRestricted { number }, Some(extension_session)) => {
                self.restriction_checked(
                    connection.target(&extension_session),
                    number,
                    &outcome,
                    turn,
                );
            }
            (
                Purpose::DeferredCommand { script: Some((session_ref, given)) },
                Some(extension_session),
            ) => {
                if let Ok(result) = &outcome {
                    self.deferred_script_added(
                        connection.target(&extension_session),
                        &session_ref,
                        given,
                        result,
                        turn,
                    );
                }
            }
            (Purpose::CloseTarget, Some(extension_session)) => {
                outcome = outcome.map(|_| closed());
                if outcome.is_err()
                    && let Some(target) = self.target_mut(connection.target(&extension_session))
                {
                    target.closes_until = None;
                }
            }
            (Purpose::CloseAgain, Some(extension_session)) => {
                self.close_again(connection.target(&extension_session), turn);
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
