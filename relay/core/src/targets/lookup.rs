//! What is found under a session: what it asked for, its target, its extension, its neighbours.

use shared_protocol::{SessionId, TargetId};

use crate::Relay;
use crate::cdp::Error;
use crate::ids::{ConnectionId, Seat};
use crate::sessions::model::{Kind, Session, Virtual};
use crate::targets::model::Target;

impl Relay {
    pub(crate) fn virtual_of(&self, seat: &Seat) -> Option<&Virtual> {
        match &self.clients.session(seat)?.kind {
            Kind::Target(on) => Some(on),
            Kind::Browser | Kind::Tab { .. } => None,
        }
    }

    pub(crate) fn virtual_mut(&mut self, seat: &Seat) -> Option<&mut Virtual> {
        match &mut self.clients.session_mut(seat)?.kind {
            Kind::Target(on) => Some(on),
            Kind::Browser | Kind::Tab { .. } => None,
        }
    }

    /// What the other sessions over the same target asked for.
    pub(crate) fn others<'a>(&'a self, seat: &'a Seat) -> impl Iterator<Item = &'a Virtual> + 'a {
        let seats = self.target_under(seat).map(|target| target.seats.as_slice());
        seats
            .unwrap_or_default()
            .iter()
            .filter(move |other| *other != seat)
            .filter_map(|other| self.virtual_of(other))
    }

    /// What all sessions over a target asked for, oldest first.
    pub(crate) fn over<'a>(
        &'a self,
        connection: ConnectionId,
        real: &SessionId,
    ) -> impl Iterator<Item = &'a Virtual> + 'a {
        let seats = self.target(connection, real).map(|target| target.seats.as_slice());
        seats.unwrap_or_default().iter().filter_map(|seat| self.virtual_of(seat))
    }

    pub(crate) fn target(&self, connection: ConnectionId, real: &SessionId) -> Option<&Target> {
        self.extensions.get(connection)?.targets.by_session(real)
    }

    pub(crate) fn target_mut(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
    ) -> Option<&mut Target> {
        self.extensions.get_mut(connection)?.targets.by_session_mut(real)
    }

    /// The target that a session stands on.
    pub(crate) fn target_under(&self, seat: &Seat) -> Option<&Target> {
        let connection = self.connection_of(seat)?;
        self.target(connection, &self.virtual_of(seat)?.real)
    }

    pub(crate) fn target_under_mut(&mut self, seat: &Seat) -> Option<&mut Target> {
        let connection = self.connection_of(seat)?;
        let real = self.virtual_of(seat)?.real.clone();
        self.target_mut(connection, &real)
    }

    /// The session that a client would be attached to by a target's id.
    pub(crate) fn target_by_id(&self, seat: &Seat, id: &TargetId) -> Result<&Target, Error> {
        self.connection_of(seat)
            .and_then(|connection| self.extensions.get(connection)?.targets.by_target_id(id))
            .filter(|target| self.is_seen(seat, target))
            .ok_or_else(no_such_target)
    }

    /// The page in the tab that is known to clients by this id.
    pub(crate) fn tab_by_id(&self, seat: &Seat, id: &TargetId) -> Option<&Target> {
        let tab = self.extension_of(seat).and_then(|it| it.targets.by_tab_id(id));
        tab.filter(|page| self.is_seen(seat, page))
    }

    /// Returns whether the client of a session may know of a target of its extension.
    pub(crate) fn is_seen(&self, seat: &Seat, target: &Target) -> bool {
        self.connection_of(seat)
            .is_some_and(|connection| self.sees(seat.client, connection, &target.session))
    }

    /// The page with this id, or in the tab with this id: its real session and own id.
    pub(crate) fn page_by_id(
        &self,
        seat: &Seat,
        id: &TargetId,
    ) -> Result<(SessionId, TargetId), Error> {
        let tab = self.tab_by_id(seat, id);
        let target = match tab {
            Some(target) => target,
            None => self.target_by_id(seat, id)?,
        };
        Ok((target.session.clone(), target.info.target_id.clone()))
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

pub(crate) fn no_such_target() -> Error {
    Error::new(-32602, "No target with given id found")
}
