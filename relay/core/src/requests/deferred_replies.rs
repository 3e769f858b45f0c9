//! Replies of the relay that must not overtake replies of Chrome.
//!
//! A client may take events only after an earlier answer: Playwright listens for execution contexts
//! once it has the frame tree. What the relay replays by itself waits until Chrome has answered what
//! the same session asked before. Only quick commands are waited for; an evaluation may take for
//! ever.

use std::collections::{BTreeSet, VecDeque};

use shared_protocol::RequestId;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::ids::SessionRef;
use crate::turn::Turn;

#[derive(Debug)]
pub(crate) struct DeferredReply {
    /// The last quick command of the session that Chrome had not answered when this was asked.
    after: RequestId,
    asker: Asker,
    answer: ReplyBody,
}

/// The body of a reply that the relay gives together with events of its own.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    /// A domain that is on already.
    Enabled(String),
    /// The reply to auto-attach that is on already.
    Children,
}

impl DeferredReply {
    pub(crate) fn asker(&self) -> &Asker {
        &self.asker
    }

    fn enables(&self, wanted: &str) -> bool {
        match &self.answer {
            ReplyBody::Enabled(domain) => domain == wanted,
            ReplyBody::Children => false,
        }
    }
}

/// The commands of one session that Chrome will answer soon, and the answers of ours that wait for
/// those.
#[derive(Debug, Default)]
pub(crate) struct DeferredReplies {
    outstanding: BTreeSet<RequestId>,
    waiting: VecDeque<DeferredReply>,
}

impl DeferredReplies {
    /// Adds a command that Chrome will answer soon.
    pub(crate) fn expect(&mut self, id: RequestId) {
        self.outstanding.insert(id);
    }

    /// Records that Chrome has answered a command; returns whether replies of the relay may have
    /// waited for it.
    pub(crate) fn answered(&mut self, id: RequestId) -> bool {
        self.outstanding.remove(&id)
    }

    /// Returns those who wait.
    pub(crate) fn askers(&self) -> Vec<Asker> {
        self.waiting.iter().map(|deferred| deferred.asker().clone()).collect()
    }

    /// Returns whether one of them says that a domain is on.
    pub(crate) fn enable(&self, domain: &str) -> bool {
        self.waiting.iter().any(|deferred| deferred.enables(domain))
    }

    /// Returns those whom it has not yet been answered that a domain is on.
    pub(crate) fn take_enables(&mut self, domain: &str) -> Vec<Asker> {
        let all = std::mem::take(&mut self.waiting);
        let (taken, rest): (VecDeque<DeferredReply>, _) =
            all.into_iter().partition(|it| it.enables(domain));
        self.waiting = rest;
        taken.into_iter().map(|deferred| deferred.asker).collect()
    }

    /// Returns the domains that they say are on.
    pub(crate) fn domains(&self) -> impl Iterator<Item = &String> {
        self.waiting.iter().filter_map(|deferred| match &deferred.answer {
            ReplyBody::Enabled(domain) => Some(domain),
            ReplyBody::Children => None,
        })
    }

    fn next_due(&mut self) -> Option<DeferredReply> {
        let first_open = self.outstanding.first().copied();
        let is_due = |deferred: &DeferredReply| first_open.is_none_or(|open| open > deferred.after);
        let index = self.waiting.iter().position(is_due)?;
        self.waiting.remove(index)
    }
}

impl Relay {
    /// Answers when it is this answer's turn, which may be now.
    pub(crate) fn reply_in_order(&mut self, asker: Asker, answer: ReplyBody, turn: &mut Turn) {
        let deferred = self.deferred_reply(asker, answer);
        self.queue_reply(deferred, turn);
    }

    /// An answer that is not to overtake what its session waits for in this moment.
    pub(crate) fn deferred_reply(&self, asker: Asker, answer: ReplyBody) -> DeferredReply {
        let last = self
            .target_session(&asker.session)
            .and_then(|session| session.replies.outstanding.last().copied());
        DeferredReply { after: last.unwrap_or_default(), asker, answer }
    }

    pub(crate) fn queue_reply(&mut self, deferred: DeferredReply, turn: &mut Turn) {
        let session_ref = deferred.asker.session.clone();
        let Some(session) = self.target_session_mut(&session_ref) else { return };
        session.replies.waiting.push_back(deferred);
        self.flush_due_replies(&session_ref, turn);
    }

    /// Gives the answers whose turn it is: Chrome has answered what they waited for.
    pub(crate) fn flush_due_replies(&mut self, session_ref: &SessionRef, turn: &mut Turn) {
        while let Some(DeferredReply { asker, answer, .. }) =
            self.target_session_mut(session_ref).and_then(|session| session.replies.next_due())
        {
            self.reply_deferred(&asker, answer, turn);
        }
    }

    fn reply_deferred(&mut self, asker: &Asker, answer: ReplyBody, turn: &mut Turn) {
        let result = match answer {
            ReplyBody::Enabled(domain) => self.replay_once(&asker.session, &domain, turn),
            ReplyBody::Children => {
                self.announce_children(&asker.session, turn);
                Payload::empty_object()
            }
        };
        turn.reply(asker, Ok(result));
    }
}
