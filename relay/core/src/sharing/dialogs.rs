//! A dialog of a page goes to one client: the one that works with the page. Otherwise a client could
//! dismiss what another is about to accept. All sessions of that client receive the event, because
//! only the client knows on which of them it listens.

use serde_json::json;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::ids::{ClientId, SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

const OPENING: &str = "Page.javascriptDialogOpening";

#[derive(Debug)]
pub(crate) struct Dialog {
    event: Payload,
    holder: Option<ClientId>,
    is_answered: bool,
}

impl Dialog {
    /// Returns whether no client has been told of it.
    pub(crate) fn is_unassigned(&self) -> bool {
        self.holder.is_none()
    }
}

impl Relay {
    pub(crate) fn dialog_opened(
        &mut self,
        target_ref: TargetRef<'_>,
        event: Payload,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(target_ref) else { return };
        let page = target.state.domains.get("Page");
        if target.is_popup() && page.is_some_and(|known| known.result.is_none()) {
            return self.dismiss_dialog(target_ref, turn);
        }
        target.state.dialog = Some(Dialog { event, holder: None, is_answered: false });
        self.assign_dialog(target_ref, turn);
    }

    /// Dismisses a dialog that a popup opened while a client was being told of the page: Playwright
    /// handles dialogs only when it has the answers that the dialog holds up.
    pub(crate) fn dismiss_dialog(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(target) = self.target_mut(target_ref) else { return };
        target.state.dialog = None;
        let params = Payload::of(&json!({ "accept": false }));
        let command = ("Page.handleJavaScriptDialog", Some(params));
        let (connection, session) = (target_ref.connection, Some(target_ref.session));
        self.ask(connection, None, session, command, Purpose::AnswerDialog, turn);
    }

    pub(crate) fn dialog_closed(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(target) = self.target_mut(target_ref) else { return };
        if target.state.dialog.take().is_some() {
            self.announce_hidden(target_ref, turn);
        }
    }

    /// Announces a tab that answers again to the sessions that could not attach to it.
    pub(crate) fn announce_hidden(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let target = self.target_mut(target_ref);
        let Some(target) = target.filter(|target| !target.is_unresponsive()) else { return };
        for session_ref in std::mem::take(&mut target.hidden_from) {
            self.announce_late(&session_ref, target_ref, turn);
        }
        self.announce_tab(target_ref, turn);
    }

    /// Assigns a dialog that no client has, if a client listens.
    fn assign_dialog(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let holder = self.dialog_client(target_ref);
        for session_ref in self.listening(target_ref) {
            if Some(session_ref.client) == holder {
                self.offer_dialog(&session_ref, turn);
            }
        }
    }

    /// Returns the client whose script the page runs, else the one that used the page last.
    fn dialog_client(&self, target_ref: TargetRef<'_>) -> Option<ClientId> {
        let last_completed_run = self.target(target_ref)?.state.last_completed_run;
        let running_client = self
            .requests
            .running_client(target_ref, last_completed_run)
            .map(|session_ref| session_ref.client);
        self.listening(target_ref)
            .into_iter()
            .max_by_key(|session_ref| {
                let last_active =
                    self.target_session(session_ref).map(|session| session.last_active);
                (running_client == Some(session_ref.client), last_active)
            })
            .map(|session_ref| session_ref.client)
    }

    /// Returns the sessions that receive dialog events.
    fn listening(&self, target_ref: TargetRef<'_>) -> Vec<SessionRef> {
        let sessions = self.target(target_ref).map(|target| target.sessions.as_slice());
        let listens = |session_ref: &&SessionRef| {
            self.target_session(session_ref).is_some_and(|session| session.domains.contains("Page"))
        };
        sessions.unwrap_or_default().iter().filter(listens).cloned().collect()
    }

    pub(crate) fn handle_dialog(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_under_mut(session_ref) else { return };
        let extension_session = target.session.clone();
        match &mut target.state.dialog {
            Some(dialog) if dialog.is_answered => {
                turn.ok(&Asker::new(session_ref, &command));
            }
            dialog => {
                if let Some(dialog) = dialog {
                    dialog.is_answered = true;
                }
                self.forward(session_ref, command, &extension_session, Purpose::AnswerDialog, turn);
            }
        }
    }

    /// Handles an answer that Chrome refused: the dialog waits for another.
    pub(crate) fn dialog_not_answered(&mut self, target_ref: TargetRef<'_>) {
        let target = self.target_mut(target_ref);
        if let Some(dialog) = target.and_then(|target| target.state.dialog.as_mut()) {
            dialog.is_answered = false;
        }
    }

    /// Shows an open dialog to a session that has begun to listen, unless another client has it.
    pub(crate) fn offer_dialog(&mut self, session_ref: &SessionRef, turn: &mut Turn) {
        let Some(target) = self.target_under_mut(session_ref) else { return };
        if let Some(dialog) = &mut target.state.dialog
            && dialog.holder.is_none_or(|holder| holder == session_ref.client)
        {
            turn.raw_event(session_ref, OPENING.to_owned(), Some(dialog.event.clone()));
            dialog.holder = Some(session_ref.client);
        }
    }

    /// A session listens no more: when it was its client's last, an open dialog goes to the next.
    pub(crate) fn release_dialog(
        &mut self,
        target_ref: TargetRef<'_>,
        client: ClientId,
        turn: &mut Turn,
    ) {
        if self.listening(target_ref).iter().any(|session_ref| session_ref.client == client) {
            return;
        }
        let Some(target) = self.target_mut(target_ref) else { return };
        let Some(dialog) = &mut target.state.dialog else { return };
        if dialog.holder == Some(client) && !dialog.is_answered {
            dialog.holder = None;
            self.assign_dialog(target_ref, turn);
        }
    }
}
