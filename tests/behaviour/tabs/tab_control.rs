//! Only tabs whose icon was clicked are controlled, and the icon says which.

use end_to_end::Stage;
use serde_json::json;

#[tokio::test]
async fn a_click_controls_the_tab_and_another_releases_it() {
    let stage = Stage::new().await;
    assert!(title(&stage).await.contains("click to control"));

    let toggled = stage.control_tab().await;
    assert_eq!(toggled["isConnected"], true);
    assert_eq!(toggled["state"]["connectionState"], "connected");
    assert_eq!(toggled["state"]["tabs"][0]["sessionId"], "pw-tab-1");
    let tabs = "Promise.all([getExtensionState(), chrome.tabs.query({ active: true })]).then(
        ([{ tabs }, [{ id }]]) => [tabs instanceof Map, tabs.size, tabs.get(id)])";
    let tabs = stage.in_worker(tabs).await;
    assert_eq!([&tabs[0], &tabs[1]], [&json!(true), &json!(1)]);
    assert_eq!(tabs[2]["state"], "connected");
    assert_eq!(tabs[2]["sessionId"], "pw-tab-1");
    assert!(tabs[2]["targetId"].is_string(), "{tabs}");
    assert!(title(&stage).await.contains("this tab is controlled"));

    let toggled = stage.browser.click_icon().await.unwrap();
    assert_eq!(toggled["isConnected"], false);
    assert_eq!(toggled["state"]["tabs"], json!([]));
    stage.status_when("the tab to be released", |status| status.page_count == 0).await;
    assert!(title(&stage).await.contains("click to control"));
    stage.end().await;
}

#[tokio::test]
async fn a_client_sees_its_page_close_when_the_user_releases_the_tab() {
    let stage = Stage::with_controlled_tab().await;
    let client = stage.playwright(
        "const page = context.pages()[0];
         const closed = page.waitForEvent('close');
         await page.goto(site + '/index.html').catch(() => {});
         await closed;
         return 'closed';",
    );
    let user = async {
        let is_there = |url: &str| url.ends_with("/index.html");
        stage.status_when("the client", |status| is_there(&status.pages[0].url)).await;
        stage.browser.click_icon().await.unwrap()
    };
    let (seen, _) = tokio::join!(client, user);
    assert_eq!(seen, "closed");
    stage.end().await;
}

#[tokio::test]
async fn the_icon_stays_green_while_the_tab_navigates() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/index.html')").await;
    let shown = "new Promise(async (resolve) => {
        const [tab] = await chrome.tabs.query({ active: true });
        const look = async () => {
            const title = await chrome.action.getTitle({ tabId: tab.id });
            if (title.includes('this tab is controlled')) resolve(title);
            else setTimeout(look, 20);
        };
        look();
    })";
    stage.browser.evaluate_in_worker(shown).await.unwrap();
    stage.end().await;
}

#[tokio::test]
async fn a_page_of_the_browser_itself_is_refused_in_plain_words() {
    let stage = Stage::new().await;
    let visit = "new Promise(async (resolve) => {
        const [tab] = await chrome.tabs.query({ active: true });
        chrome.tabs.onUpdated.addListener((id, change) => {
            if (id === tab.id && change.status === 'complete') resolve();
        });
        chrome.tabs.update(tab.id, { url: 'chrome://version' });
    })";
    stage.browser.evaluate_in_worker(visit).await.unwrap();
    let toggled = stage.browser.click_icon().await.unwrap();
    assert_eq!(toggled["isConnected"], false);
    assert_eq!(toggled["state"]["errorText"], "Cannot access a chrome:// URL");
    stage.end().await;
}

#[tokio::test]
async fn disconnect_everything_releases_all_tabs() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.newPage()").await;
    stage.status_when("both tabs to be controlled", |status| status.page_count == 2).await;
    stage.browser.evaluate_in_worker("disconnectEverything()").await.unwrap();
    stage.status_when("both tabs to be released", |status| status.page_count == 0).await;
    let state = stage.extension_state().await;
    assert_eq!(state["tabs"], json!([]));
    stage.end().await;
}

async fn title(stage: &Stage) -> String {
    let title = "chrome.tabs.query({ active: true })
        .then(([tab]) => chrome.action.getTitle({ tabId: tab.id }))";
    let title = stage.browser.evaluate_in_worker(title).await.unwrap();
    title.as_str().unwrap().to_owned()
}
