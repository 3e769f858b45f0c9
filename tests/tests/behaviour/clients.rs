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
