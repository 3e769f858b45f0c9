//! A session ends: what it asked for goes with it, and nothing of anybody else's.

use serde_json::json;
use shared_protocol::{CloseCode, DetachedFromTarget, Extra, SessionId, TargetId};

use crate::cdp::Error;
use crate::cdp::payload::Payload;
use crate::ids::Seat;
use crate::ids::{ClientId, ConnectionId};
use crate::requests::asker::Asker;
use crate::requests::purpose::Purpose;
use crate::sessions::model::{Kind, Session, Virtual};
use crate::sharing::tracing as trace;
use crate::targets::announce::tab_info;
use crate::targets::model::Target;
use crate::turn::Turn;
use crate::{Effect, Relay};

impl Relay {
    /// Ends a session and all below it, the lowest first, and tells their parents. One whose target
    /// has gone before it is told what that was.
    pub(crate) fn end_session(&mut self, seat: &Seat, gone: Option<&TargetId>, turn: &mut Turn) {
        let Some(client) = self.clients.get_mut(seat.client) else { return };
        let connection = client.connection;
        self.children_changed = true;
        for (session_id, session) in client.sessions.close(&seat.session) {
            let ended = Seat { client: seat.client, session: session_id };
            let target_id = match gone {
                Some(gone) if &ended == seat => Some(gone.clone()),
                Some(_) | None => self.target_id_of(connection, &session),
            };
            let mut waiting = self.requests.abandon(|waiting| waiting == &ended);
            waiting.extend(answers_that_wait(&session));
            waiting.extend(self.take_waiting(connection, &session, &ended));
            let failures = waiting.iter().map(|asker| asker.reply(Err(target_closed())));
            let trace = self.take_trace(&ended);
            self.leave_trace(connection, trace, turn);
            match session.parent.clone() {
                Some(parent) => {
                    let parent = Seat { client: seat.client, session: parent };
                    send_detached(&parent, ended.session.clone(), target_id, turn);
                    turn.effects.extend(failures);
                }
                None => {
                    turn.effects.extend(failures);
                    let reason = "the page has gone".to_owned();
                    turn.close_client(seat.client, CloseCode::Normal, reason);
                }
            }
            self.undo(connection, &ended, session, turn);
        }
    }

    /// A real session has ended, with all below it. Clients hear so before the commands that were
    /// waiting fail: Playwright takes a command that fails first for a mistake of the caller's.
    pub(crate) fn detached(&mut self, connection: ConnectionId, real: &SessionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let gone = extension.targets.detach(real);
        for (index, target) in gone.iter().enumerate() {
            let (closing, ended): (Vec<_>, Vec<_>) = self
                .requests
                .end(|request| {
                    request.connection == connection
                        && request.session.as_ref() == Some(&target.session)
                })
                .into_iter()
                .partition(|(_, request)| matches!(request.purpose, Purpose::CloseTarget));
            for (id, request) in closing {
                let success = Ok(closed());
                self.conclude(id, request, success, turn);
            }
            for seat in &target.seats {
                self.end_session(seat, Some(&target.info.target_id), turn);
            }
            for (id, request) in ended {
                self.conclude(id, request, Err(target_closed()), turn);
            }
            for waiting in target.shared.domains.values().flat_map(|known| &known.waiting) {
                turn.effects.push(waiting.asker().reply(Err(target_closed())));
            }
            // A service worker may be there once more, below another frame of the same page.
            let is_last =
                gone[index + 1..].iter().all(|other| other.info.target_id != target.info.target_id);
            if is_last {
                self.announce_destroyed(connection, target, &target.info, turn);
            }
            self.end_tab(connection, target, turn);
        }
        self.announce_successors(connection, &gone, turn);
        self.children_changed = true;
        self.tabs_changed = true;
        self.revision += 1;
    }

    /// The tab around a page that has gone goes after it.
    fn end_tab(&mut self, connection: ConnectionId, page: &Target, turn: &mut Turn) {
        let Some(info) = tab_info(page) else { return };
        for seat in self.clients.seats(connection, |session| session.is_tab_of(&page.session)) {
            self.end_session(&seat, Some(&info.target_id), turn);
        }
        self.announce_destroyed(connection, page, &info, turn);
    }

    /// A service worker whose page has gone may be told of by another page.
    fn announce_successors(&mut self, connection: ConnectionId, gone: &[Target], turn: &mut Turn) {
        for worker in gone.iter().filter(|target| target.is_service_worker()) {
            let extension = self.extensions.get(connection);
            let heir = extension
                .and_then(|it| it.targets.by_target_id(&worker.info.target_id))
                .map(|heir| heir.session.clone());
            if let Some(heir) = heir {
                self.announce_service_worker(connection, &heir, turn);
            }
        }
    }

    /// Ends the sessions that auto-attach opened below one.
    pub(crate) fn end_automatic_children(&mut self, parent: &Seat, turn: &mut Turn) {
        let Some(client) = self.clients.get(parent.client) else { return };
        let is_child = |session: &Session| {
            session.automatic && session.parent.as_ref() == Some(&parent.session)
        };
        for session in client.sessions.such(is_child) {
            self.end_session(&Seat { client: parent.client, session }, None, turn);
        }
    }

    pub(crate) fn all_clients_leave(&mut self, turn: &mut Turn) {
        let clients: Vec<ClientId> = self.clients.iter().map(|(id, _)| id).collect();
        for client in clients {
            self.client_left(client, turn);
        }
    }

    /// Forgets a client, and what it asked for.
    pub(crate) fn client_left(&mut self, id: ClientId, turn: &mut Turn) {
        let Some(mut client) = self.clients.remove(id) else { return };
        self.requests.abandon(|seat| seat.client == id);
        self.cookie_jobs.forget(id);
        self.children_changed = true;
        let connection = client.connection;
        self.leave_trace(connection, client.trace.take(), turn);
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.targets.iter_mut().for_each(|target| target.unhide_from(id));
            let is_gone = |effect: &Effect| matches!(effect, Effect::SendToClient { client, .. } if *client == id);
            extension.interrupted.retain(|answer| !is_gone(answer));
        }
        for (session_id, session) in client.sessions.close(&SessionId::new("")) {
            let ended = Seat { client: id, session: session_id };
            self.take_waiting(connection, &session, &ended);
            self.undo(connection, &ended, session, turn);
        }
        if !client.permissions.is_empty() {
            self.apply_permissions(connection, None, Purpose::Forward, turn);
        }
        self.revision += 1;
    }

    /// Undoes what a session did to its target, if there still is one.
    fn undo(&mut self, connection: ConnectionId, seat: &Seat, session: Session, turn: &mut Turn) {
        let Kind::Target(mut gone) = session.kind else { return };
        let real = gone.real.clone();
        let Some(target) = self.target_mut(connection, &real) else { return };
        target.seats.retain(|other| other != seat);
        self.leave_dialog(connection, &real, seat.client, turn);
        if gone.fetch.is_some() {
            self.leave_fetch(connection, &real, seat, turn);
        }
        if session.auto_attach.is_some() {
            self.leave_children(connection, &real, turn);
        }
        self.resume_unless_held(connection, &real, turn);
        self.leave_scripts(connection, &real, &gone, turn);
        self.leave_stops(connection, &real, std::mem::take(&mut gone.stops), turn);
        let breakpoints = std::mem::take(&mut gone.breakpoints);
        self.leave_debugger(connection, &real, seat, breakpoints, turn);
        self.leave_overrides(connection, &real, &gone.overrides, turn);
        self.leave_switches(connection, &real, &mut gone, turn);
    }

    fn leave_switches(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        gone: &mut Virtual,
        turn: &mut Turn,
    ) {
        if let Some(watching) = gone.screencast.take() {
            self.leave_screencast(connection, real, watching, turn);
        }
        if gone.tracing {
            self.tell_target(connection, real, trace::END, None, turn);
        }
        if gone.lifecycle && !self.over(connection, real).any(|on| on.lifecycle) {
            let off = Some(Payload::of(&serde_json::json!({ "enabled": false })));
            self.tell_target(connection, real, "Page.setLifecycleEventsEnabled", off, turn);
        }
        for domain in &gone.wanted_domains() {
            // Others may wait for an answer that is on its way to the one who left.
            let is_pending = self.target(connection, real).is_some_and(|target| {
                target.shared.domains.get(domain).is_some_and(|known| known.result.is_none())
            });
            if !is_pending {
                self.switch_off_unless_used(connection, real, domain, turn);
            }
        }
    }

    /// Those of a session that wait for a domain which another one switches on.
    fn take_waiting(
        &mut self,
        connection: ConnectionId,
        session: &Session,
        seat: &Seat,
    ) -> Vec<Asker> {
        let target = session.real().and_then(|real| self.target_mut(connection, real));
        let domains = target.map(|target| target.shared.domains.values_mut()).into_iter().flatten();
        let waiting = domains.map(|domain| &mut domain.waiting);
        waiting
            .flat_map(|all| all.extract_if(.., |later| &later.asker().seat == seat))
            .map(|later| later.asker().clone())
            .collect()
    }

    /// What a session is attached to, as long as that is there.
    pub(crate) fn target_id_of(
        &self,
        connection: ConnectionId,
        session: &Session,
    ) -> Option<TargetId> {
        match &session.kind {
            Kind::Target(on) => {
                self.target(connection, &on.real).map(|it| it.info.target_id.clone())
            }
            Kind::Tab { page } => self.target(connection, page)?.tab.clone(),
            Kind::Browser => Some(self.browser_id.clone()),
        }
    }
}

/// What Chrome answers when a target has closed.
pub(crate) fn closed() -> Payload {
    Payload::of(&json!({ "success": true }))
}

/// Returns those for whom an answer of ours waits for one of Chrome's.
fn answers_that_wait(session: &Session) -> Vec<Asker> {
    match &session.kind {
        Kind::Target(on) => on.later.iter().map(|later| later.asker().clone()).collect(),
        Kind::Browser | Kind::Tab { .. } => Vec::new(),
    }
}

fn target_closed() -> Error {
    Error::server("Target closed")
}

fn send_detached(
    parent: &Seat,
    session_id: SessionId,
    target_id: Option<TargetId>,
    turn: &mut Turn,
) {
    let extra = Extra::<Payload>::default();
    let detached = DetachedFromTarget { session_id, target_id, extra };
    turn.event(parent, "Target.detachedFromTarget", &detached);
}
