//! Tabs that a controlled tab opens are controlled, and know their opener.

use std::time::Duration;

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
async fn a_popup_is_freed_of_a_dialog_at_once_or_its_icon_says_who_can_do_that() {
    let stage = Stage::with_controlled_tab().await;
    let drive = stage.playwright(
        "const page = context.pages()[0];
         await page.goto(site + '/popups.html');
         const opened = page.waitForEvent('popup', { timeout: 20000 });
         await page.evaluate(() => {
           const popup = open('about:blank');
           popup.document.write('<title>alerts</title><script>alert(1)</script>');
         });
         const popup = await opened;
         return [await page.evaluate('1 + 1'), await popup.title()];",
    );
    let titles = "chrome.tabs.query({})
        .then((tabs) => Promise.all(tabs.map(({ id }) => chrome.action.getTitle({ tabId: id }))))
        .then((titles) => titles.some((title) => title.includes('its dialog is closed')))";
    let is_said = async {
        while stage.in_worker(titles).await != json!(true) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        seen = drive => assert_eq!(seen, json!([2, "alerts"])),
        // The dialog was there before the debugger, so it is the user's to close.
        () = is_said => {}
    }
    stage.end().await;
}
