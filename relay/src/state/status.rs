//! What the relay tells about itself over HTTP, derived from its state on demand.

use shared_protocol::http::{
    ExtensionEntry, ExtensionStatus, ExtensionsStatus, PageEntry, PagesStatus, Profile,
};

use super::extensions::Extension;
use super::{ConnectionId, Relay};
use crate::browser_version::BrowserVersion;
use crate::payload::TargetInfo;

impl Relay {
    /// `GET /extension/status`
    #[must_use]
    pub fn extension_status(&self) -> ExtensionStatus {
        let chosen = self.extensions.choose(None).ok().or_else(|| self.newest_extension());
        chosen.and_then(|connection| self.extensions.get(connection)).map_or_else(
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
        };
        ExtensionsStatus { extensions: self.extensions.connected().map(entry).collect() }
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

    /// Every controlled page of every extension.
    pub fn pages(&self) -> impl Iterator<Item = &TargetInfo> {
        self.extensions
            .connected()
            .flat_map(|(_, extension)| extension.targets.tabs().map(|t| &t.info))
    }

    /// The browser of the extension that a client would get.
    #[must_use]
    pub fn browser_version(&self) -> BrowserVersion {
        let extension = self.newest_extension().and_then(|it| self.extensions.get(it));
        extension.map_or_else(|| BrowserVersion::of(None, None), Extension::version)
    }

    /// The extension that connected last.
    #[must_use]
    pub fn newest_extension(&self) -> Option<ConnectionId> {
        self.extensions.connected().next_back().map(|(connection, _)| connection)
    }
}

fn profile(extension: &Extension) -> Option<Profile> {
    let id = extension.hello.id.clone().filter(|id| !id.is_empty())?;
    let email = extension.hello.email.clone().unwrap_or_default();
    Some(Profile { email, id })
}
