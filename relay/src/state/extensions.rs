//! The connected extensions, and which of them serves a client.

use std::collections::BTreeMap;
use std::time::Instant;

use shared_protocol::{ExtensionHello, SessionId, StableKey, TargetId};

use super::ConnectionId;
use super::downloads::Downloads;
use super::reconnect::{Held, Presence};
use super::targets::Targets;
use crate::browser_version::BrowserVersion;

#[derive(Debug, Default)]
pub(crate) struct Extensions(BTreeMap<ConnectionId, Extension>);

#[derive(Debug)]
pub(crate) struct Extension {
    pub(crate) hello: ExtensionHello,
    pub(crate) stable_key: StableKey,
    /// The browser's own words about itself, from the handshake: every extension ever released
    /// sends it without knowing.
    pub(crate) user_agent: String,
    pub(crate) targets: Targets,
    pub(crate) downloads: Downloads,
    /// Whether a client came before all its tabs were known, and may have to get one.
    pub(crate) may_lack_tab: bool,
    /// Whether it has been asked for a first tab, for which its clients wait.
    pub(crate) opens_tab: bool,
    pub(crate) presence: Presence,
    /// What clients sent while it was away.
    pub(crate) held: Vec<Held>,
    pub(crate) next_ping: Instant,
}

impl Extension {
    pub(crate) fn version(&self) -> BrowserVersion {
        BrowserVersion::of(Some(&self.user_agent), self.hello.browser_version.as_deref())
    }
}

impl Extensions {
    pub(crate) fn insert(&mut self, connection: ConnectionId, extension: Extension) {
        self.0.insert(connection, extension);
    }

    pub(crate) fn remove(&mut self, connection: ConnectionId) -> Option<Extension> {
        self.0.remove(&connection)
    }

    pub(crate) fn get(&self, connection: ConnectionId) -> Option<&Extension> {
        self.0.get(&connection)
    }

    pub(crate) fn get_mut(&mut self, connection: ConnectionId) -> Option<&mut Extension> {
        self.0.get_mut(&connection)
    }

    /// Oldest connection first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (ConnectionId, &Extension)> {
        self.0.iter().map(|(connection, extension)| (*connection, extension))
    }

    /// Those that can be talked to, oldest connection first.
    pub(crate) fn connected(&self) -> impl DoubleEndedIterator<Item = (ConnectionId, &Extension)> {
        self.iter().filter(|(_, extension)| extension.presence.is_connected())
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ConnectionId, &mut Extension)> {
        self.0.iter_mut().map(|(connection, extension)| (*connection, extension))
    }

    /// The newest connection of an installation: while a worker reconnects, there are two.
    pub(crate) fn newest(&self, key: &StableKey) -> Option<ConnectionId> {
        self.iter()
            .rev()
            .find(|(_, extension)| &extension.stable_key == key)
            .map(|(connection, _)| connection)
    }

    /// The extension for a client: the one it names by connection or stable key, else the only
    /// one, else the only one with tabs.
    ///
    /// # Errors
    ///
    /// Says in a few words, for a close reason, what the user can do.
    pub(crate) fn choose(&self, wanted: Option<&str>) -> Result<ConnectionId, String> {
        let newest: Vec<ConnectionId> = self
            .connected()
            .filter(|(connection, extension)| {
                self.newest(&extension.stable_key) == Some(*connection)
            })
            .map(|(connection, _)| connection)
            .collect();
        if let Some(wanted) = wanted {
            return self
                .connected()
                .rev()
                .find(|(connection, extension)| {
                    connection.to_string() == wanted || extension.stable_key.as_str() == wanted
                })
                .map(|(connection, _)| connection)
                .ok_or_else(|| "no extension with this extensionId is connected".to_owned());
        }
        let with_tabs: Vec<ConnectionId> = newest
            .iter()
            .copied()
            .filter(|connection| {
                self.get(*connection).is_some_and(|e| e.targets.tabs().next().is_some())
            })
            .collect();
        match (newest.as_slice(), with_tabs.as_slice()) {
            ([], _) => Err(
                "no extension is connected: open Chrome with Playwriter and click its icon on a tab"
                    .to_owned(),
            ),
            ([only], _) | (_, [only]) => Ok(*only),
            (several, _) => Err(self.choices(several)),
        }
    }

    /// The extension that has a target, and its session of it.
    pub(crate) fn with_target(&self, id: &TargetId) -> Option<(ConnectionId, Option<SessionId>)> {
        self.connected().rev().find_map(|(connection, extension)| {
            let target = extension.targets.by_target_id(id)?;
            Some((connection, Some(target.session.clone())))
        })
    }

    /// What a client can choose from. A close reason holds 123 bytes.
    fn choices(&self, connections: &[ConnectionId]) -> String {
        let choice = |connection: &ConnectionId| {
            let browser = self.get(*connection)?.hello.browser.as_deref().unwrap_or("browser");
            Some(format!("{connection} ({browser})"))
        };
        let choices: Vec<String> = connections.iter().filter_map(choice).collect();
        format!("several browsers: add ?extensionId=, one of {}", choices.join(", "))
    }
}
