//! What a controlled tab opens is controlled, and knows who opened it.

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
