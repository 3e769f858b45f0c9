//! Requests of the relay to Chrome itself, beyond the tabs: windows, permissions, downloads, cookies.

use std::path::Path;

use end_to_end::{RawRelay, Stage};
use serde_json::{Value, json};

#[tokio::test]
async fn a_window_is_seen_moved_and_shown_without_being_focused() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    let before = stage.in_worker(FOCUSED).await;
    let params = json!({ "url": "about:blank", "newWindow": true, "left": 30, "top": 40, "width": 700, "height": 500 });
    let target = open(&mut relay, params).await;
    assert_eq!(stage.in_worker(FOCUSED).await, before, "it opens behind");

    let window = answer(&mut relay, "getWindow", json!({ "targetId": target })).await;
    assert_eq!(bounds(&window), json!([30, 40, 700, 500, "normal"]));
    assert!(window["contentWidth"].as_i64() > Some(0), "{window}");
    assert!(window["contentHeight"].as_i64() < Some(500), "the page has less: {window}");
    let id = &window["windowId"];

    let change = json!({ "windowId": id, "left": 50, "width": 800 });
    assert_eq!(answer(&mut relay, "setWindow", change).await, json!({}));
    let window = answer(&mut relay, "getWindow", json!({ "windowId": id })).await;
    assert_eq!(bounds(&window), json!([50, 40, 800, 500, "normal"]));
    assert!(window["contentWidth"].is_null());
    set_state(&mut relay, id, "maximized").await;
    assert_eq!(stage.in_worker(FOCUSED).await, before, "it stays behind");

    let (_, refusal) = relay.request("setWindow", json!({ "windowId": 1, "left": 0 })).await;
    assert_eq!(refusal["error"], "No window with id: 1.");
    assert_eq!(
        answer(&mut relay, "activateTab", json!({ "targetId": target })).await,
        json!({}),
        "when the user has allowed it"
    );
    assert_ne!(stage.in_worker(FOCUSED).await, before);
    stage.end().await;
}

#[tokio::test]
async fn a_window_that_is_restored_leaves_the_focus_where_it_was() {
    let mut stage = Stage::on_a_screen().await;
    stage.stop_relay().await;
    let mut relay = stage.raw_relay().await;
    let before = stage.in_worker(FOCUSED).await;
    let target = open(&mut relay, json!({ "url": "about:blank", "newWindow": true })).await;
    let window = answer(&mut relay, "getWindow", json!({ "targetId": target })).await;
    for state in ["fullscreen", "normal"] {
        set_state(&mut relay, &window["windowId"], state).await;
        assert_eq!(stage.in_worker(FOCUSED).await, before, "{state}");
    }
    stage.end().await;
}

#[tokio::test]
async fn permissions_hold_until_they_are_taken_back_or_the_relay_has_gone() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    visit(&mut relay, &(stage.site.url() + "/index.html")).await;
    assert_eq!(states(&mut relay).await, json!(["prompt", "prompt"]));

    let rules = json!({ "rules": [
        { "name": "geolocation", "origin": stage.site.url(), "setting": "allow" },
        { "name": "notifications", "setting": "block" },
    ] });
    assert_eq!(answer(&mut relay, "setPermissions", rules).await, json!({}));
    assert_eq!(states(&mut relay).await, json!(["granted", "denied"]));

    let rules = json!({ "rules": [{ "name": "notifications", "setting": "allow" }] });
    assert_eq!(answer(&mut relay, "setPermissions", rules.clone()).await, json!({}));
    assert_eq!(states(&mut relay).await, json!(["prompt", "granted"]), "the others went");
    assert_eq!(answer(&mut relay, "setPermissions", json!({ "rules": [] })).await, json!({}));
    assert_eq!(states(&mut relay).await, json!(["prompt", "prompt"]));

    // The worker and the relay go, and the user's settings come back all the same.
    assert_eq!(answer(&mut relay, "setPermissions", rules).await, json!({}));
    let setting = format!(
        "chrome.contentSettings.notifications.get({{ primaryUrl: '{}/' }})
            .then(({{ setting }}) => setting",
        stage.site.url()
    );
    assert_eq!(stage.in_worker(&format!("{setting})")).await, "allow");
    drop(relay);
    stage.end_worker().await;
    stage.until_in_worker(&format!("{setting} === 'ask')")).await;
    stage.end().await;
}

#[tokio::test]
async fn a_download_is_found_where_chrome_put_it() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    visit(&mut relay, &(stage.site.url() + "/index.html")).await;
    let url = stage.site.url() + "/page.pdf";
    let query = |exclude: &[i64]| json!({ "url": url, "exclude": exclude });
    assert_eq!(answer(&mut relay, "findDownload", query(&[])).await, json!({}), "not yet");

    let click = "const link = document.createElement('a');
        link.href = '/page.pdf'; link.download = 'saved.pdf'; link.click()";
    evaluate(&mut relay, click).await;
    stage
        .until_in_worker("chrome.downloads.search({}).then(([it]) => it?.state === 'complete')")
        .await;
    let found = answer(&mut relay, "findDownload", query(&[])).await;
    assert_eq!(found["state"], "complete", "{found}");
    let path = Path::new(found["path"].as_str().unwrap());
    assert_eq!(path.file_name().unwrap(), "saved.pdf");
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/site/page.pdf");
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(original).unwrap());

    let id = found["id"].as_i64().unwrap();
    assert_eq!(answer(&mut relay, "findDownload", query(&[id])).await, json!({}), "known already");
    for id in [id, 999] {
        assert_eq!(answer(&mut relay, "cancelDownload", json!({ "id": id })).await, json!({}));
    }
    assert!(path.exists(), "what is complete stays");
    for id in [id, 999] {
        let removal = json!({ "id": id, "remove": true });
        assert_eq!(answer(&mut relay, "cancelDownload", removal).await, json!({}));
    }
    assert!(!path.exists());
    assert_eq!(stage.in_worker("chrome.downloads.search({})").await, json!([]));
    stage.end().await;
}

#[tokio::test]
async fn cookies_are_set_and_found_without_a_tab() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    let cookie = |name: &str| json!({ "url": "https://a.example/", "name": name, "value": "1" });
    let calls = json!({ "function": "set", "details": [cookie("good"), cookie("__Host-bad")] });
    let answers = answer(&mut relay, "callCookies", calls).await;
    assert_eq!(answers["cookies"][0]["domain"], "a.example");
    assert_eq!(answers["cookies"].as_array().unwrap().len(), 1);
    assert_eq!(answers["error"], r#"Failed to parse or set cookie named "__Host-bad"."#);

    let details = json!([{ "url": "https://a.example/" }, { "url": "https://b.example/" }]);
    let calls = json!({ "function": "getAll", "details": details });
    let answers = answer(&mut relay, "callCookies", calls).await;
    assert_eq!(answers["cookies"][0][0]["name"], "good");
    assert_eq!(answers["cookies"][1], json!([]));
    assert!(answers["error"].is_null(), "{answers}");

    let calls = json!({ "function": "getAll", "details": [{ "nonsense": 1 }] });
    let answers = answer(&mut relay, "callCookies", calls).await;
    assert!(answers["error"].as_str().unwrap().contains("nonsense"), "{answers}");
    stage.end().await;
}

const FOCUSED: &str = "chrome.windows.getLastFocused().then(({ id }) => id)";

fn bounds(window: &Value) -> Value {
    ["left", "top", "width", "height", "state"].iter().map(|key| window[*key].clone()).collect()
}

async fn set_state(relay: &mut RawRelay, window: &Value, state: &str) {
    let change = json!({ "windowId": window, "state": state });
    assert_eq!(answer(relay, "setWindow", change).await, json!({}));
    let window = answer(relay, "getWindow", json!({ "windowId": window })).await;
    assert_eq!(window["state"], state);
}

/// Returns the states of two permissions of the page: geolocation and notifications.
async fn states(relay: &mut RawRelay) -> Value {
    let ask = "Promise.all(['geolocation', 'notifications'].map(
        (name) => navigator.permissions.query({ name }).then(({ state }) => state)))";
    evaluate(relay, ask).await
}

async fn evaluate(relay: &mut RawRelay, expression: &str) -> Value {
    let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
    let evaluate =
        json!({ "method": "Runtime.evaluate", "sessionId": "pw-tab-1", "params": params });
    let (_, reply) = relay.command(evaluate).await;
    reply["result"]["result"]["value"].clone()
}

async fn visit(relay: &mut RawRelay, url: &str) {
    open(relay, json!({ "url": "about:blank" })).await;
    let params = json!({ "url": url });
    let navigate = json!({ "method": "Page.navigate", "sessionId": "pw-tab-1", "params": params });
    let (before, _) = relay.command(navigate).await;
    let has_loaded = |message: &Value| message["params"]["method"] == "Page.loadEventFired";
    if !before.iter().any(has_loaded) {
        relay.next_that(has_loaded).await;
    }
}

async fn open(relay: &mut RawRelay, params: Value) -> Value {
    let create = json!({ "method": "Target.createTarget", "params": params });
    let (_, reply) = relay.command(create).await;
    reply["result"]["targetId"].clone()
}

async fn answer(relay: &mut RawRelay, method: &str, params: Value) -> Value {
    let (_, reply) = relay.request(method, params).await;
    assert!(reply["error"].is_null(), "{method}: {reply}");
    reply["result"].clone()
}
