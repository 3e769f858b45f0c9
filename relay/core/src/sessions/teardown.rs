//! A session ends: what it asked for is released, and nothing that other sessions asked for.

use shared_protocol::{CloseCode, DetachedFromTarget, Extra, SessionId, TargetId};

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::effect::Effect;
use crate::ids::{ClientId, ClientSessionId, ConnectionId, SessionRef, TargetRef};
use crate::requests::complete::target_closed;
use crate::requests::purpose::Purpose;
use crate::sessions::model::{Kind, Session, TargetSession};
use crate::sharing::tracing;
use crate::turn::Turn;

impl Relay {
    /// Ends a session and all below it, the lowest first, and tells their parents. One whose target
    /// has gone before it is told what that was.
    pub(crate) fn end_session(
        &mut self,
        session_ref: &SessionRef,
        gone: Option<&TargetId>,
        turn: &mut Turn,
    ) {
        let Some(client) = self.clients.get_mut(session_ref.client) else { return };
        let connection = client.connection;
        self.children_changed = true;
        for (session_id, session) in client.sessions.close(&session_ref.session) {
            let ended = SessionRef { client: session_ref.client, session: session_id };
            let target_id = match gone {
                Some(gone) if &ended == session_ref => Some(gone.clone()),
                Some(_) | None => self.target_id_of(connection, &session),
            };
            let mut waiting = self.requests.drop_askers(|waiting| waiting == &ended);
            waiting.extend(answers_that_wait(&session));
            waiting.extend(self.take_waiting(connection, &session, &ended));
            let failures = waiting.iter().map(|asker| asker.reply(Err(target_closed())));
            let trace = self.take_trace(&ended);
            self.release_trace(connection, trace, turn);
            match session.parent.clone().zip(ended.on_wire()) {
                Some((parent, session_id)) => {
                    let parent = SessionRef { client: session_ref.client, session: parent };
                    send_detached(&parent, session_id, target_id, turn);
                    turn.effects.extend(failures);
                }
                None => {
                    turn.effects.extend(failures);
                    let reason = "the page has gone".to_owned();
                    turn.close_client(session_ref.client, CloseCode::Normal, reason);
                }
            }
            self.release_session(connection, &ended, session, turn);
        }
    }

    pub(crate) fn remove_all_clients(&mut self, turn: &mut Turn) {
        let clients: Vec<ClientId> = self.clients.iter().map(|(id, _)| id).collect();
        for client in clients {
            self.remove_client(client, turn);
        }
    }

    /// Forgets a client, and what it asked for.
    pub(crate) fn remove_client(&mut self, id: ClientId, turn: &mut Turn) {
        let Some(mut client) = self.clients.remove(id) else { return };
        self.requests.drop_askers(|session_ref| session_ref.client == id);
        self.cookie_queries.forget(id);
        self.children_changed = true;
        let connection = client.connection;
        self.release_trace(connection, client.trace.take(), turn);
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.targets.iter_mut().for_each(|target| target.unhide_from(id));
            let is_gone = |effect: &Effect| matches!(effect, Effect::SendToClient { client, .. } if *client == id);
            extension.interrupted.retain(|answer| !is_gone(answer));
        }
        for (session_id, session) in client.sessions.close(&ClientSessionId::Root) {
            let ended = SessionRef { client: id, session: session_id };
            self.take_waiting(connection, &session, &ended);
            self.release_session(connection, &ended, session, turn);
        }
        if !client.permissions.is_empty() {
            self.apply_permissions(connection, None, Purpose::Forward, turn);
        }
        self.revision += 1;
    }

    /// Releases what a session wanted of its target, if the target is still there.
    fn release_session(
        &mut self,
        connection: ConnectionId,
        session_ref: &SessionRef,
        session: Session,
        turn: &mut Turn,
    ) {
        let Kind::Target(mut gone) = session.kind else { return };
        let extension_session = gone.extension_session.clone();
        let Some(target) = self.target_mut(connection.target(&extension_session)) else { return };
        target.sessions.retain(|other| other != session_ref);
        self.release_dialog(connection.target(&extension_session), session_ref.client, turn);
        if gone.fetch.is_some() {
            self.release_interception(connection.target(&extension_session), session_ref, turn);
        }
        if session.auto_attach.is_some() {
            self.release_children(connection.target(&extension_session), turn);
        }
        self.resume_unless_held(connection.target(&extension_session), turn);
        self.release_scripts(
            connection.target(&extension_session),
            &gone.scripts,
            &gone.bindings,
            turn,
        );
        self.release_dom_breakpoints(
            connection.target(&extension_session),
            std::mem::take(&mut gone.dom_breakpoints),
            turn,
        );
        let breakpoints = std::mem::take(&mut gone.breakpoints);
        self.release_breakpoints(
            connection.target(&extension_session),
            session_ref,
            breakpoints,
            turn,
        );
        self.release_overrides(connection.target(&extension_session), &gone.overrides, turn);
        self.release_domains(connection.target(&extension_session), &mut gone, turn);
    }

    fn release_domains(
        &mut self,
        target_ref: TargetRef<'_>,
        gone: &mut TargetSession,
        turn: &mut Turn,
    ) {
        if let Some(watching) = gone.screencast.take() {
            self.release_screencast(target_ref, watching, turn);
        }
        if gone.tracing {
            self.send_to_target(target_ref, tracing::END, None, turn);
        }
        if gone.lifecycle && !self.sessions_on(target_ref).any(|session| session.lifecycle) {
            let off = Some(Payload::of(&serde_json::json!({ "enabled": false })));
            self.send_to_target(target_ref, "Page.setLifecycleEventsEnabled", off, turn);
        }
        for domain in &gone.wanted_domains() {
            // Others may wait for an answer that is on its way to the one who left.
            let is_pending = self.target(target_ref).is_some_and(|target| {
                target.state.domains.get(domain).is_some_and(|known| known.result.is_none())
            });
            if !is_pending {
                self.switch_off_unless_used(target_ref, domain, turn);
            }
        }
    }

    /// Returns those of a session that wait for a domain which another one switches on.
    fn take_waiting(
        &mut self,
        connection: ConnectionId,
        session: &Session,
        session_ref: &SessionRef,
    ) -> Vec<Asker> {
        let target = session
            .extension_session()
            .and_then(|extension_session| self.target_mut(connection.target(extension_session)));
        let domains = target.map(|target| target.state.domains.values_mut()).into_iter().flatten();
        let waiting = domains.map(|domain| &mut domain.waiting);
        waiting
            .flat_map(|all| all.extract_if(.., |deferred| &deferred.asker().session == session_ref))
            .map(|deferred| deferred.asker().clone())
            .collect()
    }
}

/// Returns those for whom an answer of ours waits for one of Chrome's.
fn answers_that_wait(session: &Session) -> Vec<Asker> {
    match &session.kind {
        Kind::Target(session) => session.replies.askers(),
        Kind::Browser | Kind::Tab { .. } => Vec::new(),
    }
}

fn send_detached(
    parent: &SessionRef,
    session_id: SessionId,
    target_id: Option<TargetId>,
    turn: &mut Turn,
) {
    let extra = Extra::<Payload>::default();
    let detached = DetachedFromTarget { session_id, target_id, extra };
    turn.event(parent, "Target.detachedFromTarget", &detached);
}
