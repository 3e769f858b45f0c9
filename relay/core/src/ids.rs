//! What names connections, clients and their sessions.

use std::fmt;

use shared_protocol::SessionId;

/// Names one connection of an extension; a reconnect gets a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// Names one client socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// One session of one client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionRef {
    pub(crate) client: ClientId,
    /// Empty for the socket itself, as in CDP.
    pub(crate) session: SessionId,
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection-{}", self.0)
    }
}

impl SessionRef {
    /// The socket itself.
    pub(crate) fn root(client: ClientId) -> Self {
        Self { client, session: SessionId::new("") }
    }

    /// How frames name the session: not at all, for the socket itself.
    pub(crate) fn on_wire(&self) -> Option<SessionId> {
        (!self.session.as_str().is_empty()).then(|| self.session.clone())
    }
}
