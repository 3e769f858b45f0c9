//! A client connects, and is given an extension.

use std::collections::BTreeSet;

use shared_protocol::{CloseCode, Feature};

use crate::Relay;
use crate::confinement::Confinement;
use crate::ids::{ClientId, SessionRef};
use crate::input::ClientHello;
use crate::peers::clients::Client;
use crate::sessions::model::{Kind, Sessions};
use crate::turn::Turn;

/// The largest number of clients that may be connected.
pub const MAX_CLIENTS: usize = 256;

/// The largest number of clients of one agent session; its code could open any number.
pub(crate) const MAX_CONFINED: usize = 4;

impl Relay {
    /// Connects a client to its extension, confined from the beginning if it is to be.
    pub(crate) fn client_connected(
        &mut self,
        client: ClientId,
        hello: ClientHello,
        turn: &mut Turn,
    ) {
        if let Some((code, reason)) = self.refusal_of_client(&hello) {
            return turn.close_client(client, code, reason);
        }
        let ClientHello { name, extension, page, separate_window, confinement } = hello;
        // A confined client is not told which pages there are, and asks for none.
        let page = page.filter(|_| confinement.is_none());
        let chosen = match &page {
            Some(page) => self
                .extensions
                .with_target(page)
                .ok_or_else(|| "no such page: see /json/list".to_owned()),
            None => self
                .extensions
                .choose(extension.as_deref())
                .map(|connection| (connection, Kind::Browser)),
        };
        let (connection, root) = match chosen {
            Ok(chosen) => chosen,
            Err(reason) => return turn.close_client(client, CloseCode::NoSuchExtension, reason),
        };
        let extension_session = root.extension_session().cloned();
        let extension = self.extensions.get(connection);
        let found_extension = extension.is_some_and(|extension| extension.presence.is_connected());
        self.clients.insert(
            client,
            Client {
                name,
                connection,
                sessions: Sessions::new(root),
                is_new: true,
                found_extension,
                separate_window,
                confinement,
                unanswered: 0,
                permissions: Vec::new(),
                windows: BTreeSet::new(),
                trace: None,
            },
        );
        self.revision += 1;
        if separate_window == Some(true) {
            self.warn_if_missing(connection, Feature::WindowMode, turn);
        }
        if let Some(extension_session) = extension_session
            && let Some(target) = self.target_mut(connection.target(&extension_session))
        {
            target.sessions.push(SessionRef::root(client));
        }
    }

    /// Returns why there is no room for a client, if there is none.
    fn refusal_of_client(&self, hello: &ClientHello) -> Option<(CloseCode, String)> {
        if self.has_too_many_connections(hello.confinement.as_ref()) {
            let reason = format!("a session may have {MAX_CONFINED} connections");
            return Some((CloseCode::TooManyConnections, reason));
        }
        if self.clients.count() >= MAX_CLIENTS {
            let reason = format!("{MAX_CLIENTS} clients are connected already");
            return Some((CloseCode::TooManyClients, reason));
        }
        let is_taken = hello.name.as_ref().is_some_and(|name| self.clients.has_name(name));
        let reason = "a client with this id is connected already".to_owned();
        is_taken.then_some((CloseCode::DuplicateClient, reason))
    }

    fn has_too_many_connections(&self, confinement: Option<&Confinement>) -> bool {
        let is_same = |client: &Client| client.confinement.as_ref() == confinement;
        confinement.is_some()
            && self.clients.iter().filter(|(_, it)| is_same(it)).count() >= MAX_CONFINED
    }
}
