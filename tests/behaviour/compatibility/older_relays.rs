//! The extension understands messages of released relays that our relay does not send.

use end_to_end::Stage;
use serde_json::{Value, json};

#[tokio::test]
async fn an_initial_tab_is_announced_by_its_answer_alone() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    assert_eq!(relay.next().await, json!({ "method": "ready" }), "first of all, the inventory");
    let (before, reply) = relay.request("createInitialTab", json!({})).await;
    assert!(!before.iter().any(is_announcement), "{before:?}");
    let tab = &reply["result"];
    assert_eq!(tab["success"], true);
    assert_eq!(tab["sessionId"], "pw-tab-1");
    assert_eq!(tab["targetInfo"]["url"], "about:blank");
    assert!(tab["tabId"].is_number());
    let evaluate = json!({
        "method": "Runtime.evaluate", "sessionId": "pw-tab-1", "params": { "expression": "6*7" },
    });
    let (_, reply) = relay.command(evaluate).await;
    assert_eq!(reply["result"]["result"]["value"], 42);
    stage.end().await;
}

#[tokio::test]
async fn auto_attach_for_all_tabs_reaches_those_that_come_later() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    let params = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
    let (_, reply) =
        relay.command(json!({ "method": "Target.setAutoAttach", "params": params })).await;
    assert_eq!(reply["result"], json!({}));
    let url = stage.site.url() + "/frames.html";
    let create = json!({ "method": "Target.createTarget", "params": { "url": url } });
    let (before, reply) = relay.command(create).await;
    assert_eq!(before.iter().filter(|message| is_announcement(message)).count(), 1);
    let target = reply["result"]["targetId"].clone();
    let is_frame = |message: &Value| {
        let event = &message["params"];
        event["method"] == "Target.attachedToTarget"
            && event["sessionId"] == "pw-tab-1"
            && event["params"]["targetInfo"]["type"] == "iframe"
    };
    if !before.iter().any(is_frame) {
        relay.next_that(is_frame).await;
    }

    // The target alone says which tab is meant.
    let close = json!({ "method": "Target.closeTarget", "params": { "targetId": target } });
    let (before, reply) = relay.command(close).await;
    assert_eq!(reply["result"], json!({ "success": true }), "{reply}");
    let is_end = |message: &Value| {
        let event = &message["params"];
        event["method"] == "Target.detachedFromTarget" && event["params"]["sessionId"] == "pw-tab-1"
    };
    if !before.iter().any(is_end) {
        relay.next_that(is_end).await;
    }
    stage.end().await;
}

#[tokio::test]
async fn enabling_runtime_again_tells_of_the_contexts_again() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    relay.request("createInitialTab", json!({})).await;
    for _ in 0..2 {
        let enable = json!({ "method": "Runtime.enable", "sessionId": "pw-tab-1" });
        let (before, reply) = relay.command(enable).await;
        assert_eq!(reply["result"], json!({}));
        let created = "Runtime.executionContextCreated";
        assert!(before.iter().any(|m| m["params"]["method"] == created), "{before:?}");
    }
    stage.end().await;
}

#[tokio::test]
async fn errors_and_unknown_requests_are_answered() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    relay.send(json!({ "method": "ping" }));
    relay.next_that(|message| *message == json!({ "method": "pong" })).await;
    let (_, reply) = relay.request("teleport", json!({ "to": "mars" })).await;
    assert_eq!(reply, json!({ "id": 1 }));
    let (_, reply) =
        relay.command(json!({ "method": "Page.reload", "sessionId": "pw-tab-9" })).await;
    assert_eq!(reply["error"], "No tab found for sessionId: pw-tab-9");

    // A page that Chrome keeps to itself: an error for the relay, a line for its log, no tab left.
    let create =
        json!({ "method": "Target.createTarget", "params": { "url": "chrome://version" } });
    let (before, reply) = relay.command(create).await;
    assert_eq!(reply["error"], "Cannot access a chrome:// URL");
    let is_log = |message: &Value| {
        let text = message["params"]["args"][0].as_str().unwrap_or_default();
        message["method"] == "log" && text.contains("cannot be controlled")
    };
    if !before.iter().any(is_log) {
        relay.next_that(is_log).await;
    }
    stage.until_in_worker("chrome.tabs.query({}).then((tabs) => tabs.length === 1)").await;

    // Chrome's own words, with their code.
    relay.request("createInitialTab", json!({})).await;
    let (_, reply) =
        relay.command(json!({ "method": "Browser.getVersion", "sessionId": "pw-tab-1" })).await;
    let error: Value = serde_json::from_str(reply["error"].as_str().unwrap()).unwrap();
    assert_eq!(error, json!({ "code": -32601, "message": "'Browser.getVersion' wasn't found" }));
    stage.end().await;
}

fn is_announcement(message: &Value) -> bool {
    let event = &message["params"];
    event["method"] == "Target.attachedToTarget" && event["sessionId"].is_null()
}
