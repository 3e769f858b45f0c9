//! A page ends while a command waits: clients hear of the end first, as with Chrome itself, and so
//! Playwright says what happened.

use end_to_end::{DirectBrowser, RawClient, Stage};
use serde_json::json;

/// A page of the client's own, with an evaluation that never ends. `ended` resolves to the kind of its
/// error and its words.
const PENDING: &str = "
    const page = await context.newPage();
    await page.goto(site + '/index.html');
    const waits = () => { document.title = 'waits'; return new Promise(() => {}); };
    const ended = page.evaluate(waits).then(
      () => 'no end',
      (error) => [error.constructor.name, error.message.split('\\n')[0]],
    );";

/// The words of Playwright's `TargetClosedError`.
const CLOSED: &str = "page.evaluate: Target page, context or browser has been closed";

/// The tab of [`PENDING`], in the worker.
const TAB: &str = "chrome.tabs.query({ title: 'waits' })";

#[tokio::test]
async fn a_page_that_its_client_closes_or_crashes_ends_as_it_does_directly() {
    let stage = Stage::with_controlled_tab().await;
    let direct = DirectBrowser::start().await;
    for end in [
        "await page.close();",
        "page.goto('chrome://crash').catch(() => {});",
        "await (await context.newCDPSession(page)).send('Page.close');",
        "const [other] = [await context.newCDPSession(page)];
         await (await browser.newBrowserCDPSession()).send('Target.closeTarget', {
           targetId: (await other.send('Target.getTargetInfo')).targetInfo.targetId,
         });",
    ] {
        let body = format!(
            "{PENDING} await page.waitForFunction(() => document.title === 'waits'); {end} return ended;"
        );
        let (ours, theirs) =
            tokio::join!(stage.playwright(&body), stage.playwright_at(direct.url(), &body));
        assert_eq!(ours, theirs, "{end}");
        assert_ne!(ours, "no end", "{end}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_page_that_its_user_takes_away_ends_as_one_that_closed() {
    let stage = Stage::with_controlled_tab().await;
    for (how, end) in [
        ("the user closes the tab", "chrome.tabs.remove(tab.id)"),
        (
            "the user goes to a page of the browser",
            "chrome.tabs.update(tab.id, { url: 'chrome://version/' })",
        ),
        (
            "the user hands the tab back",
            "chrome.tabs.update(tab.id, { active: true }).then(() => toggleExtensionForActiveTab())",
        ),
    ] {
        let pending = format!("{PENDING} return ended;");
        let (seen, ()) = tokio::join!(stage.playwright(&pending), async {
            stage.until_in_worker(&format!("{TAB}.then((tabs) => tabs.length === 1)")).await;
            stage.in_worker(&format!("{TAB}.then(([tab]) => {end})")).await;
        });
        assert_eq!(seen[1], CLOSED, "{how}: {seen}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_page_whose_extension_or_relay_goes_ends_as_one_that_closed() {
    let stage = Stage::with_controlled_tab().await;
    let pending = format!("{PENDING} return ended;");
    let waits = format!("{TAB}.then((tabs) => tabs.length === 1)");
    let (seen, ()) = tokio::join!(stage.playwright(&pending), async {
        stage.until_in_worker(&waits).await;
        // The reload is like an update of the extension: its next worker has no tab.
        stage.in_worker("setTimeout(() => chrome.runtime.reload(), 50)").await;
    });
    assert_eq!(seen[1], CLOSED, "the extension starts again: {seen}");
    stage.status_when("the extension to come back", |status| status.connected).await;
    stage.end().await;

    let stage = Stage::without_relay().await;
    let _relay = stage.relay_program().await;
    let (seen, ()) = tokio::join!(stage.playwright(&pending), async {
        stage.until_in_worker(&waits).await;
        assert!(stage.playwriter(&["stop"]).status().await.unwrap().success());
    });
    assert_eq!(seen[1], CLOSED, "the relay ends: {seen}");
    stage.end().await;
}

#[tokio::test]
async fn a_client_hears_of_the_end_of_a_session_before_its_commands_fail() {
    let stage = Stage::with_controlled_tab().await;
    for end in [
        r#"{"id":9,"method":"Target.detachFromTarget","params":{"sessionId":"SESSION"}}"#,
        r#"{"id":9,"method":"Target.setAutoAttach","params":{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}}"#,
        r#"{"id":9,"method":"Target.closeTarget","params":{"targetId":"TARGET"}}"#,
    ] {
        let mut client = stage.raw_client("/cdp").await;
        let order = ends_in_order(&mut client, end).await;
        let at = |what: &str| order.iter().position(|it| *it == what);
        assert!(at("detached").is_some() && at("detached") < at("failure"), "{end}: {order:?}");
    }
    stage.end().await;
}

/// Ends a session on which a command waits, and gives what the client heard, in order.
async fn ends_in_order(client: &mut RawClient, end: &str) -> Vec<&'static str> {
    client.send(r#"{"id":1,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}}"#).await;
    let attached = loop {
        let told = client.next().await;
        if told["method"] == "Target.attachedToTarget" {
            break told;
        }
    };
    let session = attached["params"]["sessionId"].as_str().unwrap().to_owned();
    let target = attached["params"]["targetInfo"]["targetId"].as_str().unwrap().to_owned();
    let waits = json!({
        "id": 2, "sessionId": session, "method": "Runtime.evaluate",
        "params": { "expression": "new Promise(() => {})", "awaitPromise": true },
    });
    client.send(&waits.to_string()).await;
    client.send(&end.replace("SESSION", &session).replace("TARGET", &target)).await;
    let mut order = Vec::new();
    loop {
        let told = client.next().await;
        if told["method"] == "Target.detachedFromTarget" {
            order.push("detached");
        }
        if told["id"] == 2 {
            order.push("failure");
            return order;
        }
    }
}
