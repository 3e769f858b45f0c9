//! Tabs that clients open, in a window of their own.

use end_to_end::{Stage, TIMEOUT};
use relay::{
    ConnectOptions, PersistentRelayOptions, RelayServerOptions, connect_to_playwriter,
    start_relay_server,
};
use serde_json::json;
use shared_protocol::http::WindowModeChange;
use tokio::time::timeout;

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
    let groups = stage.in_worker("chrome.tabGroups.query({})").await;
    assert_eq!(groups, json!([]), "the tab that the user clicked is in none either");
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
    // Our tabs close, wherever they are; the tabs that the user put into the window stay.
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

#[tokio::test]
async fn a_running_relay_changes_its_mode_for_tabs_that_open_later() {
    let stage = Stage::new().await;
    stage.control_tab().await;
    let change = async |separate_window| {
        let client = stage.client();
        let change = WindowModeChange { separate_window };
        client.post::<WindowModeChange>("/relay/window-mode", &change).await.unwrap();
    };
    change(true).await;
    stage.playwright("await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 1]));
    change(false).await;
    stage.playwright("await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([2, 1]));
    stage.end().await;
}

#[tokio::test]
async fn a_client_may_want_a_window_for_itself() {
    let stage = Stage::new().await;
    stage.control_tab().await;
    let own = format!("ws://127.0.0.1:{}/cdp?separateWindow=true", stage.port());
    stage.playwright_at(&own, "await context.newPage(); await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 2]));
    stage.playwright("await context.newPage()").await;
    assert_eq!(stage.in_worker(WINDOWS).await, json!([2, 2]), "others do not feel it");
    stage.end().await;
}

#[tokio::test]
async fn the_first_tab_of_a_client_with_a_window_of_its_own_is_in_it() {
    let stage = Stage::new().await;
    let own = format!("ws://127.0.0.1:{}/cdp?separateWindow=true", stage.port());
    let pages = stage.playwright_at(&own, "return context.pages().length").await;
    assert_eq!(pages, json!(1));
    assert_eq!(stage.in_worker(WINDOWS).await, json!([1, 1]));
    stage.end().await;
}

#[tokio::test]
async fn connect_gives_an_address_whose_tabs_have_a_window() {
    let stage = Stage::new().await;
    stage.control_tab().await;
    for (arguments, environment, expected) in [
        (&["connect", "--separate-window"][..], None, json!([1, 1])),
        (&["connect"], Some("1"), json!([1, 2])),
        (&["connect", "--separate-window=false"], Some("1"), json!([2, 2])),
        (&["connect"], None, json!([3, 2])),
    ] {
        let mut connect = stage.playwriter(arguments);
        connect.envs(environment.map(|value| ("PLAYWRITER_SEPARATE_WINDOW", value)));
        let connected = connect.output().await.unwrap();
        assert!(connected.status.success(), "{connected:?}");
        let url = String::from_utf8(connected.stdout).unwrap();
        stage.playwright_at(url.trim(), "await context.newPage()").await;
        assert_eq!(stage.in_worker(WINDOWS).await, expected, "{arguments:?} {environment:?}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_program_in_rust_may_want_a_window_for_itself_or_for_all() {
    let stage = Stage::without_relay().await;
    let options = RelayServerOptions {
        port: stage.port(),
        separate_window: true,
        home: Some(stage.home().to_owned()),
        ..RelayServerOptions::default()
    };
    let server = start_relay_server(options).await.unwrap();
    timeout(TIMEOUT, server.status_when(|status| status.connected)).await.unwrap();
    stage.browser.click_icon().await.unwrap();
    timeout(TIMEOUT, server.status_when(|status| status.page_count == 1)).await.unwrap();
    let connect = async |separate_window| {
        let port = stage.port();
        let home = Some(stage.home().to_owned());
        let relay = PersistentRelayOptions { home, ..PersistentRelayOptions::default() };
        let options = ConnectOptions { port, separate_window, relay, ..ConnectOptions::default() };
        let connection = connect_to_playwriter(&options).await.unwrap();
        stage.playwright_at(&connection.cdp_url, "await context.newPage()").await;
        stage.in_worker(WINDOWS).await
    };
    assert_eq!(connect(None).await, json!([1, 1]), "as the relay's mode is");
    assert_eq!(connect(Some(false)).await, json!([2, 1]));
    assert_eq!(connect(Some(true)).await, json!([2, 2]));
    server.close().await;
    stage.end().await;
}
