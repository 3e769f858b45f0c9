//! Tabs that clients open, in a window of their own.

use end_to_end::Stage;
use serde_json::json;

/// The windows, each with the number of its tabs, the user's own first.
const WINDOWS: &str = "chrome.windows.getAll({ populate: true }).then((all) =>
    all.sort((a, b) => a.id - b.id).map((window) => window.tabs.length))";

#[tokio::test]
async fn the_first_tab_opens_a_window_and_later_ones_join_it() {
    let stage = Stage::with_separate_window().await;
    stage.control_tab().await;
    stage.playwright("await Promise.all([1, 2, 3].map(() => context.newPage()))").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 3]));
    let window = stage
        .in_worker(
            "getExtensionState().then((state) => chrome.windows.get(state.workerWindowId, { populate: true }))
                .then(({ type, width, height, tabs }) => [type, width, height, tabs[0].groupId])",
        )
        .await;
    assert_eq!(window, json!(["normal", 1200, 800, -1]));
    stage.end().await;
}

#[tokio::test]
async fn a_window_that_the_user_closed_is_opened_again() {
    let stage = Stage::with_separate_window().await;
    stage.control_tab().await;
    stage.playwright("await context.newPage()").await;
    stage
        .in_worker(
            "getExtensionState().then((state) => chrome.windows.remove(state.workerWindowId))",
        )
        .await;
    stage.status_when("the window's tab to go", |status| status.page_count == 1).await;
    stage.playwright("await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 1]));
    stage.end().await;
}

#[tokio::test]
async fn the_window_closes_when_none_of_its_tabs_is_controlled() {
    let stage = Stage::with_separate_window().await;
    stage.control_tab().await;
    stage.playwright("await context.newPage(); await context.newPage()").await;
    stage.in_worker("disconnectEverything()").await;
    stage.until_in_worker("chrome.windows.getAll().then((windows) => windows.length === 1)").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1]), "the user's own window stays");
    stage.end().await;
}

#[tokio::test]
async fn a_tab_works_on_wherever_the_user_drags_it() {
    let stage = Stage::with_separate_window().await;
    stage.control_tab().await;
    stage.playwright("await context.newPage(); await context.newPage()").await;
    stage
        .in_worker(
            "(async () => {
                const { workerWindowId } = await getExtensionState();
                const inside = await chrome.tabs.query({ windowId: workerWindowId });
                const [outside] = (await chrome.tabs.query({}))
                    .filter((tab) => tab.windowId !== workerWindowId);
                const own = await chrome.tabs.create({ windowId: outside.windowId, active: false });
                await chrome.tabs.move(inside[0].id, { windowId: outside.windowId, index: -1 });
                await chrome.tabs.move(own.id, { windowId: workerWindowId, index: -1 });
            })()",
        )
        .await;
    let seen = stage
        .playwright("return Promise.all(context.pages().map((page) => page.evaluate('1+1')))")
        .await;
    assert_eq!(seen, json!([2, 2, 2]));
    stage.in_worker("disconnectEverything()").await;
    // What we opened goes, wherever it is; what the user put into the window stays.
    stage.until_in_worker("chrome.tabs.query({}).then((tabs) => tabs.length === 2)").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 1]));
    stage.end().await;
}

#[tokio::test]
async fn a_change_of_mode_affects_only_tabs_that_open_later() {
    let mut stage = Stage::new().await;
    stage.control_tab().await;
    stage.playwright("await context.newPage()").await;
    stage.stop_relay().await;
    stage.start_relay_with(true).await;
    stage.status_when("the tabs to come back", |status| status.page_count == 2).await;
    stage.playwright("await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([2, 1]));
    stage.end().await;
}

#[tokio::test]
async fn the_window_closes_when_the_relay_stays_away() {
    let mut stage = Stage::with_separate_window().await;
    stage.control_tab().await;
    stage.playwright("await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 1]));
    stage.stop_relay().await;
    stage.until_in_worker("chrome.windows.getAll().then((windows) => windows.length === 1)").await;
    stage.end().await;
}
