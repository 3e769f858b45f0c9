//! The relay's status as HTTP reports it, derived from its state on demand.

use shared_protocol::http::{
    ClientEntry, ExtensionEntry, ExtensionStatus, ExtensionsStatus, PageEntry, PagesStatus,
    Profile, RelayStatus,
};

use crate::Relay;
use crate::cdp::payload::TargetInfo;
use crate::cdp::version::BrowserVersion;
use crate::ids::{ClientId, ConnectionId};
use crate::peers::choice::NoChoice;
use crate::peers::clients::Client;
use crate::peers::extensions::Extension;
use crate::targets::model::Target;

impl Relay {
    /// `GET /extension/status`
    #[must_use]
    pub fn extension_status(&self) -> ExtensionStatus {
        let chosen = self.extensions.choose(None).ok().or_else(|| self.newest_extension());
        let extension = chosen.and_then(|connection| self.extensions.get(connection));
        extension.filter(|it| it.presence.is_connected()).map_or_else(
            ExtensionStatus::default,
            |extension| ExtensionStatus {
                connected: true,
                active_targets: extension.targets.tabs().count(),
                browser: extension.hello.browser.clone(),
                profile: profile(extension),
                playwriter_version: extension.hello.version.clone(),
            },
        )
    }

    /// `GET /extensions/status`
    #[must_use]
    pub fn extensions_status(&self) -> ExtensionsStatus {
        let entry = |(connection, extension): (ConnectionId, &Extension)| ExtensionEntry {
            extension_id: connection.to_string(),
            stable_key: extension.stable_key.to_string(),
            browser: extension.hello.browser.clone(),
            profile: profile(extension),
            active_targets: extension.targets.tabs().count(),
            playwriter_version: extension.hello.version.clone(),
            warnings: extension.warnings(),
            paired: Some(extension.proven),
        };
        ExtensionsStatus { extensions: self.extensions.connected().map(entry).collect() }
    }

    /// `GET /relay/status`, but for what only the server knows.
    #[must_use]
    pub fn status(&self) -> RelayStatus {
        let entry = |(id, client): (ClientId, &Client)| ClientEntry {
            client_id: client.name.clone().unwrap_or_else(|| format!("client-{}", id.0)),
            name: client.name.clone(),
            extension_id: client.connection.to_string(),
            separate_window: client.separate_window.unwrap_or(self.policy.separate_window),
        };
        RelayStatus {
            separate_window: self.policy.separate_window,
            auto_enable: self.policy.opens_first_tab,
            clients: self.clients.iter().map(entry).collect(),
            settings: None,
            sandbox: None,
            users: None,
            refused: Vec::new(),
        }
    }

    /// `GET /extension-status`
    #[must_use]
    pub fn pages_status(&self) -> PagesStatus {
        let pages: Vec<PageEntry> = self
            .pages()
            .map(|info| PageEntry {
                target_id: info.target_id.clone(),
                url: info.url.clone(),
                title: info.title.clone(),
            })
            .collect();
        let connected = self.newest_extension().is_some();
        PagesStatus { connected, page_count: pages.len(), pages }
    }

    /// Returns whether the browser of a client that wants this one, or any, is there and not just
    /// away.
    #[must_use]
    pub fn can_serve(&self, wanted: Option<&str>) -> bool {
        let chosen = self.extensions.choose(wanted).ok();
        let extension = chosen.and_then(|connection| self.extensions.get(connection));
        extension.is_some_and(|extension| extension.presence.is_connected())
    }

    /// Returns the connection that would serve such a client.
    ///
    /// # Errors
    ///
    /// Says why there is none.
    pub fn choice(&self, wanted: Option<&str>) -> Result<ConnectionId, NoChoice> {
        self.extensions.choice(wanted)
    }

    /// Returns what names the browser of such a client for good; an extension that says nothing
    /// about itself has no such name.
    #[must_use]
    pub fn lasting_key(&self, wanted: Option<&str>) -> Option<String> {
        let chosen = self.extensions.choose(wanted).ok()?;
        self.extensions.get(chosen)?.hello.stable_key().map(|key| key.to_string())
    }

    /// Returns what the extension that would serve such a client is too old for.
    #[must_use]
    pub fn warnings(&self, wanted: Option<&str>) -> Vec<String> {
        let chosen = self.extensions.choose(wanted).ok();
        let extension = chosen.and_then(|connection| self.extensions.get(connection));
        extension.map(Extension::warnings).unwrap_or_default()
    }

    /// Returns every controlled page of every extension.
    pub fn pages(&self) -> impl Iterator<Item = &TargetInfo> {
        self.extensions
            .connected()
            .flat_map(|(_, extension)| extension.targets.tabs().map(|t| &t.info))
    }

    /// Returns the tabs around those pages, which only some clients look at.
    pub fn tabs(&self) -> impl Iterator<Item = TargetInfo> {
        let extensions = self.extensions.connected();
        extensions.flat_map(|(_, extension)| extension.targets.tabs().filter_map(Target::tab_info))
    }

    /// Returns the browser of the extension that a client would get, by the name that it gives or
    /// without.
    #[must_use]
    pub fn browser_version(&self, wanted: Option<&str>) -> BrowserVersion {
        let chosen = self.extensions.choose(wanted).ok().or_else(|| self.newest_extension());
        let extension = chosen.and_then(|it| self.extensions.get(it));
        extension.map_or_else(|| BrowserVersion::of(None, None), Extension::version)
    }

    /// Returns the extension that connected last; one that has proven itself counts before all
    /// others.
    #[must_use]
    pub fn newest_extension(&self) -> Option<ConnectionId> {
        let newest =
            self.extensions.connected().max_by_key(|(it, extension)| (extension.proven, *it));
        newest.map(|(connection, _)| connection)
    }
}

fn profile(extension: &Extension) -> Option<Profile> {
    let id = extension.hello.id.clone().filter(|id| !id.is_empty())?;
    let email = extension.hello.email.clone().unwrap_or_default();
    Some(Profile { email, id })
}
