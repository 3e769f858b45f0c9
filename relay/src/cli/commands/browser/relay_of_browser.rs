//! The relay that a started browser is to find: one of its own, or one that runs already.

use std::time::Duration;

use relay::browser::Browser;
use relay::client::{Client, Endpoint};
use relay::log::Logs;
use relay::server::RelayServer;
use relay::{RelayServerError, choose_window_mode};
use shared_protocol::http::{ExtensionEntry, ExtensionsStatus, RelayStatus};
use tokio::time::sleep;

use crate::cli::args::listen::Listen;
use crate::cli::say;

/// The interval at which a relay in another process is polled.
const STATUS_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The extension's name for its installation, by which a relay tells browsers apart.
const INSTALLATION: &str = "chrome.storage.local.get('installId').then((kept) => kept.installId)";

#[derive(Debug)]
pub(super) enum Relay {
    /// The relay runs in this process and ends with the browser.
    Own(Box<RelayServer>),
    /// The relay ran before, and stays.
    Found(Client),
}

/// The state that a browser's extension is to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Extension,
    Tab,
}

impl Relay {
    /// Starts a relay, or uses the one that has the port, and tells the user in which settings that
    /// one differs.
    pub(super) async fn start(
        listen: &Listen,
        port: u16,
        logs: Option<Logs>,
    ) -> anyhow::Result<Self> {
        if let Some(server) = listen.start_or_find(port, logs).await? {
            return Ok(Self::Own(Box::new(server)));
        }
        let client = Client::new(Endpoint::local(port), listen.token.clone());
        // A relay that wants another token says so before there is a browser.
        client.get::<RelayStatus>("/relay/status").await.map_err(RelayServerError::from)?;
        if let Some(wanted) = listen.window.wanted {
            choose_window_mode(&client, wanted).await?;
        }
        if let Some(objection) = listen.objection(&client, true).await {
            say(&objection);
        }
        Ok(Self::Found(client))
    }

    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    pub(super) fn port(&self) -> u16 {
        match self {
            Self::Own(server) => server.address().port(),
            Self::Found(client) => client.endpoint().port(),
        }
    }

    /// Waits until the relay has the browser's extension, or a tab of it.
    pub(super) async fn has(&self, browser: &Browser, wanted: Wanted) -> anyhow::Result<()> {
        match self {
            Self::Own(server) => {
                let is_there = |tabs| wanted == Wanted::Extension || tabs > 0;
                server.status_when(|it| it.connected && is_there(it.page_count)).await;
                Ok(())
            }
            // Other browsers may be connected to it.
            Self::Found(client) => loop {
                let found: ExtensionsStatus =
                    client.get("/extensions/status").await.map_err(RelayServerError::from)?;
                let installation = browser.evaluate_in_worker(INSTALLATION).await?;
                if is_among(&found.extensions, installation.as_str(), wanted) {
                    return Ok(());
                }
                sleep(STATUS_POLL_INTERVAL).await;
            },
        }
    }

    /// Completes when the user wants a relay to stop that would take the browser with it.
    pub(super) async fn asked_to_stop(&self) {
        match self {
            Self::Own(server) => server.asked_to_stop().await,
            Self::Found(_) => std::future::pending().await,
        }
    }

    pub(super) async fn close(self) {
        if let Self::Own(server) = self {
            server.close().await;
        }
    }
}

/// Returns `true` if an installation has reached the wanted state. It does not know its own name at
/// first; the key by which relays know it ends with the name.
fn is_among(entries: &[ExtensionEntry], installation: Option<&str>, wanted: Wanted) -> bool {
    let Some(installation) = installation.map(|name| format!(":{name}")) else { return false };
    entries.iter().any(|entry| {
        entry.stable_key.ends_with(&installation)
            && (wanted == Wanted::Extension || entry.active_targets > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tabs_of_other_browsers_do_not_count() {
        for (own, wanted, expected) in [
            (Some("own"), Wanted::Extension, true),
            (Some("own"), Wanted::Tab, false),
            (Some("other"), Wanted::Tab, true),
            (Some("third"), Wanted::Extension, false),
            (Some("wn"), Wanted::Extension, false),
            (None, Wanted::Extension, false),
        ] {
            let entries = [entry("install:Chrome:other", 1), entry("install:Chromium:own", 0)];
            assert_eq!(is_among(&entries, own, wanted), expected, "{own:?} {wanted:?}");
        }
    }

    fn entry(key: &str, tabs: usize) -> ExtensionEntry {
        ExtensionEntry {
            paired: None,
            extension_id: "connection-1".to_owned(),
            stable_key: key.to_owned(),
            browser: None,
            profile: None,
            active_targets: tabs,
            playwriter_version: None,
            warnings: Vec::new(),
        }
    }
}
