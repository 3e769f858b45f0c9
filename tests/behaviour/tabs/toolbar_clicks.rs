//! The user clicks the icon and the banner, in a real window with a real mouse.

use end_to_end::{Colour, Stage};
use serde_json::json;

/// The green of our icon.
const GREEN_ICON: Colour = [0x12, 0xa1, 0x50];
/// The grey of our icon.
const GREY_ICON: Colour = [0x9a, 0x9a, 0xa2];
/// The black of our icon.
const BLACK_ICON: Colour = [0x1b, 0x1b, 0x1f];
/// Chrome's button on the banner that says who is debugging.
const CANCEL_BUTTON: Colour = [0x0b, 0x57, 0xd0];

#[tokio::test]
async fn a_click_on_the_icon_controls_the_tab_and_another_releases_it() {
    let stage = Stage::on_a_screen().await;
    stage.screen().click("the black icon", BLACK_ICON).await;
    stage.status_when("the tab to be controlled", |status| status.page_count == 1).await;
    stage.screen().find("the green icon", GREEN_ICON).await;
    stage.screen().save("controlled");
    stage.screen().click("the green icon", GREEN_ICON).await;
    stage.status_when("the tab to be released", |status| status.page_count == 0).await;
    stage.screen().find("the black icon", BLACK_ICON).await;
    stage.screen().save("released");
    stage.end().await;
}

#[tokio::test]
async fn the_icon_is_grey_while_no_relay_runs() {
    let mut stage = Stage::on_a_screen().await;
    stage.screen().click("the black icon", BLACK_ICON).await;
    stage.screen().find("the green icon", GREEN_ICON).await;
    stage.stop_relay().await;
    stage.screen().find("the grey icon", GREY_ICON).await;
    stage.screen().save("no-relay");
    stage.start_relay().await;
    stage.screen().find("the green icon", GREEN_ICON).await;
    stage.end().await;
}

#[tokio::test]
async fn cancel_on_the_banner_releases_the_tab_for_good() {
    let stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    stage.screen().save("banner");
    // The address bar above has the same blue.
    stage.screen().click_below(100, "the banner's button", CANCEL_BUTTON).await;
    stage.status_when("the tab to be released", |status| status.page_count == 0).await;
    stage.screen().find("the black icon", BLACK_ICON).await;
    let state = stage.extension_state().await;
    assert_eq!(state["tabs"], json!([]));
    stage.end().await;
}

#[tokio::test]
async fn devtools_and_a_client_share_a_tab() {
    let stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    stage.playwright("await context.pages()[0].goto(site + '/index.html')").await;
    stage.screen().press("F12");
    stage
        .until_in_worker(
            "chrome.debugger.getTargets()
                .then((all) => all.some((target) => target.url.startsWith('devtools://')))",
        )
        .await;
    assert_eq!(stage.playwright("return context.pages()[0].title()").await, "a page");
    stage.screen().save("devtools");
    let state = stage.extension_state().await;
    assert_eq!(state["tabs"][0]["sessionId"], "pw-tab-1", "nothing was taken away");
    stage.end().await;
}

#[tokio::test]
async fn a_client_at_work_takes_neither_the_focus_nor_the_front() {
    let mut stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    let front = "(async () => {
        const { id } = await chrome.windows.getLastFocused();
        const active = await chrome.tabs.query({ active: true, windowId: id });
        return [id, active.map((tab) => tab.id)];
    })()";
    let work = "const page = await context.newPage();
        await page.goto(site + '/index.html');
        await page.getByRole('button').click();
        await page.screenshot();
        return page.getByRole('button').textContent();";
    let before = stage.in_worker(front).await;
    assert_eq!(stage.playwright(work).await, "clicked");
    stage.screen().save("client-at-work");
    assert_eq!(stage.in_worker(front).await, before);
    stage.stop_relay().await;
    stage.start_relay_with(true).await;
    stage.status_when("the tabs to come back", |status| status.page_count == 2).await;
    // There is no click here: Chrome itself raises a window in whose front tab the mouse is pressed.
    let work = "const page = await context.newPage();
        await page.goto(site + '/index.html');
        await page.screenshot();
        return page.title();";
    assert_eq!(stage.playwright(work).await, "a page");
    stage.screen().save("client-at-work-in-its-window");
    assert_eq!(stage.in_worker(front).await, before);
    stage.end().await;
}
