//! The connected extensions, and which of them serves a client.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use shared_protocol::{ExtensionHello, Feature, Features, StableKey, TargetId};

use crate::Relay;
use crate::browser::downloads::Downloads;
use crate::cdp::payload::{PermissionRule as Rule, RelayMessage};
use crate::cdp::version::BrowserVersion;
use crate::effect::Effect;
use crate::ids::{ConnectionId, SessionRef};
use crate::peers::choice::{self, Candidate, NoChoice};
use crate::peers::reconnect::{HeldCommand, Presence};
use crate::sessions::model::{Kind, TargetSession};
use crate::targets::model::{Target, Targets};

/// The close reason that tells the user what to do about a missing extension.
pub(crate) const NO_EXTENSION: &str =
    "no extension is connected: open Chrome with Playwriter and click its icon on a tab";

const NOT_THERE: &str = "no extension with this extensionId is connected";

#[derive(Debug, Default)]
pub(crate) struct Extensions(BTreeMap<ConnectionId, Extension>);

#[derive(Debug)]
pub(crate) struct Extension {
    pub(crate) hello: ExtensionHello,
    pub(crate) features: Features,
    /// The features that were asked of the extension and that it does not have.
    pub(crate) missing_features: Features,
    pub(crate) stable_key: StableKey,
    /// True if the extension has shown that it has a key of this user's.
    pub(crate) proven: bool,
    /// The browser's own words about itself, from the handshake: every extension ever released
    /// sends it without knowing.
    pub(crate) user_agent: String,
    pub(crate) targets: Targets,
    pub(crate) downloads: Downloads,
    /// The permissions of pages, as the extension was told them last.
    pub(crate) permissions: Vec<Rule>,
    /// The profile's context, once a tab has told its name.
    pub(crate) context: Option<String>,
    /// True if a client came before all tabs of the extension were known, and may need a first tab.
    pub(crate) may_lack_tab: bool,
    /// True if the extension has been asked for a first tab, for which its clients wait.
    pub(crate) opens_tab: bool,
    pub(crate) presence: Presence,
    /// The commands that clients sent while the extension was away.
    pub(crate) held_commands: Vec<HeldCommand>,
    /// The answers to what it was asked before, which it will not give any more.
    pub(crate) interrupted: Vec<Effect>,
    /// The relay's own messages from the time while the extension was away.
    pub(crate) outgoing_queue: VecDeque<RelayMessage>,
    pub(crate) next_ping: Instant,
    /// The time of the extension's last message.
    pub(crate) last_message_at: Instant,
    /// True if the extension answers pings, which the earliest versions did not.
    pub(crate) answers_pings: bool,
}

impl Extension {
    pub(crate) fn version(&self) -> BrowserVersion {
        BrowserVersion::of(Some(&self.user_agent), self.hello.browser_version.as_deref())
    }

    /// Returns what the user is to know about it.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.missing_features.iter().map(|feature| self.too_old_for(feature)).collect()
    }

    pub(crate) fn too_old_for(&self, feature: Feature) -> String {
        let browser = self.hello.browser.as_deref().filter(|name| !name.is_empty());
        let browser = browser.unwrap_or("this browser");
        let version = self.hello.version.as_deref().filter(|version| !version.is_empty());
        let version = version.map_or_else(String::new, |version| format!(" ({version})"));
        if feature == Feature::Downloads && self.features.has(Feature::Pairing) && !self.proven {
            return format!(
                "the Playwriter extension in {browser}{version} is not paired, which {} need: run \
                 `playwriter extension install`, then click the round arrow on its card in \
                 chrome://extensions",
                feature.name()
            );
        }
        format!(
            "the Playwriter extension in {browser}{version} is too old for {}: update the extension",
            feature.name()
        )
    }
}

impl Relay {
    pub(crate) fn connection_of(&self, session_ref: &SessionRef) -> Option<ConnectionId> {
        self.clients.get(session_ref.client).map(|client| client.connection)
    }

    pub(crate) fn extension_of(&self, session_ref: &SessionRef) -> Option<&Extension> {
        self.extensions.get(self.connection_of(session_ref)?)
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

    /// Returns the extensions with their connections, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (ConnectionId, &Extension)> {
        self.0.iter().map(|(connection, extension)| (*connection, extension))
    }

    /// Returns those that can be talked to, oldest connection first.
    pub(crate) fn connected(&self) -> impl DoubleEndedIterator<Item = (ConnectionId, &Extension)> {
        self.iter().filter(|(_, extension)| extension.presence.is_connected())
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ConnectionId, &mut Extension)> {
        self.0.iter_mut().map(|(connection, extension)| (*connection, extension))
    }

    /// Returns the newest connection of an installation: while a worker reconnects, there are two.
    pub(crate) fn newest(&self, key: &StableKey) -> Option<ConnectionId> {
        self.iter()
            .rev()
            .find(|(_, extension)| &extension.stable_key == key)
            .map(|(connection, _)| connection)
    }

    /// Returns how many there are, of those that have proven themselves or of the others.
    pub(crate) fn count(&self, proven: bool) -> usize {
        self.iter().filter(|(_, extension)| extension.proven == proven).count()
    }

    /// Returns whether a new extension that has not proven itself claims to be one that has.
    pub(crate) fn is_impersonating(&self, hello: &ExtensionHello, key: &StableKey) -> bool {
        let is_same = |it: &Extension| {
            &it.stable_key == key
                || (hello.install_id.is_some() && it.hello.install_id == hello.install_id)
        };
        self.iter().any(|(_, extension)| extension.proven && is_same(extension))
    }

    /// Returns the newest connection of the installation that this one belongs to.
    pub(crate) fn current_connection(&self, connection: ConnectionId) -> ConnectionId {
        let key = self.get(connection).map(|extension| &extension.stable_key);
        key.and_then(|key| self.newest(key)).unwrap_or(connection)
    }

    /// Returns the extension for a client, by the rule of [`choice`](crate::peers::choice).
    ///
    /// # Errors
    ///
    /// Says in a few words, for a close reason, what the user can do.
    pub(crate) fn choose(&self, wanted: Option<&str>) -> Result<ConnectionId, String> {
        self.choice(wanted).map_err(|reason| match reason {
            NoChoice::NotThere => NOT_THERE.to_owned(),
            NoChoice::Nobody if wanted.is_some() => NOT_THERE.to_owned(),
            NoChoice::Nobody => NO_EXTENSION.to_owned(),
            NoChoice::Several { .. } => self.choices(),
        })
    }

    /// As [`Extensions::choose`], with the reason as a value.
    pub(crate) fn choice(&self, wanted: Option<&str>) -> Result<ConnectionId, NoChoice> {
        let (connections, candidates) = self.candidates();
        choice::choose(&candidates, wanted).map(|at| connections[at])
    }

    /// Returns all, oldest connection first.
    fn candidates<'a>(&'a self) -> (Vec<ConnectionId>, Vec<Candidate<'a>>) {
        let candidate = |extension: (&ConnectionId, &'a Extension)| {
            let (connection, extension) = extension;
            let candidate = Candidate {
                extension_id: connection.to_string(),
                stable_key: extension.stable_key.as_str(),
                is_proven: extension.proven,
                is_connected: extension.presence.is_connected(),
                has_tabs: extension.targets.tabs().next().is_some(),
            };
            (*connection, candidate)
        };
        self.0.iter().map(candidate).unzip()
    }

    /// Returns the extension that has a target, and what a session of it is.
    pub(crate) fn with_target(&self, id: &TargetId) -> Option<(ConnectionId, Kind)> {
        // Anybody can claim to have a target of this id.
        let (proven, others): (Vec<_>, Vec<_>) =
            self.connected().rev().partition(|(_, extension)| extension.proven);
        proven.into_iter().chain(others).find_map(|(connection, extension)| {
            let targets = &extension.targets;
            let page =
                |page: &Target| Kind::Target(Box::new(TargetSession::new(page.session.clone())));
            let tab = |page: &Target| Kind::Tab { page: page.session.clone() };
            let kind =
                targets.by_target_id(id).map(page).or_else(|| targets.by_tab_id(id).map(tab));
            Some((connection, kind?))
        })
    }

    /// Returns what a client can choose from. A close reason holds 123 bytes.
    fn choices(&self) -> String {
        let (connections, candidates) = self.candidates();
        let choice = |at: usize| {
            let connection = connections[at];
            let browser = self.get(connection)?.hello.browser.as_deref().unwrap_or("browser");
            Some(format!("{connection} ({browser})"))
        };
        let choices: Vec<String> =
            choice::newest(&candidates).into_iter().filter_map(choice).collect();
        format!("several browsers: add ?extensionId=, one of {}", choices.join(", "))
    }
}
