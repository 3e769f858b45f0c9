//! A dialog of a page goes to one session: whoever works with the page. Otherwise a client that
//! does not care would dismiss what another is about to accept.

use shared_protocol::SessionId;

use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::cdp::Command;
use crate::payload::Payload;

const OPENING: &str = "Page.javascriptDialogOpening";

#[derive(Debug)]
pub(crate) struct Dialog {
    event: Payload,
    holder: Option<Seat>,
    is_answered: bool,
}

impl Relay {
    pub(super) fn dialog_opened(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        event: Payload,
        turn: &mut Turn,
    ) {
        let holder = self.most_concerned(connection, real);
        if let Some(holder) = &holder {
            turn.raw_event(holder, OPENING.to_owned(), Some(event.clone()));
        }
        let Some(target) = self.target_mut(connection, real) else { return };
        target.shared.dialog = Some(Dialog { event, holder, is_answered: false });
    }

    /// The session that waits for what the page runs, else the one that used it last.
    fn most_concerned(&self, connection: ConnectionId, real: &SessionId) -> Option<Seat> {
        let target = self.target(connection, real)?;
        let runner = self.requests.runner(real, target.shared.last_run);
        target
            .seats
            .iter()
            .filter_map(|seat| Some((seat, self.virtual_of(seat)?)))
            .filter(|(_, on)| on.domains.contains("Page"))
            .max_by_key(|(seat, on)| (runner == Some(*seat), on.last_active))
            .map(|(seat, _)| seat.clone())
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
                self.forward(seat, command, &real, Purpose::Forward, turn);
            }
        }
    }

    /// Shows a dialog that nobody has to a session that has begun to listen.
    pub(super) fn offer_dialog(&mut self, seat: &Seat, turn: &mut Turn) {
        let Some(target) = self.target_under_mut(seat) else { return };
        if let Some(dialog) = &mut target.shared.dialog
            && dialog.holder.is_none()
        {
            turn.raw_event(seat, OPENING.to_owned(), Some(dialog.event.clone()));
            dialog.holder = Some(seat.clone());
        }
    }

    /// A session has ended: its open dialog goes to the next.
    pub(super) fn leave_dialog(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        seat: &Seat,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let Some(dialog) = &mut target.shared.dialog else { return };
        if dialog.holder.as_ref() == Some(seat) && !dialog.is_answered {
            dialog.holder = None;
            if let Some(next) = self.most_concerned(connection, real) {
                self.offer_dialog(&next, turn);
            }
        }
    }
}
