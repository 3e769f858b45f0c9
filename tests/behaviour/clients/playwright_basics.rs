//! A Playwright user drives the tab that a person put under control.

use end_to_end::Stage;
use serde_json::{Value, json};

#[tokio::test]
async fn playwright_sees_the_controlled_tab_and_evaluates_in_it() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const pages = context.pages();
             return [pages.length, pages[0].url(), await pages[0].evaluate('1+1')];",
        )
        .await;
    assert_eq!(seen, json!([1, "about:blank", 2]));
    stage.end().await;
}

#[tokio::test]
async fn playwright_navigates_clicks_and_takes_a_screenshot_that_is_not_blank() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/index.html');
             await page.getByRole('button').click();
             const screenshot = await page.screenshot();
             return {
               title: await page.title(),
               button: await page.getByRole('button').textContent(),
               screenshot: [...screenshot],
             };",
        )
        .await;
    assert_eq!(seen["title"], "a page");
    assert_eq!(seen["button"], "clicked");
    assert!(colours(&seen["screenshot"]) > 100, "the gradient shows");
    stage.end().await;
}

#[tokio::test]
async fn a_new_page_is_controlled_and_goes_when_it_is_closed() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = await context.newPage();
             await page.goto(site + '/index.html');
             const seen = [context.pages().length, await page.title()];
             await page.close();
             return [...seen, context.pages().length];",
        )
        .await;
    assert_eq!(seen, json!([2, "a page", 1]));
    let status = stage.status_when("the page to go", |status| status.page_count == 1).await;
    assert_eq!(status.pages[0].url, "about:blank");
    stage.end().await;
}

#[tokio::test]
async fn a_frame_of_another_site_can_be_driven() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/frames.html');
             const frame = page.frameLocator('iframe');
             await frame.getByRole('button').click();
             return frame.getByRole('button').textContent();",
        )
        .await;
    assert_eq!(seen, "clicked");
    stage.end().await;
}

#[tokio::test]
async fn events_and_replies_keep_their_order() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             const session = await context.newCDPSession(page);
             await session.send('Runtime.enable');
             const seen = [];
             session.on('Runtime.consoleAPICalled', (event) => seen.push(event.args[0].value));
             const log = 'for (let i = 0; i < 1000; i++) console.log(i)';
             await session.send('Runtime.evaluate', { expression: log });
             return seen;",
        )
        .await;
    // Every event was there before the reply to the command that caused it.
    assert_eq!(seen, Value::from((0..1000).collect::<Vec<i32>>()));
    stage.end().await;
}

#[tokio::test]
async fn a_chrome_error_reaches_the_client_in_chromes_words() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const session = await context.newCDPSession(context.pages()[0]);
             return session.send('Runtime.evaluate', {}).catch((error) => error.message);",
        )
        .await;
    let message = seen.as_str().unwrap();
    assert!(message.contains("Invalid parameters"), "{message}");
    stage.end().await;
}

/// Returns the number of colours of a PNG.
fn colours(bytes: &Value) -> usize {
    let bytes: Vec<u8> = serde_json::from_value(bytes.clone()).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let pixel_size = info.color_type.samples();
    pixels.chunks(pixel_size).collect::<std::collections::BTreeSet<_>>().len()
}
