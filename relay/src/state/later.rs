//! Answers of ours that must not overtake Chrome's.
//!
//! A client may take events only after an earlier answer: Playwright listens for execution contexts
//! once it has the frame tree. What the relay replays by itself waits until Chrome has answered what
//! the same session asked before. Only quick commands are waited for; an evaluation may take for
//! ever.

use shared_protocol::RequestId;

use super::Relay;
use super::requests::Asker;
use super::sessions::{Kind, Seat, Virtual};
use super::turn::Turn;
use crate::payload::Payload;

#[derive(Debug)]
pub(crate) struct Later {
    after: RequestId,
    asker: Asker,
    answer: LocalAnswer,
}

/// What the relay answers with events of its own.
#[derive(Debug)]
pub(crate) enum LocalAnswer {
    /// A domain that is on already.
    Enabled(String),
    /// Auto-attach that is on already.
    Children,
}

impl Later {
    pub(super) fn asker(&self) -> &Asker {
        &self.asker
    }
}

impl Relay {
    /// Answers when it is this answer's turn, which may be now.
    pub(super) fn answer_in_turn(&mut self, asker: Asker, answer: LocalAnswer, turn: &mut Turn) {
        let Some(on) = self.virtual_mut(&asker.seat) else { return };
        match on.outstanding.last() {
            Some(last) => {
                let after = *last;
                on.later.push_back(Later { after, asker, answer });
            }
            None => self.answer_now(&asker, answer, turn),
        }
    }

    /// Chrome has answered something: gives the answers that waited for it.
    pub(super) fn settle(&mut self, seat: &Seat, turn: &mut Turn) {
        while let Some(Later { asker, answer, .. }) =
            self.virtual_mut(seat).and_then(Virtual::next_answer)
        {
            self.answer_now(&asker, answer, turn);
        }
    }

    fn answer_now(&mut self, asker: &Asker, answer: LocalAnswer, turn: &mut Turn) {
        let result = match answer {
            LocalAnswer::Enabled(domain) => self.replay(&asker.seat, &domain, turn),
            LocalAnswer::Children => {
                self.announce_children(&asker.seat, turn);
                Payload::empty_object()
            }
        };
        turn.effects.push(asker.reply(Ok(result)));
    }

    pub(super) fn virtual_of(&self, seat: &Seat) -> Option<&Virtual> {
        match &self.clients.session(seat)?.kind {
            Kind::Target(on) => Some(on),
            Kind::Browser | Kind::Tab { .. } => None,
        }
    }

    pub(super) fn virtual_mut(&mut self, seat: &Seat) -> Option<&mut Virtual> {
        match &mut self.clients.session_mut(seat)?.kind {
            Kind::Target(on) => Some(on),
            Kind::Browser | Kind::Tab { .. } => None,
        }
    }
}

impl Virtual {
    fn next_answer(&mut self) -> Option<Later> {
        let first_open = self.outstanding.first().copied();
        self.later.pop_front_if(|later| first_open.is_none_or(|open| open > later.after))
    }
}
