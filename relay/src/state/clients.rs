//! The connected CDP clients.

use std::collections::BTreeMap;

use shared_protocol::SessionId;

use super::sessions::{BrowserSession, Kind, Sessions};
use super::{ClientId, ConnectionId};

#[derive(Debug, Default)]
pub(crate) struct Clients(BTreeMap<ClientId, Client>);

#[derive(Debug)]
pub(crate) struct Client {
    /// The name it chose in its URL; no two clients share one.
    pub(crate) name: Option<String>,
    /// The extension it drives.
    pub(crate) connection: ConnectionId,
    /// What it asked for on the socket itself.
    pub(crate) root: BrowserSession,
    pub(crate) sessions: Sessions,
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

    pub(crate) fn rebind(&mut self, from: ConnectionId, to: ConnectionId) {
        for client in self.0.values_mut().filter(|client| client.connection == from) {
            client.connection = to;
        }
    }
}

impl Client {
    /// What was asked for on a browser-level session; `None` is the socket's root.
    pub(crate) fn browser_session(
        &mut self,
        session: Option<&SessionId>,
    ) -> Option<&mut BrowserSession> {
        match session {
            None => Some(&mut self.root),
            Some(id) => match &mut self.sessions.get_mut(id)?.kind {
                Kind::Browser(browser) => Some(browser),
                Kind::Target { .. } => None,
            },
        }
    }

    /// The browser-level sessions for which `asked` holds, the root first.
    pub(crate) fn browser_sessions(
        &self,
        asked: impl Fn(&BrowserSession) -> bool,
    ) -> Vec<Option<SessionId>> {
        let root = asked(&self.root).then_some(None);
        let others = self.sessions.iter().filter_map(|(id, session)| match &session.kind {
            Kind::Browser(browser) if asked(browser) => Some(Some(id.clone())),
            Kind::Browser(_) | Kind::Target { .. } => None,
        });
        root.into_iter().chain(others).collect()
    }
}
