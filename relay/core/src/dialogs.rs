//! A dialog of a page goes to one client: whoever works with the page. Otherwise a client that
//! does not care would dismiss what another is about to accept. All of that client's sessions hear
//! of it, because only the client knows which of them it listens on.

use serde_json::json;
use shared_protocol::SessionId;

use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::targets::Target;
use super::turn::Turn;
use super::{ClientId, ConnectionId, Relay};
use crate::cdp::Command;
use crate::payload::Payload;

const OPENING: &str = "Page.javascriptDialogOpening";

#[derive(Debug)]
pub(crate) struct Dialog {
    event: Payload,
    holder: Option<ClientId>,
    is_answered: bool,
}

impl Dialog {
    /// Whether no client has been told of it.
    pub(super) fn is_unclaimed(&self) -> bool {
        self.holder.is_none()
    }
}

impl Target {
    /// Whether a page opened it.
    pub(super) fn is_popup(&self) -> bool {
        self.parent.is_none() && self.info.opener_id.is_some()
    }

    /// Whether a client had better not look at it: it answers nothing and is not the client's yet.
    pub(super) fn is_blocked_for(&self, client: ClientId) -> bool {
        self.is_silent() && !self.seats.iter().any(|seat| seat.client == client)
    }

    /// Forgets a client from whom it was kept.
    pub(super) fn unhide_from(&mut self, client: ClientId) {
        self.hidden_from.retain(|seat| seat.client != client);
    }

    /// Keeps one who begins to follow targets from it until it answers.
    pub(super) fn hide_from(&mut self, seat: &Seat) {
        if self.is_silent() && !self.hidden_from.contains(seat) {
            self.hidden_from.push(seat.clone());
        }
    }
}

impl Relay {
    pub(super) fn dialog_opened(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        event: Payload,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let page = target.shared.domains.get("Page");
        if target.is_popup() && page.is_some_and(|known| known.result.is_none()) {
            return self.dismiss(connection, real, turn);
        }
        target.shared.dialog = Some(Dialog { event, holder: None, is_answered: false });
        self.hand_over_dialog(connection, real, turn);
    }

    /// Dismisses a dialog that a popup opened while a client was being told of the page: Playwright
    /// handles dialogs only when it has the answers that the dialog holds up.
    pub(super) fn dismiss(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let Some(target) = self.target_mut(connection, real) else { return };
        target.shared.dialog = None;
        let params = Payload::of(&json!({ "accept": false }));
        let command = ("Page.handleJavaScriptDialog", Some(params));
        self.ask(connection, None, Some(real), command, Purpose::AnswerDialog, turn);
    }

    pub(super) fn dialog_closed(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        if target.shared.dialog.take().is_some() {
            self.announce_hidden(connection, real, turn);
        }
    }

    /// A tab answers again: whoever could not look at it is told of it.
    pub(super) fn announce_hidden(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        turn: &mut Turn,
    ) {
        let target = self.target_mut(connection, real);
        let Some(target) = target.filter(|target| !target.is_silent()) else { return };
        for seat in std::mem::take(&mut target.hidden_from) {
            self.announce_late(&seat, connection, real, turn);
        }
        self.announce_tab(connection, real, turn);
    }

    /// Gives a dialog that nobody has to the client that is most concerned, if there is one.
    fn hand_over_dialog(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let holder = self.most_concerned(connection, real);
        for seat in self.listening(connection, real) {
            if Some(seat.client) == holder {
                self.offer_dialog(&seat, turn);
            }
        }
    }

    /// The client that waits for what the page runs, else the one that used it last.
    fn most_concerned(&self, connection: ConnectionId, real: &SessionId) -> Option<ClientId> {
        let last_run = self.target(connection, real)?.shared.last_run;
        let runner = self.requests.runner(connection, real, last_run).map(|seat| seat.client);
        self.listening(connection, real)
            .into_iter()
            .max_by_key(|seat| {
                let last_active = self.virtual_of(seat).map(|on| on.last_active);
                (runner == Some(seat.client), last_active)
            })
            .map(|seat| seat.client)
    }

    /// The sessions that hear of dialogs.
    fn listening(&self, connection: ConnectionId, real: &SessionId) -> Vec<Seat> {
        let seats = self.target(connection, real).map(|target| target.seats.as_slice());
        let listens =
            |seat: &&Seat| self.virtual_of(seat).is_some_and(|on| on.domains.contains("Page"));
        seats.unwrap_or_default().iter().filter(listens).cloned().collect()
    }

    pub(super) fn handle_dialog(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let Some(target) = self.target_under_mut(seat) else { return };
        let real = target.session.clone();
        match &mut target.shared.dialog {
            Some(dialog) if dialog.is_answered => {
                turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
            }
            dialog => {
                if let Some(dialog) = dialog {
                    dialog.is_answered = true;
                }
                self.forward(seat, command, &real, Purpose::AnswerDialog, turn);
            }
        }
    }

    /// Chrome did not take an answer; the dialog waits for another.
    pub(super) fn dialog_not_answered(&mut self, connection: ConnectionId, real: &SessionId) {
        let target = self.target_mut(connection, real);
        if let Some(dialog) = target.and_then(|target| target.shared.dialog.as_mut()) {
            dialog.is_answered = false;
        }
    }

    /// Shows an open dialog to a session that has begun to listen, unless another client has it.
    pub(super) fn offer_dialog(&mut self, seat: &Seat, turn: &mut Turn) {
        let Some(target) = self.target_under_mut(seat) else { return };
        if let Some(dialog) = &mut target.shared.dialog
            && dialog.holder.is_none_or(|holder| holder == seat.client)
        {
            turn.raw_event(seat, OPENING.to_owned(), Some(dialog.event.clone()));
            dialog.holder = Some(seat.client);
        }
    }

    /// A session listens no more: when it was its client's last, an open dialog goes to the next.
    pub(super) fn leave_dialog(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        client: ClientId,
        turn: &mut Turn,
    ) {
        if self.listening(connection, real).iter().any(|seat| seat.client == client) {
            return;
        }
        let Some(target) = self.target_mut(connection, real) else { return };
        let Some(dialog) = &mut target.shared.dialog else { return };
        if dialog.holder == Some(client) && !dialog.is_answered {
            dialog.holder = None;
            self.hand_over_dialog(connection, real, turn);
        }
    }
}
