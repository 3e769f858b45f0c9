//! Chrome may end the extension's worker at any time. Nobody should notice.

use end_to_end::{Stage, show_figure};
use serde_json::json;

#[tokio::test]
async fn a_client_keeps_its_page_and_its_session_when_the_worker_dies() {
    let stage = Stage::with_controlled_tab().await;
    let client = stage.playwright(
        "const page = context.pages()[0];
         const seen = [];
         page.on('close', () => seen.push('closed'));
         await page.goto(site + '/index.html');
         const pending = page.evaluate(() => new Promise(() => {})).catch(() => 'failed');
         // The worker may be gone before it has answered.
         await page.evaluate(() => { document.title = 'kill me'; }).catch(() => {});
         seen.push(await pending);
         const before = Date.now();
         seen.push(await page.evaluate('6*7'));
         const after = Date.now() - before;
         await page.goto(site + '/frames.html');
         seen.push(await page.title(), context.pages().length);
         return { seen: [...seen], after };",
    );
    let user = async {
        // The page is there, and its client waits for an evaluation that never ends.
        let is_there = |url: &str| url.ends_with("/index.html");
        stage.status_when("the client", |status| is_there(&status.pages[0].url)).await;
        stage
            .until_in_worker(
                "chrome.debugger.getTargets().then((all) => all.some((t) => t.title === 'kill me'))",
            )
            .await;
        stage.end_worker().await;
    };
    let (seen, ()) = tokio::join!(client, user);
    assert_eq!(seen["seen"], json!(["failed", 42, "a page with a foreign frame", 1]));
    show_figure("first answer after the worker's death", &format!("{} ms", seen["after"]));
    let state = stage.extension_state().await;
    assert_eq!(state["tabs"][0]["sessionId"], "pw-tab-1");
    stage.end().await;
}

#[tokio::test]
async fn a_tab_can_be_released_by_a_worker_that_did_not_attach_it() {
    let stage = Stage::with_controlled_tab().await;
    stage.end_worker().await;
    tab_is_back(&stage).await;
    let toggled = stage.browser.click_icon().await.unwrap();
    assert_eq!(toggled["isConnected"], false);
    let toggled = stage.control_tab().await;
    assert_eq!(toggled["isConnected"], true);
    assert_eq!(toggled["state"]["tabs"][0]["sessionId"], "pw-tab-2", "no name is used twice");
    stage.end().await;
}

#[tokio::test]
async fn frames_of_another_site_outlive_the_worker() {
    let stage = Stage::with_controlled_tab().await;
    let client = stage.playwright(
        "const page = context.pages()[0];
         await page.goto(site + '/frames.html');
         await page.frameLocator('iframe').getByRole('button').waitFor();
         await page.evaluate(() => { document.title = 'kill me'; }).catch(() => {});
         while ((await page.title().catch(() => '')) !== 'killed');
         await page.frameLocator('iframe').getByRole('button').click();
         return page.frameLocator('iframe').getByRole('button').textContent();",
    );
    let user = async {
        let ready =
            "chrome.debugger.getTargets().then((all) => all.some((t) => t.title === 'kill me'))";
        stage.until_in_worker(ready).await;
        stage.end_worker().await;
        tab_is_back(&stage).await;
        stage.in_worker(&in_the_page("document.title = 'killed'")).await;
    };
    let (seen, ()) = tokio::join!(client, user);
    assert_eq!(seen, "clicked");
    stage.end().await;
}

#[tokio::test]
async fn a_page_that_navigates_while_no_worker_lives_is_followed() {
    let stage = Stage::with_controlled_tab().await;
    let client = stage.playwright(
        "const page = context.pages()[0];
         const seen = [];
         for (let round = 0; round < 6; round++) {
           await page.goto(site + '/index.html');
           const told = page.waitForEvent('console', (said) => said.text() === 'back ' + round);
           const arrived = page.waitForURL('**/frames.html?' + round);
           page.evaluate((round) => { document.title = 'kill ' + round; }, round).catch(() => {});
           // A command to a worker that dies is lost.
           await Promise.all([told, arrived]);
           seen.push(await page.evaluate(() => document.title));
         }
         return seen;",
    );
    let user = async {
        for round in 0..6 {
            let ready = format!(
                "chrome.debugger.getTargets().then((all) => all.some((t) => t.title === 'kill {round}'))"
            );
            stage.until_in_worker(&ready).await;
            // The time until the next worker has found the relay is unknown.
            let (later, to) = (round * 25, format!("/frames.html?{round}"));
            let navigate = format!("setTimeout(() => {{ location.href = '{to}' }}, {later})");
            stage.in_worker(&in_the_page(&navigate)).await;
            stage.end_worker().await;
            tab_is_back(&stage).await;
            let arrived = |url: &str| url.ends_with(&to);
            stage.status_when("the page", |status| arrived(&status.pages[0].url)).await;
            stage.in_worker(&in_the_page(&format!("console.log('back {round}')"))).await;
        }
    };
    let (seen, ()) = tokio::join!(client, user);
    assert_eq!(seen, json!(vec!["a page with a foreign frame"; 6]));
    stage.end().await;
}

/// Waits until the worker that follows one that died has found its relay and its tab.
async fn tab_is_back(stage: &Stage) {
    let back = "getExtensionState().then(({ connectionState, tabs }) =>
        connectionState === 'connected' && [...tabs.values()][0]?.state === 'connected')";
    stage.until_in_worker(back).await;
    stage.status_when("the tab to come back", |status| status.page_count == 1).await;
}

/// Returns an expression for the worker that evaluates another in the tab in front.
fn in_the_page(expression: &str) -> String {
    format!(
        "chrome.tabs.query({{ active: true }}).then(([tab]) =>
            chrome.debugger.sendCommand({{ tabId: tab.id }}, 'Runtime.evaluate', {{
                expression: \"{expression}\",
            }}))"
    )
}
