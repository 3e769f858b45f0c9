//! Rules on which every CDP client may rely, whatever it sends.

use end_to_end::Stage;
use serde_json::json;

use crate::behaviour::tabs::page_disruptions::visit;

#[tokio::test]
async fn every_command_gets_one_answer_under_its_own_id_and_session() {
    let stage = Stage::with_controlled_tab().await;
    let mut client = stage.raw_client("/cdp").await;
    for id in [0, -5, 9_007_199_254_740_991_i64] {
        let command = format!(r#"{{"id":{id},"method":"Target.getDevToolsTarget"}}"#);
        let answer = json!({ "id": id, "result": {} });
        assert_eq!(client.call(&command).await, answer);
    }
    assert_eq!(
        client.call(r#"{"id":1,"method":"Target.getBrowserContexts","sessionId":""}"#).await["id"],
        1
    );
    assert_eq!(
        client.call(r#"{"id":2,"method":"Page.enable","sessionId":"nobody"}"#).await,
        json!({
            "id": 2,
            "error": { "code": -32001, "message": "Session with given id not found." },
            "sessionId": "nobody",
        })
    );
    assert_eq!(
        client.call(r#"{"id":3,"method":"Page.enable"}"#).await["error"],
        json!({ "code": -32601, "message": "'Page.enable' wasn't found" })
    );
    stage.end().await;
}

#[tokio::test]
async fn garbage_is_answered_and_the_connection_lives_on() {
    let stage = Stage::with_controlled_tab().await;
    let mut client = stage.raw_client("/cdp").await;
    assert_eq!(client.call("{").await["error"]["code"], -32700);
    assert_eq!(client.call(r#"{"method":"A.b"}"#).await["error"]["code"], -32600);
    assert_eq!(client.call(r#"{"id":1,"method":"Browser.getVersion"}"#).await["id"], 1);
    stage.end().await;
}

#[tokio::test]
async fn existing_tabs_are_announced_before_the_reply() {
    let stage = Stage::with_controlled_tab().await;
    let mut client = stage.raw_client("/cdp").await;
    let attached = client
        .call(
            r#"{"id":1,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}}"#,
        )
        .await;
    assert_eq!(attached["method"], "Target.attachedToTarget");
    assert_eq!(attached["params"]["sessionId"], "pw-tab-1");
    let info = &attached["params"]["targetInfo"];
    assert_eq!(info["type"], "page");
    assert_eq!(info["url"], "about:blank");
    assert!(info["browserContextId"].is_string(), "{info}");
    assert_eq!(client.next().await, json!({ "id": 1, "result": {} }));
    let evaluated = client
        .answer_to(
            2,
            r#"{"id":2,"method":"Runtime.evaluate","params":{"expression":"6*7"},"sessionId":"pw-tab-1"}"#,
        )
        .await;
    assert_eq!(evaluated["result"]["result"]["value"], 42);
    assert_eq!(evaluated["sessionId"], "pw-tab-1");
    stage.end().await;
}

#[tokio::test]
async fn closing_the_browser_closes_only_the_client() {
    let stage = Stage::with_controlled_tab().await;
    let mut client = stage.raw_client("/cdp").await;
    assert_eq!(
        client.call(r#"{"id":1,"method":"Browser.close"}"#).await,
        json!({ "id": 1, "result": {} })
    );
    assert_eq!(client.closed().await.0, 1000);
    assert_eq!(stage.playwright("return context.pages()[0].evaluate('1')").await, 1);
    stage.end().await;
}

#[tokio::test]
async fn target_discovery_reports_unattached_frames_and_workers() {
    let stage = Stage::with_controlled_tab().await;
    visit(&stage, &(stage.site.url() + "/frames.html")).await;
    let mut client = stage.raw_client("/cdp").await;
    client
        .send(r#"{"id":1,"method":"Target.setDiscoverTargets","params":{"discover":true}}"#)
        .await;
    // Frames are looked for when somebody asks, so the answer may come before them.
    let (mut frame, mut is_answered) = (None, false);
    while frame.is_none() || !is_answered {
        let told = client.next().await;
        is_answered |= told["id"] == 1;
        if frame.is_none() && told["params"]["targetInfo"]["type"] == "iframe" {
            assert_eq!(told["method"], "Target.targetCreated", "{told}");
            frame = told["params"]["targetInfo"]["targetId"].as_str().map(str::to_owned);
        }
    }
    let session = client.attach(&frame.unwrap()).await;
    let evaluate = json!({
        "id": 2, "method": "Runtime.evaluate", "sessionId": session,
        "params": { "expression": "location.hostname" },
    });
    let answer = client.answer_to(2, &evaluate.to_string()).await;
    assert_eq!(answer["result"]["result"]["value"], "localhost");
    stage.end().await;
}
