//! A page ends while a command waits: clients hear of the end first, as with Chrome itself, and so
//! Playwright says what happened.

use end_to_end::{Colour, DirectBrowser, RawClient, Stage};
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

/// Chrome's button on the banner that says who is debugging.
const CANCEL_BUTTON: Colour = [0x0b, 0x57, 0xd0];

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
async fn a_frame_or_a_worker_ends_under_a_command_as_it_does_directly() {
    let stage = Stage::with_controlled_tab().await;
    let direct = DirectBrowser::start().await;
    let ended = "const ended = place.evaluate(() => {
               globalThis.waits = true;
               return new Promise(() => {});
             }).then(() => 'no end', (error) =>
               [error.constructor.name, error.message.split('\\n')[0].replace(/[.]$/, '')]);
             // It is answered after the other has begun.
             const begun = await place.evaluate('waits');";
    for (what, place, end) in [
        (
            "a frame in another process",
            "await page.goto(site + '/frames.html');
             const element = await page.waitForSelector('iframe');
             const place = await element.contentFrame();
             await place.waitForSelector('button');",
            "await page.evaluate(() => document.querySelector('iframe').remove());",
        ),
        (
            "a frame that goes to another site",
            "await page.goto(site + '/frames.html');
             const element = await page.waitForSelector('iframe');
             const place = await element.contentFrame();
             await place.waitForSelector('button');",
            "await page.evaluate(() => { document.querySelector('iframe').src = '/form.html'; });",
        ),
        (
            "a worker",
            "await page.goto(site + '/workers.html');
             const [place] = await Promise.all([
               page.waitForEvent('worker'), page.evaluate(() => start() && said())]);",
            "await page.evaluate(() => worker.terminate());",
        ),
        (
            "the page of a worker",
            "await page.goto(site + '/workers.html');
             const [place] = await Promise.all([
               page.waitForEvent('worker'), page.evaluate(() => start() && said())]);",
            "await page.goto(site + '/index.html');",
        ),
    ] {
        let body = format!(
            "const page = await context.newPage();
             {place} {ended} {end}
             const seen = [begun, await ended];
             await page.close();
             return seen;"
        );
        let (ours, theirs) =
            tokio::join!(stage.playwright(&body), stage.playwright_at(direct.url(), &body));
        if what == "a frame in another process" {
            // Chrome never answers there, and the relay always does; see docs/limits.md.
            assert_eq!(ours[1][0], theirs[1][0], "{what}");
            assert_eq!(theirs[1][1], "frame.evaluate: Frame was detached");
        } else {
            assert_eq!(ours, theirs, "{what}");
        }
        assert_eq!(ours[0], true, "{what}: {ours}");
        assert_ne!(ours[1], "no end", "{what}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_client_hears_of_the_end_of_a_frame_or_a_worker_before_its_commands_fail() {
    let stage = Stage::with_controlled_tab().await;
    for (path, begin, end) in [
        ("frames.html", "1", "document.querySelector('iframe').remove()"),
        ("workers.html", "void start()", "worker.terminate()"),
    ] {
        stage.playwright(&format!("await context.pages()[0].goto(site + '/{path}')")).await;
        let mut client = stage.raw_client("/cdp").await;
        let order = child_ends_in_order(&mut client, begin, end).await;
        assert_eq!(order, ["detached", "failure"], "{path}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_page_ends_as_one_that_closed_when_its_user_cancels_on_the_banner() {
    let stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    // The page in front: over another the banner may not have come yet.
    let pending = PENDING.replace("await context.newPage()", "context.pages()[0]");
    let pending = format!("{pending} return ended;");
    let (seen, ()) = tokio::join!(stage.playwright(&pending), async {
        stage.until_in_worker(&format!("{TAB}.then((tabs) => tabs.length === 1)")).await;
        // The address bar above has the same blue.
        stage.screen().click_below(100, "the banner's button", CANCEL_BUTTON).await;
    });
    assert_eq!(seen[1], CLOSED, "{seen}");
    stage.status_when("the tab to be released", |status| status.page_count == 0).await;
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

/// As [`ends_in_order`], for a child of the page, which a script of the page ends.
async fn child_ends_in_order(client: &mut RawClient, begin: &str, end: &str) -> Vec<&'static str> {
    const ATTACH: &str = r#""method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}"#;
    client.send(&format!(r#"{{"id":1,{ATTACH}}}"#)).await;
    let page = attached(client).await;
    client.send(&format!(r#"{{"id":2,"sessionId":"{page}",{ATTACH}}}"#)).await;
    let evaluate = |id: u32, session: &str, expression: &str| {
        json!({
            "id": id, "sessionId": session, "method": "Runtime.evaluate",
            "params": { "expression": expression, "awaitPromise": true },
        })
        .to_string()
    };
    client.send(&evaluate(3, &page, begin)).await;
    let child = attached(client).await;
    client.send(&evaluate(4, &child, "new Promise(() => {})")).await;
    // It is answered after the other has begun.
    client.send(&evaluate(5, &child, "1")).await;
    while client.next().await["id"] != 5 {}
    client.send(&evaluate(6, &page, end)).await;
    let mut order = Vec::new();
    while order.len() < 2 {
        let told = client.next().await;
        if told["method"] == "Target.detachedFromTarget" && told["params"]["sessionId"] == *child {
            order.push("detached");
        }
        if told["id"] == 4 {
            order.push("failure");
        }
    }
    order
}

async fn attached(client: &mut RawClient) -> String {
    loop {
        let told = client.next().await;
        if told["method"] == "Target.attachedToTarget" {
            return told["params"]["sessionId"].as_str().unwrap().to_owned();
        }
    }
}
