//! The ids of connections, clients and their sessions.

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
    pub(crate) session: ClientSessionId,
}

/// The place of a command in the order in which clients sent them: it tells what came later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommandNumber(pub(crate) u64);

/// A target of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TargetRef<'a> {
    pub(crate) connection: ConnectionId,
    /// The extension's session on the target.
    pub(crate) session: &'a ExtensionSessionId,
}

/// A session id as the extension names it: `pw-tab-1` for a tab, Chrome's own for a child.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExtensionSessionId(SessionId);

/// A session id as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClientSessionId {
    /// The socket itself.
    Root,
    /// A session that was opened on the socket.
    Opened(SessionId),
}

impl CommandNumber {
    /// Returns the number of a command that is sent in this moment.
    pub(crate) fn advance(&mut self) -> Self {
        self.0 += 1;
        *self
    }
}

impl fmt::Display for CommandNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ConnectionId {
    /// Names a target of this extension.
    pub(crate) fn target(self, session: &ExtensionSessionId) -> TargetRef<'_> {
        TargetRef { connection: self, session }
    }
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection-{}", self.0)
    }
}

impl SessionRef {
    /// Returns the socket itself.
    pub(crate) fn root(client: ClientId) -> Self {
        Self { client, session: ClientSessionId::Root }
    }

    /// Returns the id that frames carry; the socket itself has none.
    pub(crate) fn on_wire(&self) -> Option<SessionId> {
        match &self.session {
            ClientSessionId::Root => None,
            ClientSessionId::Opened(id) => Some(id.clone()),
        }
    }
}

impl From<Option<SessionId>> for ClientSessionId {
    fn from(on_wire: Option<SessionId>) -> Self {
        on_wire.map_or(Self::Root, Self::Opened)
    }
}

impl ExtensionSessionId {
    pub(crate) fn new(on_wire: SessionId) -> Self {
        Self(on_wire)
    }

    /// Returns the id that messages to the extension carry. Clients' sessions are named after it.
    pub(crate) fn on_wire(&self) -> &SessionId {
        &self.0
    }
}

impl fmt::Display for ExtensionSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ClientSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Opened(id) => id.fmt(f),
        }
    }
}
