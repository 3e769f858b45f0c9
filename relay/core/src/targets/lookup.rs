//! What is found under a session: what it asked for, its target, its extension, its neighbours.

use shared_protocol::SessionId;

use crate::Relay;
use crate::ids::ConnectionId;
use crate::ids::Seat;
use crate::sessions::model::{Kind, Virtual};
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

    pub(crate) fn connection_of(&self, seat: &Seat) -> Option<ConnectionId> {
        self.clients.get(seat.client).map(|client| client.connection)
    }
}
