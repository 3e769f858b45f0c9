//! One short test of all parts, for `make quick`.

use end_to_end::Stage;
use serde_json::json;

#[tokio::test]
async fn playwright_attaches_evaluates_clicks_in_a_hidden_tab_and_closes_it() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const front = context.pages()[0];
             await front.goto(site + '/animated.html');
             const hidden = await context.newPage();
             await hidden.goto(site + '/animated.html');
             await hidden.getByRole('button').click();
             const clicks = await hidden.getByRole('button').getAttribute('data-clicks');
             await hidden.close();
             return { clicks, sum: await front.evaluate('1 + 1'), left: context.pages().length };",
        )
        .await;
    assert_eq!(seen, json!({ "clicks": "1", "sum": 2, "left": 1 }));
    let status = stage.status_when("the page to be gone", |status| status.page_count == 1).await;
    assert_eq!(status.page_count, 1);
    stage.end().await;
}
