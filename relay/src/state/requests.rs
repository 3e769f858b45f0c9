//! Commands that went to an extension, and who waits for their answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use shared_protocol::{RequestId, SessionId};

use super::cookies::Question;
use super::downloads::Search;
use super::sessions::Seat;
use super::windows::WindowStep;
use super::{ConnectionId, Effect};
use crate::cdp::{Command, Error, Frame};
use crate::payload::Payload;

/// How long a command may take that has no reason to take long.
pub(crate) const QUICK: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct Requests {
    last_id: i64,
    pending: BTreeMap<RequestId, Request>,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) connection: ConnectionId,
    /// The real session it went to, whose end is its end.
    pub(crate) session: Option<SessionId>,
    /// Who gets the reply; `None` when the relay asked for itself, or the asker has gone.
    pub(crate) asker: Option<Asker>,
    pub(crate) purpose: Purpose,
    pub(crate) deadline: Option<Instant>,
}

/// A client's command, while its answer is being found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asker {
    pub(crate) seat: Seat,
    /// The client's own id for the command.
    pub(crate) id: RequestId,
}

/// What the answer to a request is to the relay, beyond something to pass on.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// Nothing.
    Forward,
    /// It ends something that runs the page's own code, which may open a dialog.
    RunsPage,
    /// It comes after the children that are there already.
    AutoAttach,
    /// The end of its target is its success.
    CloseTarget,
    /// It says whether a domain is on, also for those who asked meanwhile.
    Enable(String),
    /// It names a script that belongs to the asker.
    AddScript,
    /// It is the first tab, for clients that found none.
    InitialTab,
    /// It is part of the cookies that a client may see.
    Cookies(Question),
    /// It describes a window in Chrome's words.
    Window(WindowStep),
    /// It says where a downloaded file is.
    Download(Search),
}

impl Asker {
    pub(crate) fn new(seat: &Seat, command: &Command) -> Self {
        Self { seat: seat.clone(), id: command.id }
    }

    pub(crate) fn reply(&self, outcome: Result<Payload, Error>) -> Effect {
        let frame = Frame::Reply { id: self.id, session: self.seat.on_wire(), outcome };
        Effect::SendToClient { client: self.seat.client, frame }
    }
}

impl Purpose {
    /// What a command that is passed on as it is means.
    pub(crate) fn of(method: &str) -> Self {
        let runs_page = method.starts_with("Input.")
            || matches!(
                method,
                "Runtime.evaluate"
                    | "Runtime.callFunctionOn"
                    | "Page.navigate"
                    | "Page.navigateToHistoryEntry"
                    | "Page.reload"
                    | "Page.close"
            );
        if runs_page { Self::RunsPage } else { Self::Forward }
    }

    /// Whether the answer matters even when nobody waits for it any more.
    pub(crate) fn outlives_its_asker(&self) -> bool {
        match self {
            Self::Enable(_) | Self::AddScript | Self::InitialTab => true,
            Self::Forward
            | Self::RunsPage
            | Self::AutoAttach
            | Self::CloseTarget
            | Self::Cookies(_)
            | Self::Window(_)
            | Self::Download(_) => false,
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
    pub(crate) fn end(
        &mut self,
        mut ends: impl FnMut(&Request) -> bool,
    ) -> Vec<(RequestId, Request)> {
        self.pending.extract_if(.., |_, request| ends(request)).collect()
    }

    /// Nobody waits any more at these seats. Gives those who did.
    pub(crate) fn abandon(&mut self, gone: impl Fn(&Seat) -> bool) -> Vec<Asker> {
        let mut askers = Vec::new();
        self.pending.retain(|_, request| match &request.asker {
            Some(asker) if gone(&asker.seat) => {
                askers.extend(request.asker.take());
                request.purpose.outlives_its_asker()
            }
            Some(_) | None => true,
        });
        askers
    }

    /// Who waits for what a page runs in this moment, as far as can be told. A page runs one thing
    /// after the other: the first that was asked after the last that has ended; what is older waits
    /// for something itself.
    pub(crate) fn runner(&self, real: &SessionId, last_ended: RequestId) -> Option<&Seat> {
        let running = || {
            self.pending.iter().filter(|(_, request)| {
                matches!(request.purpose, Purpose::RunsPage)
                    && request.session.as_ref() == Some(real)
            })
        };
        let first = running().find(|(id, _)| **id > last_ended);
        let (_, request) = first.or_else(|| running().next_back())?;
        request.asker.as_ref().map(|asker| &asker.seat)
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.pending.values()
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
