//! Pages misbehave and users interfere; each tab gets through it alone.

use end_to_end::Stage;
use serde_json::json;

/// A page of the extension in `tests/fixtures/extensions`, whose id follows from the key in its
/// manifest.
const FRAME_OF_ANOTHER: &str = "chrome-extension://dafbdngoojoailcalhimlpijjgnjclbo/frame.html";

#[tokio::test]
async fn a_tab_that_visits_a_protected_page_is_ours_again_when_it_comes_back() {
    let stage = Stage::with_controlled_tab().await;
    visit(&stage, "chrome://version/").await;
    stage.status_when("the tab to go", |status| status.page_count == 0).await;
    stage
        .until_in_worker(
            "getExtensionState().then((state) => [...state.tabs.values()][0]?.state === 'restricted')",
        )
        .await;
    visit(&stage, &(stage.site.url() + "/index.html")).await;
    stage.status_when("the tab to come back", |status| status.page_count == 1).await;
    assert_eq!(stage.playwright("return context.pages()[0].title()").await, "a page");
    stage.end().await;
}

#[tokio::test]
async fn a_crashed_page_fails_alone_and_works_again_after_a_reload() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const [page] = context.pages();
             const other = await context.newPage();
             const session = await context.newCDPSession(page);
             const crashed = page.waitForEvent('crash');
             const pending = session.send('Runtime.evaluate', {
               expression: 'new Promise(() => {})', awaitPromise: true,
             }).catch((error) => error.message);
             session.send('Page.crash').catch(() => {});
             await crashed;
             return [await pending, await other.evaluate('1+1')];",
        )
        .await;
    assert!(seen[0].as_str().unwrap().contains("crashed"), "{seen}");
    assert_eq!(seen[1], 2);
    let shown = "chrome.tabs.query({ active: true }).then(async ([{ id: tabId }]) =>
        await chrome.action.getBadgeText({ tabId }) === '!' &&
        await chrome.action.getTitle({ tabId }) === 'Playwriter: this page has crashed; reload it to go on')";
    stage.until_in_worker(shown).await;
    stage
        .in_worker(
            "chrome.tabs.query({ active: true }).then(([tab]) => chrome.tabs.reload(tab.id))",
        )
        .await;
    assert_eq!(stage.playwright("return context.pages()[0].evaluate('1+1')").await, 2);
    stage.end().await;
}

#[tokio::test]
async fn a_dialog_that_a_second_session_opens_is_still_the_pages() {
    let stage = Stage::with_controlled_tab().await;
    let accepted = stage
        .playwright(
            "const [page] = context.pages();
             page.on('dialog', (dialog) => dialog.accept());
             const session = await context.newCDPSession(page);
             await session.send('Page.enable');
             const { result } = await session.send('Runtime.evaluate', {
               expression: 'confirm(\"so?\")',
             });
             return result.value;",
        )
        .await;
    assert_eq!(accepted, true);
    stage.end().await;
}

#[tokio::test]
async fn a_tab_that_the_user_closes_closes_for_the_client() {
    let stage = Stage::with_controlled_tab().await;
    let client = stage.playwright(
        "const page = await context.newPage();
         const closed = page.waitForEvent('close');
         await page.goto(site + '/index.html').catch(() => {});
         await closed;
         return context.pages().length;",
    );
    let user = async {
        stage
            .status_when("the page", |status| {
                status.pages.iter().any(|page| page.url.ends_with("/index.html"))
            })
            .await;
        let close =
            "chrome.tabs.query({ active: false }).then(([tab]) => chrome.tabs.remove(tab.id))";
        stage.in_worker(close).await;
    };
    let (seen, ()) = tokio::join!(client, user);
    assert_eq!(seen, 1);
    stage.end().await;
}

#[tokio::test]
async fn a_page_that_asks_before_it_closes_is_closed_all_the_same() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = await context.newPage();
             await page.goto(site + '/index.html');
             await page.evaluate(() => addEventListener('beforeunload', (e) => e.preventDefault()));
             await page.getByRole('button').click();
             await page.close();
             return context.pages().length;",
        )
        .await;
    assert_eq!(seen, 1);
    stage.end().await;
}

#[tokio::test]
async fn a_pdf_takes_the_debugger_away_and_the_tab_is_taken_back() {
    let stage = Stage::with_controlled_tab().await;
    visit(&stage, &(stage.site.url() + "/page.pdf")).await;
    stage
        .status_when("the tab on the PDF", |status| {
            status.pages.iter().any(|page| page.url.ends_with("/page.pdf"))
        })
        .await;
    // The address is known before Chrome takes the debugger away.
    let back =
        "getExtensionState().then(({ tabs }) => [...tabs.values()][0]?.state === 'connected')";
    stage.until_in_worker(back).await;
    stage.end().await;
}

#[tokio::test]
async fn a_frame_of_another_extension_does_not_stop_an_attach() {
    let stage = Stage::beside_extension("frame-injector").await;
    visit(&stage, &(stage.site.url() + "/index.html?inject")).await;
    let toggled = stage.control_tab().await;
    assert_eq!(toggled["isConnected"], true, "{toggled}");
    assert_eq!(stage.playwright("return context.pages()[0].title()").await, "a page");
    stage.end().await;
}

#[tokio::test]
async fn pages_that_chrome_keeps_to_itself_are_refused_with_its_reason() {
    let stage = Stage::beside_extension("frame-injector").await;
    for (url, why) in [
        ("chrome://version/", "Cannot access a chrome:// URL"),
        ("https://chromewebstore.google.com/", "The extensions gallery cannot be scripted."),
        (FRAME_OF_ANOTHER, "Cannot access a chrome-extension:// URL of different extension"),
    ] {
        visit(&stage, url).await;
        let toggled = stage.browser.click_icon().await.unwrap();
        assert_eq!(toggled["isConnected"], false, "{url}: {toggled}");
        assert_eq!(toggled["state"]["errorText"], why, "{url}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_page_from_a_file_is_controlled_where_chrome_allows_it() {
    let stage = Stage::new().await;
    let file = concat!("file://", env!("CARGO_MANIFEST_DIR"), "/fixtures/site/index.html");
    visit(&stage, file).await;
    stage.control_tab().await;
    assert_eq!(stage.playwright("return context.pages()[0].title()").await, "a page");
    stage.end().await;
}

#[tokio::test]
async fn a_discarded_tab_is_gone_and_its_icon_says_why() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await (await context.newPage()).goto(site + '/index.html')").await;
    let two = stage.status_when("two tabs", |status| status.page_count == 2).await;
    assert!(two.pages[1].url.ends_with("/index.html"));
    stage
        .in_worker(
            "chrome.tabs.query({ active: false }).then(([tab]) => chrome.tabs.discard(tab.id))",
        )
        .await;
    stage.status_when("the discarded tab to go", |status| status.page_count == 1).await;
    let asleep = "chrome.tabs.query({ active: false })
        .then(([tab]) => chrome.action.getTitle({ tabId: tab.id }))
        .then((title) => title.includes('Chrome put this tab to sleep'))";
    stage.until_in_worker(asleep).await;
    stage.end().await;
}

#[tokio::test]
async fn a_frozen_tab_holds_nobody_else_up() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const [page] = context.pages();
             const other = await context.newPage();
             const frozen = page.evaluate(() => {
               const end = Date.now() + 5000;
               while (Date.now() < end);
               return 'thawed';
             });
             const answers = [];
             await Promise.all([
               frozen.then((answer) => answers.push(answer)),
               other.evaluate('1+1').then((answer) => answers.push(answer)),
             ]);
             return answers;",
        )
        .await;
    assert_eq!(seen, json!([2, "thawed"]));
    stage.end().await;
}

/// Navigates the tab in front, as its user would, and waits until the page is there.
pub(in crate::behaviour) async fn visit(stage: &Stage, url: &str) {
    let visit = format!(
        "new Promise(async (resolve) => {{
            const [tab] = await chrome.tabs.query({{ active: true }});
            const listener = (id, change) => {{
                if (id !== tab.id || change.status !== 'complete') return;
                chrome.tabs.onUpdated.removeListener(listener);
                resolve();
            }};
            chrome.tabs.onUpdated.addListener(listener);
            chrome.tabs.update(tab.id, {{ url: '{url}' }});
        }})"
    );
    stage.in_worker(&visit).await;
}
