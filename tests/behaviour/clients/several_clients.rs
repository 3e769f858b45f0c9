//! Clients come and go, one after the other and side by side.

use end_to_end::Stage;
use serde_json::json;

#[tokio::test]
async fn a_second_client_finds_the_tab_as_the_first_left_it() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/index.html')").await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             return [page.url().replace(site, ''), await page.title(), await page.evaluate('2+2')];",
        )
        .await;
    assert_eq!(seen, json!(["/index.html", "a page", 4]));
    stage.end().await;
}

#[tokio::test]
async fn a_client_that_left_leaves_no_trace_in_the_users_tab() {
    let stage = Stage::with_controlled_tab().await;
    let look = "({
        width: innerWidth,
        dark: matchMedia('(prefers-color-scheme: dark)').matches,
        touch: navigator.maxTouchPoints,
    })";
    let seen = "chrome.tabs.query({ active: true }).then(([tab]) =>
        chrome.debugger.sendCommand({ tabId: tab.id }, 'Runtime.evaluate', {
            expression: LOOK, returnByValue: true,
        })).then(({ result }) => result.value)"
        .replace("LOOK", &format!("`{look}`"));
    let before = stage.in_worker(&seen).await;
    stage
        .playwright(
            "const page = context.pages()[0];
             await page.setViewportSize({ width: 333, height: 444 });
             await page.emulateMedia({ colorScheme: 'dark' });
             await page.route('**', () => {});
             page.goto(site + '/index.html').catch(() => {});
             await page.waitForRequest('**');",
        )
        .await;
    let stayed = format!("({seen}).then((now) => JSON.stringify(now) === '{before}')");
    stage.until_in_worker(&stayed).await;
    // The request that the client held up goes on, and so do frames that come later.
    stage.until_in_worker(&seen.replace(look, "document.title === 'a page'")).await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/frames.html');
             return page.frameLocator('iframe').getByRole('button').textContent();",
        )
        .await;
    assert_eq!(seen, "click me");
    stage.end().await;
}

#[tokio::test]
async fn a_frame_that_was_there_before_the_client_is_found() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/frames.html')").await;
    let find = "return context.pages()[0].frameLocator('iframe').getByRole('button').textContent()";
    assert_eq!(stage.playwright(find).await, "click me");
    stage.end().await;
}

#[tokio::test]
async fn two_clients_see_the_same_tabs() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const other = await chromium.connectOverCDP(cdp);
             const opened = other.contexts()[0].waitForEvent('page');
             await context.newPage();
             await opened;
             const seen = [context.pages().length, other.contexts()[0].pages().length];
             await other.close();
             return seen;",
        )
        .await;
    assert_eq!(seen, json!([2, 2]));
    stage.end().await;
}

#[tokio::test]
async fn closing_the_client_leaves_the_users_tab_alone() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/index.html')").await;
    let tabs = "chrome.tabs.query({}).then((tabs) => tabs.length)";
    assert_eq!(stage.browser.evaluate_in_worker(tabs).await.unwrap(), 1);
    let status = stage.status_when("the tab to stay", |status| status.page_count == 1).await;
    assert!(status.pages[0].url.ends_with("/index.html"));
    stage.end().await;
}

#[tokio::test]
async fn a_target_that_nobody_knows_is_named_to_who_attaches_to_it() {
    let stage = Stage::with_controlled_tab().await;
    let attach = "const session = await browser.newBrowserCDPSession();
         const unknown = { targetId: 'NOBODY', flatten: true };
         return session.send('Target.attachToTarget', unknown).catch((error) => error.message);";
    let words = stage.playwright(attach).await;
    let words = words.as_str().unwrap();
    assert!(words.contains("No target with given id found: NOBODY"), "{words}");
    stage.end().await;
}
