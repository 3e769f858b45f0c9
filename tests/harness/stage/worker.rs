//! The extension's worker on a stage: what a test evaluates in it, clicks and ends.

use relay::pairing;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Stage;
use crate::machine::TIMEOUT;

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

    /// The state of the extension's worker, with its tabs in a list: a map has no JSON.
    pub async fn extension_state(&self) -> Value {
        self.in_worker(
            "getExtensionState().then((state) => ({ ...state, tabs: [...state.tabs.values()] }))",
        )
        .await
    }

    /// Looks until an expression in the extension's worker is true, for things that Chrome does not
    /// tell of.
    pub async fn until_in_worker(&self, expression: &str) {
        let look = format!(
            "new Promise((resolve) => {{
                const look = async () =>
                    (await ({expression})) ? resolve() : setTimeout(look, 20);
                look();
            }})"
        );
        self.in_worker(&look).await;
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
