//! Peers that are newer than we are: what we do not know does no harm.

use end_to_end::{RawClient, RelayProgram, Stage, http_until};
use serde_json::{Value, json};

#[tokio::test]
async fn a_future_extension_works_with_our_relay() {
    let relay = RelayProgram::start().await;
    let hello = "browser=Chrome&installId=i&v=99.0.0&mood=good\
                 &capabilities=teleport-v3,,";
    let mut extension = relay.raw_extension(hello).await;
    say(&mut extension, json!({ "method": "teleported", "params": { "to": "mars" } })).await;
    say(&mut extension, json!({ "method": "teleport", "id": 7, "params": [1] })).await;
    say(&mut extension, attached()).await;
    say(&mut extension, json!({ "id": 12345, "result": {} })).await;
    say(&mut extension, json!({ "method": "ready", "params": { "tabs": 1 } })).await;

    http_until(relay.port(), "GET /extension/status", |it| it["activeTargets"] == 1).await;
    let mut client = relay.raw_client("/cdp").await;
    let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
    say(&mut client, json!({ "id": 1, "method": "Target.setAutoAttach", "params": auto })).await;
    let told = client.next().await;
    assert_eq!(told["params"]["targetInfo"]["colour"], json!({ "of": "it" }), "kept: {told}");
    let session = told["params"]["sessionId"].clone();
    assert_eq!(client.next().await["result"], json!({}));
    let evaluate = json!({ "expression": "6*7" });
    let command = |id: i64, method: &str, params: &Value| json!({ "id": id, "method": method, "sessionId": session, "params": params });
    say(&mut client, command(2, "Runtime.evaluate", &evaluate)).await;
    // Every extension is told the permissions when it connects, before any command.
    let asked = asked(&mut extension).await;
    assert_eq!(asked["method"], "setPermissions");
    let asked = self::asked(&mut extension).await;
    assert_eq!(asked["params"]["params"], evaluate);
    say(&mut extension, json!({ "id": asked["id"], "result": { "value": 42 }, "took": 3 })).await;
    assert_eq!(client.next().await["result"], json!({ "value": 42 }));

    // The command is understood by every extension from ours on, so it is sent.
    let tab = json!({ "targetId": "T1" });
    say(&mut client, command(3, "Browser.getWindowForTarget", &tab)).await;
    let asked = self::asked(&mut extension).await;
    assert_eq!(asked["method"], "getWindow");
    let window = json!({
        "windowId": 1, "left": 0, "top": 0, "width": 9, "height": 9, "state": "normal", "depth": 3,
    });
    say(&mut extension, json!({ "id": asked["id"], "result": window })).await;
    assert_eq!(client.next().await["result"]["windowId"], 1);
    let camera = json!({ "permissions": ["videoCapture"] });
    say(&mut client, command(4, "Browser.grantPermissions", &camera)).await;
    let asked = self::asked(&mut extension).await;
    assert_eq!(asked["method"], "setPermissions");
    say(&mut extension, json!({ "id": asked["id"], "result": {}, "took": 3 })).await;
    assert_eq!(client.next().await["result"], json!({}));
}

#[tokio::test]
async fn a_future_relay_works_with_our_extension() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.raw_relay().await;
    relay.send(json!({ "method": "welcome", "params": { "version": "99.0.0" }, "lane": 4 }));
    relay.send(
        json!({ "method": "setWindowMode", "params": { "separateWindow": false, "glow": 1 } }),
    );
    let (_, reply) = relay.request("teleport", json!({ "to": "mars" })).await;
    assert_eq!(reply["error"], Value::Null, "what is unknown is no failure");
    assert_eq!(reply["result"], Value::Null);
    let (_, reply) = relay.request("createInitialTab", json!({ "colour": "green" })).await;
    assert_eq!(reply["result"]["success"], true, "{reply}");
    let session = reply["result"]["sessionId"].clone();
    relay.send(json!({ "method": "futureEvent" }));
    let smell = json!({ "rules": [{ "name": "smell", "setting": "allow" }] });
    let (_, reply) = relay.request("setPermissions", smell).await;
    assert_eq!(reply, json!({ "id": reply["id"] }), "what it cannot read, it does not know");
    relay.send(json!({ "method": "setNotice", "params": { "text": "update the extension" } }));
    let shown = "(async () => {
        const tabs = await chrome.tabs.query({});
        const titles = await Promise.all(tabs.map(({ id: tabId }) => chrome.action.getTitle({ tabId })));
        return titles.some((title) => title.endsWith('is controlled, but update the extension'));
    })()";
    stage.until_in_worker(shown).await;
    let evaluate = json!({
        "method": "Runtime.evaluate", "sessionId": session, "lane": 4, "hints": { "soon": true },
        "params": { "expression": "6*7" },
    });
    let (_, reply) = relay.command(evaluate).await;
    assert_eq!(reply["result"]["result"]["value"], 42, "{reply}");
    stage.end().await;
}

/// Returns an announcement of a tab, with fields that nobody knows.
fn attached() -> Value {
    json!({
        "method": "forwardCDPEvent",
        "params": {
            "method": "Target.attachedToTarget",
            "lane": 4,
            "params": {
                "sessionId": "pw-tab-x", "waitingForDebugger": false, "mood": "good",
                "targetInfo": {
                    "targetId": "T1", "type": "page", "title": "", "url": "http://a.example/",
                    "attached": true, "canAccessOpener": false, "colour": { "of": "it" },
                },
            },
        },
        "lane": 4,
    })
}

async fn say(socket: &mut RawClient, message: Value) {
    socket.send(&message.to_string()).await;
}

/// Waits for the next request to the extension, and skips signs of life.
async fn asked(extension: &mut RawClient) -> Value {
    loop {
        let message = extension.next().await;
        if message["id"].is_number() {
            return message;
        }
    }
}
