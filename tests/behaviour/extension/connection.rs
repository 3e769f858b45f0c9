//! The extension finds the relay by itself, in whatever order the two start.

use end_to_end::{RawTab, RelayProgram, Stage, http, http_until};
use serde_json::{Value, json};

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
async fn an_extension_that_was_replaced_still_answers_what_it_was_asked() {
    let relay = RelayProgram::start().await;
    let query = "browser=Chrome&installId=one&v=0.7.0";
    let mut old = relay.raw_extension(query).await;
    old.send(&RawTab::announced()).await;
    http_until(relay.port(), "GET /extension/status", |it| it["activeTargets"] == 1).await;
    let mut client = relay.raw_client("/cdp").await;
    let session = client.attach(RawTab::TARGET).await;
    let evaluate = json!({ "id": 2, "sessionId": session, "method": "Runtime.evaluate" });
    client.send(&evaluate.to_string()).await;
    let asked = loop {
        let message = old.next().await;
        if message["params"]["method"] == "Runtime.evaluate" {
            break message["id"].clone();
        }
    };
    let before = newest(&relay).await;
    let _new = relay.raw_extension(query).await;
    while newest(&relay).await == before {}
    old.send(&json!({ "id": asked, "result": { "late": true } }).to_string()).await;
    let answer = loop {
        let frame = client.next().await;
        if frame["id"] == 2 {
            break frame;
        }
    };
    assert_eq!(answer["result"], json!({ "late": true }), "{answer}");
}

/// The extension that a client would get.
async fn newest(relay: &RelayProgram) -> Value {
    let status = http(relay.port(), "GET /extensions/status", &[]).await;
    let status: Value = serde_json::from_str(&status.body).unwrap();
    status["extensions"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default()
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
    let answer = first.call(r#"{"id":2,"method":"Target.getDevToolsTarget"}"#).await;
    assert_eq!(answer, json!({ "id": 2, "result": {} }));
    stage.end().await;
}

#[tokio::test]
async fn a_worker_that_died_while_no_relay_was_there_finds_it_when_it_comes() {
    let stage = Stage::without_relay().await;
    stage.until_in_worker("chrome.offscreen.hasDocument()").await;
    stage.end_worker().await;
    let stage = stage.with_relay().await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage.end().await;
}

#[tokio::test]
async fn a_displaced_extension_comes_back_when_the_other_has_left() {
    // A proven extension is replaced by no other.
    let stage = Stage::unpaired().await;
    stage.control_tab().await;
    let install_id =
        stage.in_worker("chrome.storage.local.get().then((all) => all.installId)").await;
    let install_id = install_id.as_str().unwrap();
    let other = stage.raw_extension(&format!("browser=Chromium&installId={install_id}")).await;
    stage
        .until_in_worker(
            "getExtensionState().then((s) => s.connectionState === 'extension-replaced')",
        )
        .await;
    drop(other);
    stage
        .until_in_worker("getExtensionState().then((s) => s.connectionState === 'connected')")
        .await;
    stage.status_when("the tab to come back", |status| status.page_count == 1).await;
    stage.end().await;
}

#[tokio::test]
async fn a_browser_that_was_restarted_starts_clean() {
    let stage = Stage::with_controlled_tab().await.restart_browser().await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    let state = stage.extension_state().await;
    assert_eq!(state["tabs"], json!([]));
    let toggled = stage.control_tab().await;
    assert_eq!(toggled["state"]["tabs"][0]["sessionId"], "pw-tab-1");
    stage.end().await;
}

#[tokio::test]
async fn the_extension_says_who_it_is_but_not_who_the_user_is() {
    let stage = Stage::new().await;
    let body = format!("return (await fetch('{}/extensions/status')).json();", stage.url());
    let mut status = stage.playwright(&body).await;
    let extension = status["extensions"][0].take();
    assert_eq!(extension["browser"], "Chromium");
    assert_eq!(extension["playwriterVersion"], env!("CARGO_PKG_VERSION"));
    assert_eq!(extension["profile"], json!(null));
    let key = extension["stableKey"].as_str().unwrap();
    assert!(key.starts_with("install:Chromium:"), "{key}");
    stage.end().await;
}
