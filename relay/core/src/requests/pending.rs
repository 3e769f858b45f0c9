//! Commands that went to an extension, and who waits for their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use shared_protocol::{Feature, RequestId};

use crate::asker::Asker;
use crate::ids::{ConnectionId, ExtensionSessionId, SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::requests::refusal::OnRefusal;

/// How long a command may take that has no reason to take long.
pub(crate) const QUICK: Duration = Duration::from_secs(10);

/// How many requests are kept that nobody waits for any more; the oldest go first.
const MAX_WITHOUT_ASKER: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Requests {
    last_id: i64,
    pending: BTreeMap<RequestId, Request>,
    /// When those end that have a deadline.
    deadlines: BTreeSet<(Instant, RequestId)>,
    /// Those that nobody waits for any more, and that have no end of their own.
    without_asker: BTreeSet<RequestId>,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) connection: ConnectionId,
    /// The extension's session that it went to, whose end is its end.
    pub(crate) session: Option<ExtensionSessionId>,
    /// The command that gets the reply; `None` when the relay asked for itself, or the client has gone.
    pub(crate) asker: Option<Asker>,
    pub(crate) purpose: Purpose,
    pub(crate) deadline: Option<Instant>,
    /// What the extension must have to understand it.
    pub(crate) needs: Option<Feature>,
    /// What becomes of it if Chrome takes no commands for the page that its tab shows.
    pub(crate) on_refusal: OnRefusal,
}

impl Request {
    /// A request to an extension itself, which waits for its answer for ever and belongs to nobody.
    pub(crate) fn to_extension(connection: ConnectionId, purpose: Purpose) -> Self {
        Self {
            connection,
            session: None,
            asker: None,
            purpose,
            deadline: None,
            needs: None,
            on_refusal: OnRefusal::Fails,
        }
    }

    /// A request to a target, as [`Request::to_extension`].
    pub(crate) fn to_target(target_ref: TargetRef<'_>, purpose: Purpose) -> Self {
        let session = Some(target_ref.session.clone());
        Self { session, ..Self::to_extension(target_ref.connection, purpose) }
    }

    pub(crate) fn asked_by(self, asker: impl Into<Option<Asker>>) -> Self {
        Self { asker: asker.into(), ..self }
    }

    pub(crate) fn until(self, deadline: impl Into<Option<Instant>>) -> Self {
        Self { deadline: deadline.into(), ..self }
    }

    pub(crate) fn on_refusal(self, on_refusal: OnRefusal) -> Self {
        Self { on_refusal, ..self }
    }

    /// Returns the domain that it switches on, and where.
    pub(crate) fn enables(&self) -> Option<(&ExtensionSessionId, &str)> {
        let Purpose::Enable { domain, .. } = &self.purpose else { return None };
        Some((self.session.as_ref()?, domain))
    }

    /// Takes out who waits, as a request of its own that means nothing else.
    fn split_off(&mut self) -> Self {
        self.deadline = None;
        Self {
            session: self.session.clone(),
            asker: self.asker.take(),
            ..Self::to_extension(self.connection, Purpose::Forward)
        }
    }
}

impl Requests {
    pub(crate) fn add(&mut self, request: Request) -> RequestId {
        let id = self.next_id();
        self.insert(id, request);
        id
    }

    /// As [`Requests::add`], under an id from [`Requests::next_id`].
    pub(crate) fn insert(&mut self, id: RequestId, request: Request) {
        self.deadlines.extend(request.deadline.map(|at| (at, id)));
        self.pending.insert(id, request);
    }

    /// Returns an id that no message to an extension has had.
    pub(crate) fn next_id(&mut self) -> RequestId {
        self.last_id += 1;
        RequestId(self.last_id)
    }

    /// Returns the request that a reply of this connection answers; a late or foreign reply answers
    /// none.
    pub(crate) fn answer(&mut self, connection: ConnectionId, id: RequestId) -> Option<Request> {
        if self.pending.get(&id)?.connection != connection {
            return None;
        }
        let request = self.pending.remove(&id)?;
        self.remove_deadline(id, &request);
        Some(request)
    }

    /// Takes out, soonest first, every request whose time is up. A script that Chrome has not named
    /// yet stays to be removed when it has: of its request, only who waits is taken out.
    pub(crate) fn take_expired(&mut self, now: Instant) -> Vec<(RequestId, Request)> {
        let mut late = Vec::new();
        while let Some((at, id)) = self.deadlines.first().copied()
            && at <= now
        {
            self.deadlines.remove(&(at, id));
            match self.pending.get_mut(&id) {
                Some(request) if matches!(request.purpose, Purpose::AddScript) => {
                    late.push((id, request.split_off()));
                    self.keep_without_asker(id);
                }
                Some(_) | None => late.extend(self.pending.remove_entry(&id)),
            }
        }
        late
    }

    /// Keeps a request until it is answered or its tab has gone, unless there are too many.
    fn keep_without_asker(&mut self, id: RequestId) {
        self.without_asker.insert(id);
        if self.without_asker.len() > MAX_WITHOUT_ASKER
            && let Some(oldest) = self.without_asker.pop_first()
        {
            self.pending.remove(&oldest);
        }
    }

    /// Takes out, oldest first, every request for which `ends` holds.
    pub(crate) fn take_where(
        &mut self,
        mut ends: impl FnMut(&Request) -> bool,
    ) -> Vec<(RequestId, Request)> {
        let ended: Vec<_> = self.pending.extract_if(.., |_, request| ends(request)).collect();
        for (id, request) in &ended {
            self.remove_deadline(*id, request);
        }
        ended
    }

    /// Forgets the askers of the sessions that have gone, and returns them.
    pub(crate) fn drop_askers(&mut self, gone: impl Fn(&SessionRef) -> bool) -> Vec<Asker> {
        let mut askers = Vec::new();
        let over = self.take_where(|request| match &request.asker {
            Some(asker) if gone(&asker.session) => !request.purpose.outlives_its_asker(),
            Some(_) | None => false,
        });
        askers.extend(over.into_iter().filter_map(|(_, request)| request.asker));
        let mut without_end = Vec::new();
        for (id, request) in &mut self.pending {
            if let Some(asker) = request.asker.take_if(|asker| gone(&asker.session)) {
                askers.push(asker);
                without_end.extend(request.deadline.is_none().then_some(*id));
            }
        }
        for id in without_end {
            self.keep_without_asker(id);
        }
        askers
    }

    /// Returns whether somebody waits for the answer to a command.
    pub(crate) fn is_pending(&self, id: RequestId) -> bool {
        self.pending.contains_key(&id)
    }

    /// Returns whether such a request waits for its answer.
    pub(crate) fn any(&self, matching: impl Fn(&Request) -> bool) -> bool {
        self.pending.values().any(matching)
    }

    fn remove_deadline(&mut self, id: RequestId, request: &Request) {
        self.without_asker.remove(&id);
        if let Some(at) = request.deadline {
            self.deadlines.remove(&(at, id));
        }
    }

    /// Guesses which client's script a page is running. A page runs one script at a time, so it is
    /// the oldest pending request that is newer than the last one that was completed; older ones
    /// await a promise.
    pub(crate) fn running_client(
        &self,
        target_ref: TargetRef<'_>,
        last_ended: RequestId,
    ) -> Option<&SessionRef> {
        let running = || {
            self.pending.iter().filter(|(_, request)| {
                matches!(request.purpose, Purpose::RunsPage { .. })
                    && request.connection == target_ref.connection
                    && request.session.as_ref() == Some(target_ref.session)
            })
        };
        let first = running().find(|(id, _)| **id > last_ended);
        let (_, request) = first.or_else(|| running().next_back())?;
        request.asker.as_ref().map(|asker| &asker.session)
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.pending.values()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }
}
