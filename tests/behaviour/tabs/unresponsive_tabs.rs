//! Tabs that do not answer when they are taken under control: no client waits for them.

use end_to_end::{Stage, show_figure};
use serde_json::json;

/// The limit of connecting beside tabs that do not answer, in milliseconds.
const CONNECT: f64 = 8000.0;

#[tokio::test]
async fn a_dialog_or_a_sleeping_tab_holds_no_client_up() {
    let stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    let grouped = "chrome.tabs.query({ active: true }).then((tabs) => tabs[0].groupId !== -1)";
    stage.until_in_worker(grouped).await;
    let ids = stage.in_worker(&open_both(&stage.site.url())).await;
    let seen = stage
        .playwright(
            "const start = performance.now();
             const another = await chromium.connectOverCDP(cdp, { timeout: 10000 });
             const took = performance.now() - start;
             const urls = another.contexts()[0].pages().map((page) => page.url());
             await another.close();
             return { took, urls };",
        )
        .await;
    assert_eq!(seen["urls"], json!(["about:blank"]), "only what answers");
    let took = seen["took"].as_f64().unwrap();
    show_figure("connecting beside silent tabs", &format!("{took:.0} ms of {CONNECT} ms"));
    assert!(took < CONNECT, "{took} ms: a tab was waited for, which takes ten seconds");

    let titles = format!(
        "Promise.all({ids}.map((tabId) => chrome.action.getTitle({{ tabId }})))
            .then(([dialog, asleep]) =>
                dialog.includes('when its dialog is closed') && asleep.includes('sleep'))"
    );
    stage.until_in_worker(&titles).await;
    stage.screen().save("silent-tab");
    stage.screen().press("Return");
    stage.status_when("the dialog to be closed", |status| status.page_count == 2).await;
    stage.in_worker(&format!("chrome.tabs.reload({}).then(() => null)", ids[1])).await;
    stage.status_when("the tab to wake", |status| status.page_count == 3).await;
    let seen = stage
        .playwright("return Promise.all(context.pages().map((page) => page.evaluate('1+1')))")
        .await;
    assert_eq!(seen, json!([2, 2, 2]));
    stage.end().await;
}

/// Returns an expression that opens a tab with an open dialog and one that sleeps, as if a user had
/// clicked on each, and gives their ids.
fn open_both(site: &str) -> String {
    format!(
        "(async () => {{
            const opened = (url) => new Promise(async (resolve) => {{
                const {{ id }} = await chrome.tabs.create({{ url, active: false }});
                const look = async () => (await chrome.tabs.get(id)).status === 'complete'
                    ? resolve(id) : setTimeout(look, 20);
                look();
            }});
            const [dialog, busy] = await Promise.all([
                opened('{site}/index.html'),
                opened('{site}/animated.html'),
            ]);
            const asleep = (await chrome.tabs.discard(busy)).id;
            // Chrome lets the page go on in a tab that nobody sees.
            await chrome.tabs.update(dialog, {{ active: true }});
            await chrome.scripting.executeScript({{
                target: {{ tabId: dialog }},
                func: () => void setTimeout(() => alert('anybody there?')),
            }});
            for (const id of [dialog, asleep]) {{
                chrome.action.onClicked.dispatch(await chrome.tabs.get(id));
            }}
            return [dialog, asleep];
        }})()",
    )
}

#[tokio::test]
async fn a_controlled_tab_that_chrome_puts_to_sleep_comes_back_when_it_wakes() {
    let stage = Stage::with_controlled_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/index.html')").await;
    let discard = "(async () => {
        const [{ id }] = await chrome.tabs.query({ active: true });
        await chrome.tabs.create({ url: 'about:blank', active: true });
        return (await chrome.tabs.discard(id)).id;
    })()";
    let id = stage.in_worker(discard).await;
    stage.status_when("the tab to sleep", |status| status.page_count == 0).await;
    // The worker remembers it, though it dies meanwhile.
    stage.end_worker().await;
    stage
        .until_in_worker(
            "getExtensionState().then(({ connectionState, tabs }) =>
                connectionState === 'connected' && tabs.size === 1)",
        )
        .await;
    stage.in_worker(&format!("chrome.tabs.reload({id}).then(() => null)")).await;
    stage.status_when("the tab to wake", |status| status.page_count == 1).await;
    assert_eq!(stage.playwright("return context.pages()[0].title()").await, "a page");
    stage.end().await;
}
