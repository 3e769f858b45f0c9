//! The extension finds the relay by itself, whoever comes first.

use end_to_end::Stage;
use serde_json::json;

#[tokio::test]
async fn a_tab_clicked_while_no_relay_runs_is_controlled_once_it_does() {
    let stage = Stage::without_relay().await;
    let toggled = stage.browser.click_icon().await.unwrap();
    assert_eq!(toggled["isConnected"], false);
    assert_eq!(toggled["state"]["tabs"][0]["state"], "connecting");
    let stage = stage.with_relay().await;
    stage.status_when("the tab to be controlled", |status| status.page_count == 1).await;
    stage.end().await;
}

#[tokio::test]
async fn a_relay_that_comes_back_gets_its_tabs_back_without_a_click() {
    let mut stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/index.html')").await;
    stage.stop_relay().await;
    stage.start_relay().await;
    stage.status_when("the tab to come back", |status| status.page_count == 1).await;
    let seen = stage.playwright("return context.pages()[0].title()").await;
    assert_eq!(seen, "a page");
    stage.end().await;
}

#[tokio::test]
async fn a_client_is_told_when_no_extension_is_there() {
    let mut stage = Stage::new().await;
    stage.browser.evaluate_in_worker("chrome.storage.local.set({ relayPort: 1 })").await.unwrap();
    stage.status_when("the extension to go", |status| !status.connected).await;
    let (code, reason) = stage.raw_client("/cdp").await.closed().await;
    assert_eq!(code, 4003);
    assert!(reason.contains("click its icon on a tab"), "{reason}");
    stage.stop_relay().await;
    stage.end().await;
}

#[tokio::test]
async fn a_client_is_closed_when_its_extension_goes() {
    let stage = Stage::with_controlled_tab().await;
    let mut client = stage.raw_client("/cdp").await;
    client.call(r#"{"id":1,"method":"Browser.getVersion"}"#).await;
    stage.browser.evaluate_in_worker("chrome.storage.local.set({ relayPort: 1 })").await.unwrap();
    assert_eq!(client.closed().await, (1000, "Extension disconnected".to_owned()));
    stage.end().await;
}

#[tokio::test]
async fn the_same_client_id_twice_is_refused() {
    let stage = Stage::with_controlled_tab().await;
    let mut first = stage.raw_client("/cdp/me").await;
    first.call(r#"{"id":1,"method":"Browser.getVersion"}"#).await;
    let mut second = stage.raw_client("/cdp/me").await;
    assert_eq!(second.closed().await.0, 4004);
    let answer = first.call(r#"{"id":2,"method":"Target.getBrowserContexts"}"#).await;
    assert_eq!(answer, json!({ "id": 2, "result": { "browserContextIds": [] } }));
    stage.end().await;
}
