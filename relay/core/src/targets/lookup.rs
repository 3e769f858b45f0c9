//! Looks up things by their ids: the target of a session, the sessions over a target, targets by
//! their ids.

use shared_protocol::TargetId;

use crate::Relay;
use crate::cdp::Error;
use crate::ids::{ConnectionId, ExtensionSessionId, SessionRef, TargetRef};
use crate::sessions::model::{Kind, Session, TargetSession};
use crate::targets::model::Target;

impl Relay {
    pub(crate) fn target_session(&self, session_ref: &SessionRef) -> Option<&TargetSession> {
        match &self.clients.session(session_ref)?.kind {
            Kind::Target(session) => Some(session),
            Kind::Browser | Kind::Tab { .. } => None,
        }
    }

    pub(crate) fn target_session_mut(
        &mut self,
        session_ref: &SessionRef,
    ) -> Option<&mut TargetSession> {
        match &mut self.clients.session_mut(session_ref)?.kind {
            Kind::Target(session) => Some(session),
            Kind::Browser | Kind::Tab { .. } => None,
        }
    }

    /// Returns the other sessions over the same target.
    pub(crate) fn other_sessions<'a>(
        &'a self,
        session_ref: &'a SessionRef,
    ) -> impl Iterator<Item = &'a TargetSession> + 'a {
        let sessions = self.target_under(session_ref).map(|target| target.sessions.as_slice());
        sessions
            .unwrap_or_default()
            .iter()
            .filter(move |other| *other != session_ref)
            .filter_map(|other| self.target_session(other))
    }

    /// Returns all sessions over a target, oldest first.
    pub(crate) fn sessions_on<'a>(
        &'a self,
        target_ref: TargetRef<'_>,
    ) -> impl Iterator<Item = &'a TargetSession> + 'a {
        let sessions = self.target(target_ref).map(|target| target.sessions.as_slice());
        sessions
            .unwrap_or_default()
            .iter()
            .filter_map(|session_ref| self.target_session(session_ref))
    }

    pub(crate) fn target(&self, target_ref: TargetRef<'_>) -> Option<&Target> {
        self.extensions.get(target_ref.connection)?.targets.by_session(target_ref.session)
    }

    pub(crate) fn target_mut(&mut self, target_ref: TargetRef<'_>) -> Option<&mut Target> {
        self.extensions.get_mut(target_ref.connection)?.targets.by_session_mut(target_ref.session)
    }

    /// Returns the target of a session.
    pub(crate) fn target_under(&self, session_ref: &SessionRef) -> Option<&Target> {
        let connection = self.connection_of(session_ref)?;
        self.target(connection.target(&self.target_session(session_ref)?.extension_session))
    }

    pub(crate) fn target_under_mut(&mut self, session_ref: &SessionRef) -> Option<&mut Target> {
        let connection = self.connection_of(session_ref)?;
        let extension_session = self.target_session(session_ref)?.extension_session.clone();
        self.target_mut(connection.target(&extension_session))
    }

    /// Returns the session that a client would be attached to by a target's id.
    pub(crate) fn target_by_id(
        &self,
        session_ref: &SessionRef,
        id: &TargetId,
    ) -> Result<&Target, Error> {
        self.connection_of(session_ref)
            .and_then(|connection| self.extensions.get(connection)?.targets.by_target_id(id))
            .filter(|target| self.is_visible_to(session_ref, target))
            .ok_or_else(no_such_target)
    }

    /// Returns the page in the tab that is known to clients by this id.
    pub(crate) fn tab_by_id(&self, session_ref: &SessionRef, id: &TargetId) -> Option<&Target> {
        let tab = self.extension_of(session_ref).and_then(|it| it.targets.by_tab_id(id));
        tab.filter(|page| self.is_visible_to(session_ref, page))
    }

    /// Returns whether the client of a session may know of a target of its extension.
    pub(crate) fn is_visible_to(&self, session_ref: &SessionRef, target: &Target) -> bool {
        self.connection_of(session_ref).is_some_and(|connection| {
            self.sees(session_ref.client, connection.target(&target.session))
        })
    }

    /// Returns the page with this id, or in the tab with this id: the extension's session of it,
    /// and its own id.
    pub(crate) fn page_by_id(
        &self,
        session_ref: &SessionRef,
        id: &TargetId,
    ) -> Result<(ExtensionSessionId, TargetId), Error> {
        let tab = self.tab_by_id(session_ref, id);
        let target = match tab {
            Some(target) => target,
            None => self.target_by_id(session_ref, id)?,
        };
        Ok((target.session.clone(), target.info.target_id.clone()))
    }

    /// Returns what a session is attached to, as long as that is there.
    pub(crate) fn target_id_of(
        &self,
        connection: ConnectionId,
        session: &Session,
    ) -> Option<TargetId> {
        match &session.kind {
            Kind::Target(session) => self
                .target(connection.target(&session.extension_session))
                .map(|it| it.info.target_id.clone()),
            Kind::Tab { page } => self.target(connection.target(page))?.tab.clone(),
            Kind::Browser => Some(self.browser_id.clone()),
        }
    }
}

pub(crate) fn no_such_target() -> Error {
    Error::new(-32602, "No target with given id found")
}
