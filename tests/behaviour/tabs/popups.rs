//! Tabs that a controlled tab opens are controlled, and know their opener.

use end_to_end::Stage;
use serde_json::json;

#[tokio::test]
async fn popups_of_every_kind_are_controlled_and_know_their_opener() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const seen = {};
             for (const id of ['blank', 'open', 'window', 'empty']) {
               const opened = context.waitForEvent('page');
               await page.locator('#' + id).click();
               const popup = await opened;
               await popup.waitForLoadState();
               const opener = await popup.opener();
               seen[id] = [await popup.title(), opener === page];
               await popup.close();
             }
             return seen;",
        )
        .await;
    assert_eq!(
        seen,
        json!({
            "blank": ["a page", true],
            "open": ["a page", true],
            "window": ["a page", true],
            "empty": ["", true],
        })
    );
    stage.end().await;
}

#[tokio::test]
async fn a_popup_that_closes_at_once_comes_and_goes() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const opened = page.waitForEvent('popup', { timeout: 10000 });
             await page.evaluate((url) => void open(url).close(), site + '/index.html');
             const popup = await opened;
             if (!popup.isClosed()) await popup.waitForEvent('close');
             return [await popup.opener() === page, await page.evaluate('1 + 1')];",
        )
        .await;
    assert_eq!(seen, json!([true, 2]));
    stage.end().await;
}

#[tokio::test]
async fn a_popup_is_freed_of_a_dialog_that_it_opens_at_once() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const opened = page.waitForEvent('popup');
             await page.evaluate(() => {
               const popup = open('about:blank');
               popup.document.write('<title>alerts</title><script>alert(1)</script>');
             });
             const popup = await opened;
             return [await page.evaluate('1 + 1'), await popup.title()];",
        )
        .await;
    assert_eq!(seen, json!([2, "alerts"]));
    stage.end().await;
}

/// The debugger comes late, so the dialog is there before it, of which Chrome tells it nothing.
#[tokio::test]
async fn a_popup_is_freed_of_a_dialog_that_was_there_before_the_debugger() {
    let stage = Stage::with_controlled_tab().await;
    for features in ["", "width=300,height=300"] {
        stage
            .in_worker(
                "(() => {
                    const attach = chrome.debugger.attach;
                    const held = new Promise((resolve) => { globalThis.letAttach = resolve; });
                    chrome.debugger.attach = async (...given) => {
                        await held;
                        chrome.debugger.attach = attach;
                        return attach.apply(chrome.debugger, given);
                    };
                })()",
            )
            .await;
        let body = format!(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const opened = page.waitForEvent('popup');
             await page.evaluate((features) => void open('/asking.html', '_blank', features), '{features}');
             const popup = await opened;
             const seen = [await page.evaluate('1 + 1'), await popup.title()];
             await popup.close();
             return seen;"
        );
        let shown = "chrome.tabs.query({ title: 'asking' }).then((tabs) => tabs.length === 1)";
        let (seen, ()) = tokio::join!(stage.playwright(&body), async {
            stage.until_in_worker(shown).await;
            stage.in_worker("letAttach()").await;
        });
        assert_eq!(seen, json!([2, "answered null"]), "{features}");
    }
    stage.end().await;
}

/// The dialog opens when the debugger is there and the client is being told of the page, or so.
#[tokio::test]
async fn a_popup_that_asks_while_it_loads_holds_nobody_up() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const seen = new Set();
             for (let round = 0; round < 5; round++) {
               const opened = page.waitForEvent('popup');
               await page.evaluate(() => void open('/asking.html'));
               const popup = await opened;
               popup.on('dialog', (dialog) => dialog.dismiss());
               await popup.waitForFunction(() => document.title.startsWith('answered'));
               seen.add(await page.evaluate('1 + 1')).add(await popup.title());
               await popup.close();
             }
             return [...seen];",
        )
        .await;
    assert_eq!(seen, json!([2, "answered null"]));
    stage.end().await;
}

#[tokio::test]
async fn a_popup_that_its_busy_opener_holds_up_arrives_all_the_same() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const opened = page.waitForEvent('popup');
             await page.evaluate(() => {
               open('/index.html');
               // Longer than a page may be silent.
               const end = Date.now() + 4000;
               while (Date.now() < end);
             });
             const popup = await opened;
             await popup.waitForURL('**/index.html');
             return popup.title();",
        )
        .await;
    assert_eq!(seen, "a page");
    stage.end().await;
}

#[tokio::test]
async fn a_popup_that_is_reloaded_is_seen_from_its_first_request_on() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             await context.route('**/form.html', (route) => route.fulfill({
               contentType: 'text/html',
               body: `<title>routed</title><script>console.log('first', globalThis.early)</script>`,
             }));
             await context.addInitScript('globalThis.early = true');
             const opened = page.waitForEvent('popup');
             await page.evaluate(() => void open('/form.html'));
             const popup = await opened;
             await popup.waitForURL('**/form.html');
             const [request, line] = await Promise.all([
               popup.waitForEvent('request'), popup.waitForEvent('console'), popup.reload()]);
             return [new URL(request.url()).pathname, line.text(), await popup.title()];",
        )
        .await;
    assert_eq!(seen, json!(["/form.html", "first true", "routed"]));
    stage.end().await;
}

#[tokio::test]
async fn a_link_is_opened_in_a_page_of_its_clients_to_answer_its_first_dialog() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const href = await page.locator('#blank').evaluate((link) => {
               link.href = '/asking.html';
               return link.href;
             });
             const opened = await context.newPage();
             opened.on('dialog', (dialog) => dialog.accept('yes'));
             await opened.goto(href);
             return opened.title();",
        )
        .await;
    assert_eq!(seen, "answered yes");
    stage.end().await;
}

#[tokio::test]
async fn a_download_that_would_open_a_tab_is_told_when_the_link_has_no_target() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/popups.html');
             const link = page.locator('#blank');
             await link.evaluate((link) => { link.href = '/download'; });
             await link.click();
             // Whatever becomes of the tab, nobody waits for it.
             const still = await page.title();
             await link.evaluate((link) => link.removeAttribute('target'));
             const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
             return [still, download.suggestedFilename(), await download.failure()];",
        )
        .await;
    assert_eq!(seen, json!(["a page that opens others", "report.txt", null]));
    stage.end().await;
}
