//! Finds a browser for an agent, and tells the agent what to do if there is none.

use std::time::Duration;

use shared_protocol::http::{ExtensionEntry, PagesStatus};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::event_loop::handle::RelayHandle;
use relay_core::Relay;
use relay_core::choice::NoChoice;

/// The extension looks for the relay once a second; a service worker that is waking takes a little
/// longer.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(5);

const NOBODY: &str = "no browser is connected\n\n\
    hint: ask the user to open Chrome with the Playwriter extension and to click its icon on a tab \
    (it turns green); then try again";

/// The browsers that are connected to the relay.
#[derive(Debug, Clone)]
pub(crate) struct Browsers {
    handle: RelayHandle,
    status: watch::Receiver<PagesStatus>,
}

/// The result of looking for the browser of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Ready,
    /// Several are there, and the session named none.
    Ambiguous,
    Missing,
}

impl Browsers {
    pub(crate) fn new(handle: RelayHandle, status: watch::Receiver<PagesStatus>) -> Self {
        Self { handle, status }
    }

    /// Waits a little for the browser that is wanted, or for any.
    ///
    /// # Errors
    ///
    /// Says what the user can do, or which browsers there are to choose from.
    pub(crate) async fn ready(&self, wanted: Option<&str>) -> Result<(), String> {
        let mut status = self.status.clone();
        let waiting = async {
            loop {
                status.mark_unchanged();
                let choice = self.find(wanted).await?;
                // Waiting does not help when several browsers have tabs: the choice stays ambiguous.
                if choice != Choice::Missing || status.changed().await.is_err() {
                    return Some(choice);
                }
            }
        };
        match timeout(BROWSER_TIMEOUT, waiting).await {
            Ok(Some(Choice::Ready | Choice::Missing)) => Ok(()),
            Ok(None) => Err("the relay is shutting down".to_owned()),
            Ok(Some(Choice::Ambiguous)) | Err(_) => Err(self.problem(wanted).await),
        }
    }

    /// Returns the stable key of the browser that would be used, which names it over all its
    /// connections.
    pub(crate) async fn lasting_key(&self, wanted: Option<&str>) -> Option<String> {
        let wanted = wanted.map(str::to_owned);
        self.handle.query(move |relay| relay.lasting_key(wanted.as_deref())).await.flatten()
    }

    /// Returns warnings about requests for which the browser's extension is too old.
    pub(crate) async fn warnings(&self, wanted: Option<&str>) -> Vec<String> {
        let wanted = wanted.map(str::to_owned);
        let warnings = self.handle.query(move |relay| relay.warnings(wanted.as_deref())).await;
        warnings.unwrap_or_default()
    }

    /// Looks for the browser; `None` when the relay ends.
    async fn find(&self, wanted: Option<&str>) -> Option<Choice> {
        let wanted = wanted.map(str::to_owned);
        let look = move |relay: &Relay| match wanted.as_deref() {
            wanted if relay.can_serve(wanted) => Choice::Ready,
            wanted => match relay.choice(wanted) {
                Err(NoChoice::Several { with_tabs: true }) => Choice::Ambiguous,
                Ok(_) | Err(_) => Choice::Missing,
            },
        };
        self.handle.query(look).await
    }

    async fn problem(&self, wanted: Option<&str>) -> String {
        let there =
            self.handle.query(Relay::extensions_status).await.unwrap_or_default().extensions;
        let choices: Vec<String> = there.iter().map(choice).collect();
        let choices = choices.join(", ");
        match wanted {
            _ if there.is_empty() => NOBODY.to_owned(),
            Some(wanted) => format!(
                "browser {wanted} is not connected; these are: {choices}\n\n\
                 hint: a session stays with its browser: use another session name, or reset this one if \
                 no browser was chosen for it"
            ),
            None => format!(
                "several browsers are connected: choose one with `browser`, one of: {choices}"
            ),
        }
    }
}

fn choice(entry: &ExtensionEntry) -> String {
    let browser = entry.browser.as_deref().unwrap_or("a browser");
    let tabs = entry.active_targets;
    format!("{} ({browser}, {tabs} controlled tabs)", entry.stable_key)
}
