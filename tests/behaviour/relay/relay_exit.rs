//! Changes of clients to the user's tabs end with the relay, however it ends.

use end_to_end::Stage;
use serde_json::{Value, json};

/// Changes much about the page, says so in its title, and is there until the relay is not.
const CLIENT: &str = "
    const page = context.pages()[0];
    await page.goto(site + '/index.html');
    await page.addInitScript(() => { window.left = true; });
    await page.exposeFunction('leftBinding', () => 1);
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setUserAgentOverride', { userAgent: 'nobody' });
    await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Tokyo' });
    await session.send('Network.enable');
    await session.send('Network.setExtraHTTPHeaders', { headers: { left: 'yes' } });
    const gone = new Promise((resolve) => browser.on('disconnected', resolve));
    await context.setOffline(true);
    // The relay ends as soon as the title is seen: the answer may be too late.
    page.evaluate(() => { document.title = 'changed'; }).catch(() => {});
    await gone;
    return true;";

/// The changes that a page sees which is loaded afterwards.
const SEEN: &str = "
    const page = context.pages()[0];
    await page.reload();
    return page.evaluate(() => [
      window.left ?? null, globalThis.leftBinding ?? null, navigator.userAgent === 'nobody',
      Intl.DateTimeFormat().resolvedOptions().timeZone === 'Asia/Tokyo', navigator.onLine,
    ]);";

const NOTHING: [Value; 5] =
    [Value::Null, Value::Null, Value::Bool(false), Value::Bool(false), Value::Bool(true)];

#[tokio::test]
async fn nothing_stays_when_the_relay_is_stopped() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.relay_program().await;
    let stop = async {
        let stopped = stage.playwriter(&["stop"]).status().await.unwrap();
        assert!(stopped.success());
        relay.wait().await.unwrap();
    };
    assert_eq!(seen_after(&stage, stop).await, json!(NOTHING));
    stage.end().await;
}

#[tokio::test]
async fn nothing_stays_when_the_relay_is_killed() {
    let stage = Stage::without_relay().await;
    let mut relay = stage.relay_program().await;
    let kill = async { relay.kill().await.unwrap() };
    assert_eq!(seen_after(&stage, kill).await, json!(NOTHING));
    stage.end().await;
}

/// Changes the page through a client, ends the relay under it, and reads the page through the next
/// relay.
async fn seen_after(stage: &Stage, end: impl Future<Output = ()>) -> Value {
    stage.browser.click_icon().await.unwrap();
    let ending = async {
        stage
            .until_in_worker(
                "chrome.tabs.query({}).then((tabs) => tabs.some((tab) => tab.title === 'changed'))",
            )
            .await;
        end.await;
    };
    tokio::join!(stage.playwright(CLIENT), ending);
    let _relay = stage.relay_program().await;
    stage.playwright(SEEN).await
}
