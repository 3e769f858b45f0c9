//! Tabs that somebody other than the user hands over.

use end_to_end::Stage;
use serde_json::json;

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[attack!(
    OtherExtension,
    "puts every tab of the user into the group of controlled tabs, selected and in front, by `chrome.tabs.group`",
    "they are taken out again and wait for a click: Chrome lets no extension move tabs while the user drags one, so what can be taken out was not dragged in",
    a_tab_that_an_extension_puts_into_the_group_is_not_handed_over
)];

#[tokio::test]
async fn a_tab_that_an_extension_puts_into_the_group_is_not_handed_over() {
    let stage = Stage::beside_extension("tab-grouper").await;
    let other = "chrome.tabs.create({ url: 'about:blank', active: false }).then((tab) => tab.id)";
    let other = stage.in_worker(other).await;
    stage.control_tab().await;
    let refused = format!(
        "chrome.action.getTitle({{ tabId: {other} }})
            .then((title) => title.includes('something other than your mouse'))"
    );
    stage.until_in_worker(&refused).await;
    stage
        .until_in_worker(&format!("chrome.tabs.get({other}).then((tab) => tab.groupId === -1)"))
        .await;
    let controlled = "getExtensionState().then(({ tabs }) => [...tabs.keys()])";
    let controlled = stage.in_worker(controlled).await;
    assert!(!controlled.as_array().unwrap().contains(&other), "{controlled}");
    let status = stage.status_when("the one tab", |status| status.page_count == 1).await;
    assert_eq!(status.page_count, 1);
    assert_eq!(stage.in_worker("chrome.tabs.query({}).then((all) => all.length)").await, json!(2));
    stage.end().await;
}
