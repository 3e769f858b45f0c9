//! Who waits for which reply of which extension.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use shared_protocol::{RequestId, SessionId};

use super::{Asker, ConnectionId};

/// How long a command may take that has no reason to take long.
pub(crate) const QUICK: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Requests {
    last_id: i64,
    pending: BTreeMap<RequestId, Request>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) connection: ConnectionId,
    /// The real session it went to, whose end is its end.
    pub(crate) session: Option<SessionId>,
    /// Who gets the reply.
    pub(crate) asker: Asker,
    pub(crate) purpose: Purpose,
    pub(crate) deadline: Option<Instant>,
}

/// What a command is to the relay, beyond something to pass on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Nothing.
    Any,
    /// Its answer comes after the children that are there already.
    AutoAttach,
    /// The end of its target is its success.
    CloseTarget,
}

impl Purpose {
    pub(crate) fn of(method: &str) -> Self {
        match method {
            "Target.setAutoAttach" => Self::AutoAttach,
            "Target.closeTarget" => Self::CloseTarget,
            _ => Self::Any,
        }
    }
}

impl Requests {
    pub(crate) fn add(&mut self, request: Request) -> RequestId {
        let id = self.unasked();
        self.pending.insert(id, request);
        id
    }

    /// An id for a command whose answer nobody waits for.
    pub(crate) fn unasked(&mut self) -> RequestId {
        self.last_id += 1;
        RequestId(self.last_id)
    }

    /// The request that a reply of this connection answers; a late or foreign reply answers none.
    pub(crate) fn answer(&mut self, connection: ConnectionId, id: RequestId) -> Option<Request> {
        match self.pending.get(&id) {
            Some(request) if request.connection == connection => self.pending.remove(&id),
            Some(_) | None => None,
        }
    }

    /// Takes out, oldest first, every request that `ends` says has ended.
    pub(crate) fn end(&mut self, mut ends: impl FnMut(&Request) -> bool) -> Vec<Request> {
        self.pending
            .extract_if(.., |_, request| ends(request))
            .map(|(_, request)| request)
            .collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.pending.values().filter_map(|request| request.deadline).min()
    }
}

/// Whether a command is one that answers at once unless its tab is frozen. An evaluation or a
/// navigation may rightly take for ever.
pub(crate) fn is_quick(method: &str) -> bool {
    method.ends_with(".enable")
        || method.ends_with(".disable")
        || matches!(
            method,
            "Page.getFrameTree"
                | "Page.setLifecycleEventsEnabled"
                | "Page.addScriptToEvaluateOnNewDocument"
                | "Target.setAutoAttach"
                | "Target.getTargetInfo"
        )
}
