//! The relay's logs on disk, and what is not written there.

use std::path::Path;

use end_to_end::{RawTab, RelayProgram, Stage, http_until};
use serde_json::{Value, json};
use tokio::process::Command;

/// The command is the one in the documentation.
const COUNT: &str = r#".direction + "\t" + (.message.method // "response")"#;

#[tokio::test]
async fn all_traffic_is_in_the_log_and_jq_can_count_it() {
    let (mut relay, tab) = relay_with_tab().await;
    let mut client = relay.raw_client("/cdp/me").await;
    let session = client.attach(RawTab::TARGET).await;
    let evaluate = json!({
        "id": 2, "sessionId": session,
        "method": "Runtime.evaluate", "params": { "expression": "1\n+1" },
    });
    // The text has several lines, as only a person would write it.
    let evaluate = serde_json::to_string_pretty(&evaluate).unwrap();
    client.answer_to(2, &evaluate).await;
    drop((client, tab));
    relay.stop().await;

    let lines = traffic(&relay);
    let of = |direction: &str, key: &str| {
        let found = lines.iter().find(|line| {
            line["direction"] == direction
                && line["message"][key]["expression"] == "1\n+1"
                && line["clientId"] == "me"
        });
        assert!(found.is_some(), "{direction}: {lines:#?}");
    };
    of("from-playwright", "params");
    of("to-extension", "params");
    of("from-extension", "result");
    of("to-playwright", "result");

    let counted = Command::new("jq")
        .args(["-r", COUNT])
        .arg(relay.log_folder().join("cdp.jsonl"))
        .output()
        .await;
    // The line is for people who have jq; where there is none, the lines above have been read.
    if let Ok(counted) = counted {
        assert!(counted.status.success(), "{counted:?}");
        let counted = String::from_utf8(counted.stdout).unwrap();
        assert!(counted.contains("from-playwright\tRuntime.evaluate\n"), "{counted}");
        assert!(counted.contains("to-playwright\tresponse\n"), "{counted}");
    }
}

#[tokio::test]
async fn long_payloads_are_cut_and_cookies_never_written() {
    let (mut relay, tab) = relay_with_tab().await;
    let mut client = relay.raw_client("/cdp").await;
    let session = client.attach(RawTab::TARGET).await;
    let commands = [
        ("Network.setCookie", json!({ "name": "sid", "value": "s3cret" })),
        ("Runtime.evaluate", json!({ "expression": "document.cookie = 's3cret'" })),
        ("Runtime.evaluate", json!({ "expression": "x".repeat(5000) })),
    ];
    for (id, (method, params)) in (2..).zip(commands) {
        let command = json!({ "id": id, "method": method, "params": params, "sessionId": session });
        client.answer_to(id, &command.to_string()).await;
    }
    tab.event("Network.requestWillBeSentExtraInfo", json!({ "headers": { "cookie": "s3cret" } }))
        .await;
    client.answer_to(9, r#"{"id":9,"method":"Target.getTargets"}"#).await;
    drop((client, tab));
    relay.stop().await;

    for name in ["cdp.jsonl", "relay-server.log"] {
        let text = std::fs::read_to_string(relay.log_folder().join(name)).unwrap();
        assert!(!text.contains("s3cret"), "{name}: {text}");
    }
    let lines = traffic(&relay);
    assert!(lines.iter().any(|line| line["message"]["params"]["hidden"] == "mentions cookies"));
    let cut = lines.iter().find(|line| line["message"]["params"]["length"] == 5017);
    let cut = cut.unwrap_or_else(|| panic!("{lines:#?}"));
    assert_eq!(cut["message"]["params"]["cut"].as_str().unwrap().len(), 1024);
}

#[tokio::test]
async fn log_lines_of_the_extension_are_in_the_log_for_people() {
    let mut relay = RelayProgram::start().await;
    let mut extension = relay.raw_extension("v=0.7.0").await;
    let line = json!({ "level": "log", "args": ["the answer is", "42"] });
    extension.send(&json!({ "method": "log", "params": line }).to_string()).await;
    // Lines are written in order: when a later one has come, this one has, too.
    let tab = json!({ "targetId": "T", "type": "page", "title": "", "url": "http://site/" });
    let attached = json!({ "sessionId": "pw-tab-1", "targetInfo": tab });
    let attached = json!({ "method": "Target.attachedToTarget", "params": attached });
    extension.send(&json!({ "method": "forwardCDPEvent", "params": attached }).to_string()).await;
    http_until(relay.port(), "GET /extension/status", |status| status["activeTargets"] == 1).await;
    relay.stop().await;
    let text = std::fs::read_to_string(relay.log_folder().join("relay-server.log")).unwrap();
    assert!(text.contains("the answer is 42"), "{text}");
    assert!(!Path::new(&relay.log_folder().join("cdp.jsonl.1")).exists());
}

#[tokio::test]
async fn a_target_without_an_address_is_an_error_in_the_log() {
    let mut relay = RelayProgram::start().await;
    let mut extension = relay.raw_extension("v=0.7.0").await;
    let attached = |session: &str, target: &str, kind: &str| {
        let info = json!({ "targetId": target, "type": kind, "title": "", "url": "" });
        json!({ "sessionId": session, "targetInfo": info, "waitingForDebugger": false })
    };
    let says = |parent: Option<&str>, attached: Value| {
        let method = "Target.attachedToTarget";
        let params = json!({ "method": method, "params": attached, "sessionId": parent });
        json!({ "method": "forwardCDPEvent", "params": params }).to_string()
    };
    extension.send(&says(None, attached("pw-tab-1", "T", "page"))).await;
    http_until(relay.port(), "GET /extension/status", |status| status["activeTargets"] == 1).await;
    let mut client = relay.raw_client("/cdp").await;
    let follow = r#"{"id":1,"method":"Target.setDiscoverTargets","params":{"discover":true}}"#;
    client.answer_to(1, follow).await;
    extension.send(&says(Some("pw-tab-1"), attached("FRAME", "F", "iframe"))).await;
    while client.next().await["params"]["targetInfo"]["targetId"] != "F" {}
    relay.stop().await;
    let text = std::fs::read_to_string(relay.log_folder().join("relay-server.log")).unwrap();
    for words in [
        "ERROR WARNING: Target.attachedToTarget received with empty URL (page T)",
        "ERROR WARNING: Target.attachedToTarget received with empty URL (iframe F)",
        "ERROR WARNING: Target.targetCreated sent with empty URL (iframe F)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[tokio::test]
async fn a_frame_that_chrome_announces_without_an_address_is_an_error_in_the_log() {
    let stage = Stage::without_relay().await;
    let _relay = stage.relay_program().await;
    stage.browser.click_icon().await.unwrap();
    stage
        .playwright(
            "const [page] = context.pages();
             await page.goto(site + '/frames.html');
             await page.frameLocator('iframe').getByRole('button').click();",
        )
        .await;
    assert!(stage.playwriter(&["stop"]).status().await.unwrap().success());
    let log = stage.home().join(".playwriter/relay-server.log");
    let text = std::fs::read_to_string(log).unwrap();
    for words in [
        "ERROR extension connection-1: WARNING: Target.attachedToTarget will be sent with empty URL!",
        "ERROR WARNING: Target.attachedToTarget received with empty URL (iframe ",
        "ERROR WARNING: Target.attachedToTarget sent with empty URL (iframe ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    stage.end().await;
}

async fn relay_with_tab() -> (RelayProgram, RawTab) {
    let relay = RelayProgram::start().await;
    let tab = relay.raw_tab().await;
    (relay, tab)
}

fn traffic(relay: &RelayProgram) -> Vec<Value> {
    let text = std::fs::read_to_string(relay.log_folder().join("cdp.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
