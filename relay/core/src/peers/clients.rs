//! The connected CDP clients.

use std::collections::{BTreeMap, BTreeSet};

use crate::cdp::payload::PermissionRule as Rule;
use crate::confinement::Confinement;
use crate::ids::{ClientId, ConnectionId, SessionRef};
use crate::sessions::model::{Session, Sessions};
use crate::sharing::tracing::Trace;

#[derive(Debug, Default)]
pub(crate) struct Clients(BTreeMap<ClientId, Client>);

#[derive(Debug)]
pub(crate) struct Client {
    /// The name it chose in its URL; no two clients share one.
    pub(crate) name: Option<String>,
    /// The extension it drives.
    pub(crate) connection: ConnectionId,
    pub(crate) sessions: Sessions,
    /// The files that it may have the browser open; all when `None`.
    pub(crate) confinement: Option<Confinement>,
    /// True until the client has sent its first command.
    pub(crate) is_new: bool,
    /// True if the client's extension was connected when the client came, and not just away.
    pub(crate) found_extension: bool,
    /// True if the client's tabs go to a window of their own; `None` if the client did not say.
    pub(crate) separate_window: Option<bool>,
    /// The number of the client's commands that have no answer yet.
    pub(crate) unanswered: usize,
    /// The permissions that pages have while the client is connected.
    pub(crate) permissions: Vec<Rule>,
    /// The windows that it was told of: those of controlled tabs.
    pub(crate) windows: BTreeSet<i64>,
    /// The trace that the client runs on a browser-level session.
    pub(crate) trace: Option<Trace>,
}

impl Clients {
    pub(crate) fn insert(&mut self, id: ClientId, client: Client) {
        self.0.insert(id, client);
    }

    pub(crate) fn remove(&mut self, id: ClientId) -> Option<Client> {
        self.0.remove(&id)
    }

    pub(crate) fn get(&self, id: ClientId) -> Option<&Client> {
        self.0.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        self.0.get_mut(&id)
    }

    pub(crate) fn session(&self, session_ref: &SessionRef) -> Option<&Session> {
        self.get(session_ref.client)?.sessions.get(&session_ref.session)
    }

    pub(crate) fn session_mut(&mut self, session_ref: &SessionRef) -> Option<&mut Session> {
        self.get_mut(session_ref.client)?.sessions.get_mut(&session_ref.session)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        self.0.iter().map(|(id, client)| (*id, client))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.0.values().any(|client| client.name.as_deref() == Some(name))
    }

    pub(crate) fn of(&self, connection: ConnectionId) -> Vec<ClientId> {
        self.0
            .iter()
            .filter(|(_, client)| client.connection == connection)
            .map(|(id, _)| *id)
            .collect()
    }

    pub(crate) fn all_of(&self, connection: ConnectionId) -> impl Iterator<Item = &Client> {
        self.0.values().filter(move |client| client.connection == connection)
    }

    /// Returns the sessions, of all clients of an extension, for which `wanted` holds.
    pub(crate) fn sessions(
        &self,
        connection: ConnectionId,
        wanted: impl Fn(&Session) -> bool,
    ) -> Vec<SessionRef> {
        self.0
            .iter()
            .filter(|(_, client)| client.connection == connection)
            .flat_map(|(id, client)| {
                let session_ref = |session| SessionRef { client: *id, session };
                client.sessions.matching(&wanted).into_iter().map(session_ref)
            })
            .collect()
    }

    pub(crate) fn rebind(&mut self, from: ConnectionId, to: ConnectionId) {
        for client in self.0.values_mut().filter(|client| client.connection == from) {
            client.connection = to;
        }
    }
}
