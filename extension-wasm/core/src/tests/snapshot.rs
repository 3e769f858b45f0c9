//! The snapshot, as it lies in `chrome.storage.session`.

use super::*;

#[test]
fn the_keys_of_a_snapshot_stay_the_same() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    let child = json!({ "sessionId": "C", "targetInfo": info_json("F") });
    worker.debugger_event(None, "Target.attachedToTarget", child);
    worker.handle(Input::IconClicked { tab: OTHER });
    worker.relay_sent(json!({ "method": "setWindowMode", "params": { "separateWindow": true } }));
    worker.command(1, None, "Target.createTarget", json!({}));
    let outcome = Ok((TabId(13), Some(WindowId(3))));
    worker.handle(Input::TabCreated { request: request(1), outcome });
    worker.command(2, Some("pw-tab-1"), "Page.startScreencast", json!({}));
    let rules = json!({ "rules": [{ "name": "camera", "setting": "allow" }] });
    worker.request(3, "setPermissions", rules);
    let snapshot = serde_json::to_value(worker.worker.snapshot()).unwrap();
    let attached = json!({
        "sessionId": "C", "targetInfo": info_json("F"), "waitingForDebugger": false,
    });
    let target_info = info_json("T1");
    assert_eq!(
        snapshot,
        json!({
            "lastSession": 1,
            "tabs": [{
                "tabId": 11, "sessionId": "pw-tab-1", "crashed": false, "targetInfo": target_info,
            }],
            "waiting": [],
            "lost": [12, 13],
            "uses": [{ "tabId": 11, "clientCasts": true, "clientFocuses": false }],
            "children": [{ "tabId": 11, "parent": null, "attached": attached }],
            "groups": [7],
            "groupedTabs": [11],
            "windows": { "separateWindow": true, "workerWindowId": 3, "owned": [13] },
            "permissions": ["camera"],
            "downloads": [],
            "autoAttach": null,
        })
    );
}

#[test]
fn the_keys_of_the_status_stay_the_same() {
    let mut worker = Machine::with_tab();
    worker.relay_sent(json!({ "method": "setWindowMode", "params": { "separateWindow": true } }));
    worker.command(1, None, "Target.createTarget", json!({}));
    let outcome = Ok((TabId(13), Some(WindowId(3))));
    worker.handle(Input::TabCreated { request: request(1), outcome });
    let status = serde_json::to_value(worker.worker.status()).unwrap();
    let tab = |id: i32, state: &str, session: Option<&str>, target: Option<&str>| json!({ "tabId": id, "state": state, "sessionId": session, "targetId": target });
    assert_eq!(
        status,
        json!({
            "connectionState": "connected",
            "tabs": [
                tab(11, "connected", Some("pw-tab-1"), Some("T1")),
                tab(13, "connecting", None, None),
            ],
            "errorText": null,
            "separateWindow": true,
            "workerWindowId": 3,
        })
    );
}
