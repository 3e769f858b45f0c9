//! Answers of ours that must not overtake Chrome's.
//!
//! A client may take events only after an earlier answer: Playwright listens for execution contexts
//! once it has the frame tree. What the relay replays by itself waits until Chrome has answered what
//! the same session asked before. Only quick commands are waited for; an evaluation may take for
//! ever.

use std::collections::{BTreeSet, VecDeque};

use shared_protocol::RequestId;

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::ids::Seat;
use crate::requests::asker::Asker;
use crate::turn::Turn;

#[derive(Debug)]
pub(crate) struct Later {
    /// The last quick command of the session that Chrome had not answered when this was asked.
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
    pub(crate) fn asker(&self) -> &Asker {
        &self.asker
    }

    fn enables(&self, wanted: &str) -> bool {
        match &self.answer {
            LocalAnswer::Enabled(domain) => domain == wanted,
            LocalAnswer::Children => false,
        }
    }
}

/// The commands of one session that Chrome will answer soon, and the answers of ours that wait for
/// those.
#[derive(Debug, Default)]
pub(crate) struct DeferredReplies {
    outstanding: BTreeSet<RequestId>,
    waiting: VecDeque<Later>,
}

impl DeferredReplies {
    /// Adds a command that Chrome will answer soon.
    pub(crate) fn expect(&mut self, id: RequestId) {
        self.outstanding.insert(id);
    }

    /// Chrome has answered a command; returns whether answers of ours may have waited for it.
    pub(crate) fn answered(&mut self, id: RequestId) -> bool {
        self.outstanding.remove(&id)
    }

    /// Returns those who wait.
    pub(crate) fn askers(&self) -> Vec<Asker> {
        self.waiting.iter().map(|later| later.asker().clone()).collect()
    }

    /// Whether one of them says that a domain is on.
    pub(crate) fn enable(&self, domain: &str) -> bool {
        self.waiting.iter().any(|later| later.enables(domain))
    }

    /// Those whom it has not yet been answered that a domain is on.
    pub(crate) fn take_enables(&mut self, domain: &str) -> Vec<Asker> {
        let all = std::mem::take(&mut self.waiting);
        let (taken, rest): (VecDeque<Later>, _) =
            all.into_iter().partition(|it| it.enables(domain));
        self.waiting = rest;
        taken.into_iter().map(|later| later.asker).collect()
    }

    /// The domains that they say are on.
    pub(crate) fn domains(&self) -> impl Iterator<Item = &String> {
        self.waiting.iter().filter_map(|later| match &later.answer {
            LocalAnswer::Enabled(domain) => Some(domain),
            LocalAnswer::Children => None,
        })
    }

    fn next_due(&mut self) -> Option<Later> {
        let first_open = self.outstanding.first().copied();
        let is_due = |later: &Later| first_open.is_none_or(|open| open > later.after);
        let index = self.waiting.iter().position(is_due)?;
        self.waiting.remove(index)
    }
}

impl Relay {
    /// Answers when it is this answer's turn, which may be now.
    pub(crate) fn answer_in_turn(&mut self, asker: Asker, answer: LocalAnswer, turn: &mut Turn) {
        let later = self.later(asker, answer);
        self.answer_when_due(later, turn);
    }

    /// An answer that is not to overtake what its session waits for in this moment.
    pub(crate) fn later(&self, asker: Asker, answer: LocalAnswer) -> Later {
        let last =
            self.virtual_of(&asker.seat).and_then(|on| on.replies.outstanding.last().copied());
        Later { after: last.unwrap_or_default(), asker, answer }
    }

    pub(crate) fn answer_when_due(&mut self, later: Later, turn: &mut Turn) {
        let seat = later.asker.seat.clone();
        let Some(on) = self.virtual_mut(&seat) else { return };
        on.replies.waiting.push_back(later);
        self.settle(&seat, turn);
    }

    /// Gives the answers whose turn it is: Chrome has answered what they waited for.
    pub(crate) fn settle(&mut self, seat: &Seat, turn: &mut Turn) {
        while let Some(Later { asker, answer, .. }) =
            self.virtual_mut(seat).and_then(|on| on.replies.next_due())
        {
            self.answer_now(&asker, answer, turn);
        }
    }

    fn answer_now(&mut self, asker: &Asker, answer: LocalAnswer, turn: &mut Turn) {
        let result = match answer {
            LocalAnswer::Enabled(domain) => self.replay_once(&asker.seat, &domain, turn),
            LocalAnswer::Children => {
                self.announce_children(&asker.seat, turn);
                Payload::empty_object()
            }
        };
        turn.effects.push(asker.reply(Ok(result)));
    }
}
