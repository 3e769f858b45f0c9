//! Whether there is a browser for an agent, and what to do if not.

use std::collections::BTreeSet;
use std::time::Duration;

use shared_protocol::http::{ExtensionEntry, PagesStatus};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::event_loop::handle::Handle;
use relay_core::Relay;

/// The extension looks for the relay once a second; a service worker that is waking takes a little longer.
const PATIENCE: Duration = Duration::from_secs(5);

const NOBODY: &str = "no browser is connected\n\n\
    hint: ask the user to open Chrome with the Playwriter extension and to click its icon on a tab \
    (it turns green); then try again";

/// The browsers that are connected to the relay.
#[derive(Debug, Clone)]
pub(crate) struct Browsers {
    handle: Handle,
    status: watch::Receiver<PagesStatus>,
}

/// What was found of the browser that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    It,
    /// Several, and nothing says which of them.
    Several,
    None,
}

impl Browsers {
    pub(crate) fn new(handle: Handle, status: watch::Receiver<PagesStatus>) -> Self {
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
                let there = self.look(wanted).await?;
                // Of several that have tabs, waiting chooses none.
                if there != There::None || status.changed().await.is_err() {
                    return Some(there);
                }
            }
        };
        match timeout(PATIENCE, waiting).await {
            Ok(Some(There::It | There::None)) => Ok(()),
            Ok(None) => Err("the relay is shutting down".to_owned()),
            Ok(Some(There::Several)) | Err(_) => Err(self.problem(wanted).await),
        }
    }

    /// What names the browser that would be used, over all its connections.
    pub(crate) async fn lasting_key(&self, wanted: Option<&str>) -> Option<String> {
        let wanted = wanted.map(str::to_owned);
        self.handle.view(move |relay| relay.lasting_key(wanted.as_deref())).await.flatten()
    }

    /// What somebody has asked for that the browser's extension is too old for.
    pub(crate) async fn warnings(&self, wanted: Option<&str>) -> Vec<String> {
        let wanted = wanted.map(str::to_owned);
        let warnings = self.handle.view(move |relay| relay.warnings(wanted.as_deref())).await;
        warnings.unwrap_or_default()
    }

    /// Whether it is there; `None` when the relay ends.
    async fn look(&self, wanted: Option<&str>) -> Option<There> {
        let wanted = wanted.map(str::to_owned);
        let look = move |relay: &Relay| match wanted.as_deref() {
            wanted if relay.can_serve(wanted) => There::It,
            None if with_tabs(relay) > 1 => There::Several,
            Some(_) | None => There::None,
        };
        self.handle.view(look).await
    }

    async fn problem(&self, wanted: Option<&str>) -> String {
        let there = self.handle.view(Relay::extensions_status).await.unwrap_or_default().extensions;
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

/// How many browsers have tabs for an agent.
fn with_tabs(relay: &Relay) -> usize {
    let there = relay.extensions_status().extensions.into_iter();
    let with_tabs = there.filter(|entry| entry.active_targets > 0);
    with_tabs.map(|entry| entry.stable_key).collect::<BTreeSet<_>>().len()
}

fn choice(entry: &ExtensionEntry) -> String {
    let browser = entry.browser.as_deref().unwrap_or("a browser");
    let tabs = entry.active_targets;
    format!("{} ({browser}, {tabs} controlled tabs)", entry.stable_key)
}
