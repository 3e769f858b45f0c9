//! The extension's worker on a stage: what a test evaluates in it, clicks and ends.

use std::time::Duration;

use relay::pairing;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Stage;
use crate::machine::TIMEOUT;

/// The time for which a test looks into the worker. It is less than an evaluation may take.
const LOOKING: Duration = Duration::from_secs(28);

/// The state of the worker, with its tabs in a list.
const STATE: &str =
    "getExtensionState().then((state) => ({ ...state, tabs: [...state.tabs.values()] }))";

/// The tabs as their user sees them, with the toolbar button of each.
const TABS: &str = "chrome.tabs.query({}).then((tabs) => Promise.all(tabs.map(
    async ({ id, active, discarded, groupId, status, url, windowId }) => ({
        id, active, discarded, groupId, status, url, windowId,
        badge: await chrome.action.getBadgeText({ tabId: id }).catch(() => null),
        title: await chrome.action.getTitle({ tabId: id }).catch(() => null),
    }))))";

impl Stage {
    /// Clicks the extension's icon on the tab in front, and waits until the relay has the tab.
    pub async fn control_tab(&self) -> Value {
        let toggled = self.browser.click_icon().await.expect("the worker toggles the tab");
        self.status_when("the tab to be controlled", |status| status.page_count > 0).await;
        toggled
    }

    /// Evaluates an expression in the extension's worker.
    pub async fn in_worker(&self, expression: &str) -> Value {
        match self.browser.evaluate_in_worker(expression).await {
            Ok(value) => value,
            Err(error) => panic!("{error}: {expression}"),
        }
    }

    /// Returns the state of the extension's worker, with its tabs in a list: a map has no JSON.
    pub async fn extension_state(&self) -> Value {
        self.in_worker(STATE).await
    }

    /// Evaluates an expression for an error that is on its way already.
    async fn look_in_worker(&self, expression: &str) -> String {
        match self.browser.evaluate_in_worker(expression).await {
            Ok(value) => format!("{value:#}"),
            Err(error) => error.to_string(),
        }
    }

    /// Looks until an expression in the extension's worker is true, for things that Chrome does not
    /// tell of. If it never is, the test fails with the last value, the state of the worker and the tabs.
    pub async fn until_in_worker(&self, expression: &str) {
        let look = format!(
            "(async () => {{
                const end = Date.now() + {};
                for (;;) {{
                    const seen = await ({expression});
                    if (seen) return null;
                    if (Date.now() > end) return `${{JSON.stringify(seen)}}`;
                    await new Promise((resolve) => setTimeout(resolve, 20));
                }}
            }})()",
            LOOKING.as_millis()
        );
        if let Value::String(seen) = self.in_worker(&look).await {
            let (state, tabs) = (self.look_in_worker(STATE).await, self.look_in_worker(TABS).await);
            panic!(
                "waited in vain in the worker for {expression}\nlast value: {seen}\n\
                 state: {state}\ntabs: {tabs}"
            );
        }
    }

    /// Ends the extension's worker as Chrome does when it needs the memory.
    pub async fn end_worker(&self) {
        let worker = self.browser.worker().await.expect("the browser runs");
        let close = json!({ "targetId": worker });
        self.browser.devtools("Target.closeTarget", close).await.expect("the worker ends");
        let ended = self.browser.worker_ended(&worker);
        timeout(TIMEOUT, ended).await.expect("the worker ends");
    }

    /// Ends the pairing of the extension, as its user can.
    pub fn unpair(&self) {
        let home = self.home.path().join(".playwriter");
        pairing::unpair(&home, &self.paired_folder()).expect("the file can be written");
    }
}
