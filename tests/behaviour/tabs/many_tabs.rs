//! Many tabs, opened and closed by clients, and through a restart of the relay.

#![expect(clippy::disallowed_methods, reason = "the figure is a time")]

use std::time::Instant;

use end_to_end::{Stage, show_figure};
use serde_json::json;

#[tokio::test]
async fn ten_pages_open_at_once_and_a_hundred_one_after_the_other() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const pages = await Promise.all([...Array(10)].map(() => context.newPage()));
             const results = await Promise.all(pages.map((page, i) => page.evaluate(`${i}`)));
             await Promise.all(pages.map((page) => page.close()));
             for (let i = 0; i < 100; i++) {
               const page = await context.newPage();
               await page.close();
             }
             return [results, context.pages().length];",
        )
        .await;
    assert_eq!(seen, json!([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 1]));
    stage.status_when("the pages to go", |status| status.page_count == 1).await;
    stage.until_in_worker("chrome.tabs.query({}).then((tabs) => tabs.length === 1)").await;
    stage.end().await;
}

#[tokio::test]
async fn ten_tabs_are_back_in_order_after_the_relay_was_restarted() {
    let mut stage = Stage::with_controlled_tab().await;
    stage
        .playwright(
            "for (let i = 1; i < 10; i++) await (await context.newPage()).goto(site + '/index.html?' + i);",
        )
        .await;
    let urls = |status: shared_protocol::http::PagesStatus| -> Vec<String> {
        status.pages.into_iter().map(|page| page.url).collect()
    };
    let before = stage.status_when("ten tabs", |status| status.page_count == 10).await;
    stage.stop_relay().await;
    let restarted = Instant::now();
    stage.start_relay().await;
    let after = stage.status_when("ten tabs again", |status| status.page_count == 10).await;
    let took = restarted.elapsed();
    show_figure("ten tabs back after a relay restart", &format!("{} ms", took.as_millis()));
    assert_eq!(urls(after), urls(before));
    assert_eq!(stage.playwright("return context.pages().length").await, 10);
    stage.end().await;
}

#[tokio::test]
async fn ten_tabs_outlive_a_relay_that_was_killed() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.relay_program().await;
    stage.browser.click_icon().await.unwrap();
    stage.playwright("for (let i = 1; i < 10; i++) await context.newPage();").await;
    relay.kill().await.unwrap();
    stage
        .until_in_worker("getExtensionState().then((s) => s.connectionState !== 'connected')")
        .await;
    let _relay = stage.relay_program().await;
    let seen = stage
        .playwright("return Promise.all(context.pages().map((page) => page.evaluate('1+1')))")
        .await;
    assert_eq!(seen, json!([2, 2, 2, 2, 2, 2, 2, 2, 2, 2]));
    stage.end().await;
}
