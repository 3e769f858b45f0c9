//! The group around controlled tabs, which the user may play with.

use end_to_end::{Colour, Stage};
use serde_json::json;

const GROUPS: &str = "chrome.tabGroups.query({}).then((all) =>
    all.map((group) => [group.title, group.color]))";

const COLLAPSED: &str =
    "chrome.tabGroups.query({}).then((all) => all.map((group) => group.collapsed))";

#[tokio::test]
async fn controlled_tabs_stand_in_one_green_group() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await Promise.all([1, 2, 3].map(() => context.newPage()))").await;
    stage.status_when("four tabs", |status| status.page_count == 4).await;
    stage
        .until_in_worker(
            "chrome.tabs.query({}).then((tabs) => tabs.length === 4 &&
                tabs.every((tab) => tab.groupId !== -1 && tab.groupId === tabs[0].groupId))",
        )
        .await;
    assert_eq!(stage.in_worker(GROUPS).await, json!([["playwriter", "green"]]));
    stage.browser.click_icon().await.unwrap();
    stage
        .until_in_worker(
            "chrome.tabs.query({ active: true }).then((tabs) => tabs[0].groupId === -1)",
        )
        .await;
    stage.end().await;
}

/// The colour that Chrome draws around a green group.
const GREEN: Colour = [24, 128, 56];

#[tokio::test]
async fn dragging_a_tab_out_releases_it_and_dragging_one_in_controls_it() {
    let stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    stage.in_worker("chrome.tabs.create({ url: 'about:blank', active: false })").await;
    let (x, y) = stage.screen().find("the group", GREEN).await;
    // The group's one tab is in the middle of what is green; the other tab is beside it, as wide. Left
    // of that middle, it would be out of the group again.
    stage.screen().drag((x + 280, y), (x + 55, y)).await;
    stage.status_when("the tab that was dragged in", |status| status.page_count == 2).await;
    // An extension cannot drag a tab, but it can take it out of its group, which is the effect of a
    // user's dragging. No extension can do that until Chrome knows that the mouse button is released.
    stage
        .until_in_worker(
            "chrome.tabs.query({ active: false }).then(([tab]) => chrome.tabs.ungroup(tab.id))
                .then(() => true, () => false)",
        )
        .await;
    stage.status_when("the tab that was dragged out", |status| status.page_count == 1).await;
    stage.end().await;
}

#[tokio::test]
async fn a_tab_in_a_group_of_the_users_stays_there() {
    let stage = Stage::new().await;
    stage
        .in_worker(
            "(async () => {
                const [tab] = await chrome.tabs.query({ active: true });
                const group = await chrome.tabs.group({ tabIds: [tab.id] });
                await chrome.tabGroups.update(group, { title: 'mine', color: 'red' });
            })()",
        )
        .await;
    stage.control_tab().await;
    stage.playwright("await context.newPage()").await;
    stage.until_in_worker("chrome.tabGroups.query({}).then((groups) => groups.length === 2)").await;
    let groups = stage.in_worker(GROUPS).await;
    assert!(groups.as_array().unwrap().contains(&json!(["mine", "red"])), "{groups}");
    stage.browser.click_icon().await.unwrap();
    let still_there = "chrome.tabs.query({ active: true })
        .then(([tab]) => chrome.tabGroups.get(tab.groupId)).then((group) => group.title)";
    assert_eq!(stage.in_worker(still_there).await, "mine");
    stage.end().await;
}

#[tokio::test]
async fn groups_can_be_switched_off() {
    let stage = Stage::new().await;
    stage.in_worker("chrome.storage.local.set({ tabGroups: false })").await;
    stage.control_tab().await;
    stage.playwright("await context.newPage()").await;
    stage.status_when("two tabs", |status| status.page_count == 2).await;
    assert_eq!(stage.in_worker(GROUPS).await, json!([]));
    stage.end().await;
}

#[tokio::test]
async fn a_group_that_the_user_renamed_and_collapsed_stays_so_and_takes_new_tabs() {
    let stage = Stage::with_controlled_tab().await;
    stage.until_in_worker("chrome.tabGroups.query({}).then((all) => all.length === 1)").await;
    stage
        .in_worker(
            "chrome.tabGroups.query({}).then(([group]) =>
                chrome.tabGroups.update(group.id, { title: 'robots', collapsed: true }))",
        )
        .await;
    assert_eq!(stage.in_worker(COLLAPSED).await, json!([true]));
    stage.playwright("await context.newPage()").await;
    stage
        .until_in_worker(
            "chrome.tabs.query({}).then((tabs) =>
                tabs.filter((tab) => tab.groupId !== -1).length === 2)",
        )
        .await;
    assert_eq!(stage.in_worker(GROUPS).await, json!([["robots", "green"]]));
    assert_eq!(stage.in_worker(COLLAPSED).await, json!([true]));
    stage.end().await;
}

#[tokio::test]
async fn a_tab_that_moves_to_another_window_stays_controlled_and_is_grouped_there() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.newPage()").await;
    stage
        .until_in_worker(
            "chrome.tabs.query({}).then((tabs) => tabs.every((tab) => tab.groupId !== -1))",
        )
        .await;
    stage
        .in_worker(
            "(async () => {
                const [tab] = await chrome.tabs.query({ active: false });
                const window = await chrome.windows.create({ focused: false, url: 'about:blank' });
                await chrome.tabs.move(tab.id, { windowId: window.id, index: -1 });
                globalThis.moved = tab.id;
            })()",
        )
        .await;
    stage
        .until_in_worker("chrome.tabs.get(globalThis.moved).then((tab) => tab.groupId !== -1)")
        .await;
    assert_eq!(
        stage.in_worker(GROUPS).await,
        json!([["playwriter", "green"], ["playwriter", "green"]])
    );
    let status = stage.status_when("both tabs", |status| status.page_count == 2).await;
    assert_eq!(status.page_count, 2);
    stage.end().await;
}
