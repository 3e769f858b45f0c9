//! A client connects, and is given an extension.

use std::collections::BTreeSet;

use shared_protocol::{CloseCode, Feature, TargetId};

use crate::Relay;
use crate::confinement::Confinement;
use crate::ids::{ClientId, SessionRef};
use crate::peers::clients::Client;
use crate::sessions::model::{Kind, Sessions};
use crate::turn::Turn;

/// How many clients may be connected.
pub const MAX_CLIENTS: usize = 256;

/// How many of the clients may be of one agent's session; its code could open any number.
pub(crate) const MAX_CONFINED: usize = 4;

impl Relay {
    pub(crate) fn has_too_many_connections(&self, confinement: Option<&Confinement>) -> bool {
        let is_same = |client: &Client| client.confinement.as_ref() == confinement;
        confinement.is_some()
            && self.clients.iter().filter(|(_, it)| is_same(it)).count() >= MAX_CONFINED
    }

    pub(crate) fn client_connected(
        &mut self,
        client: ClientId,
        name: Option<String>,
        extension: Option<&str>,
        page: Option<TargetId>,
        separate_window: Option<bool>,
        turn: &mut Turn,
    ) {
        if self.clients.count() >= MAX_CLIENTS {
            let reason = format!("{MAX_CLIENTS} clients are connected already");
            return turn.close_client(client, CloseCode::DuplicateClient, reason);
        }
        if let Some(name) = &name
            && self.clients.has_name(name)
        {
            let reason = "a client with this id is connected already".to_owned();
            return turn.close_client(client, CloseCode::DuplicateClient, reason);
        }
        let chosen = match &page {
            Some(page) => self
                .extensions
                .with_target(page)
                .ok_or_else(|| "no such page: see /json/list".to_owned()),
            None => self.extensions.choose(extension).map(|connection| (connection, Kind::Browser)),
        };
        let (connection, root) = match chosen {
            Ok(chosen) => chosen,
            Err(reason) => return turn.close_client(client, CloseCode::NoSuchExtension, reason),
        };
        let real = root.real().cloned();
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
                confinement: None,
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
        if let Some(real) = real
            && let Some(target) = self.target_mut(connection, &real)
        {
            target.sessions.push(SessionRef::root(client));
        }
    }
}
