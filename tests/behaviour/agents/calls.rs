//! Calls end, and so does what they leave behind.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use end_to_end::{Agent, Sdk, Stage, TIMEOUT, http_until, show_figure};
use relay::client::Client;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::answers::{failed, ok};
use super::sessions::key_of_browser;

const BLOCKED: &str = "[note] the session has begun afresh since the last call: `state` was empty \
                       (what earlier code had left running blocked it)\n";

/// Goes on until the browser is taken away.
const TICKING: &str = "await page.evaluate(() => { window.ticks = 1 });
    for (;;) {
        await page.evaluate(() => { window.ticks += 1 });
        await new Promise((done) => setTimeout(done, 20));
    }";

/// Goes on whatever happens.
const STUBBORN: &str = "await page.evaluate(() => { window.ticks = 1 });
    for (;;) await new Promise((done) => setTimeout(done, 20))";

#[tokio::test]
async fn a_call_does_not_wait_for_work_that_earlier_calls_left_running() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    for leave in [
        "setImmediate(() => { while (true) {} }); 0",
        "Promise.resolve().then(() => setImmediate(() => { while (true) {} })); 1",
    ] {
        ok(agent.execute(leave).await);
        assert_eq!(ok(agent.execute("1 + 1").await), format!("{BLOCKED}2"));
    }
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_worker_that_blocks_itself_after_its_call_is_ended() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let endless = "const again = () => queueMicrotask(again); setTimeout(again); 1";
    ok(agent.execute(endless).await);
    let is_over = |listed: &Value| listed["sessions"][0]["isRunning"] == false;
    http_until(stage.port(), &format!("GET /sessions?{}", stage.agents_token()), is_over).await;
    assert_eq!(ok(agent.execute("1 + 1").await), format!("{BLOCKED}2"));
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_over_stdio_ends() {
    let stage = Stage::without_relay().await;
    let agent = stage.agent_over_stdio(Sdk::TypeScript);
    cancelled_calls_end(agent).await;
    stage.end().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_over_http_ends() {
    let stage = Stage::with_controlled_tab().await;
    let agent = stage.agent_over_http(Sdk::TypeScript);
    cancelled_calls_end(agent).await;
    stage.end().await;
}

async fn cancelled_calls_end(mut agent: Agent) {
    let mut seen = Vec::new();
    // Code has three seconds to end by itself, in which a busy machine may not get to it.
    while !seen.iter().any(|text: &String| text.ends_with("\nkept")) {
        assert!(seen.len() < 3, "{seen:?}");
        ok(agent.execute("state.kept = 'kept'").await);
        cancel_when_begun(&mut agent, TICKING).await;
        seen.push(ok(agent.execute("state.kept").await));
    }
    let text = seen.last().unwrap();
    assert!(text.starts_with("[note] the browser was away and is back"), "{text}");
    assert_eq!(ok(agent.execute(STANDS_STILL).await), "true");

    cancel_when_begun(&mut agent, STUBBORN).await;
    let text = ok(agent.execute("typeof state.kept").await);
    assert!(
        text.contains("(a call that was cancelled did not stop by itself)\nundefined"),
        "{text}"
    );
    agent.end().await;
}

const STANDS_STILL: &str = "const ticks = () => page.evaluate(() => window.ticks);
    const before = await ticks();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
    before === await ticks()";

const HAS_BEGUN: &str = "await page.waitForFunction(() => window.ticks > 0)";

async fn cancel_when_begun(agent: &mut Agent, code: &str) {
    let watch = |code: &str| json!({ "session": "watch", "code": code, "timeout": 100_000 });
    ok(agent.call("execute", watch("await page.evaluate(() => { window.ticks = 0 })")).await);
    let call = agent.begin("execute", json!({ "code": code, "timeout": 100_000 })).await;
    ok(agent.call("execute", watch(HAS_BEGUN)).await);
    let refused = agent.cancel(call).await.refused.unwrap();
    assert!(refused.contains("cancelled by the test"), "{refused}");
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let client = patient_client(&stage);
    let run = json!({ "code": TICKING, "timeout": 100_000 });
    ok(agent.execute("await page.evaluate(() => { window.ticks = 0 })").await);
    let begun = json!({ "code": HAS_BEGUN, "timeout": 100_000 });
    tokio::select! {
        outcome = client.post::<Value>("/sessions/left/execute", &run) => panic!("{outcome:?}"),
        seen = agent.call("execute", begun) => drop(ok(seen)),
    }
    // The calls that wait come next when it has ended.
    let next = json!({ "session": "left", "code": STANDS_STILL });
    let text = ok(agent.call("execute", next).await);
    assert!(text.ends_with("\ntrue"), "{text}");
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_call_of_an_agent_that_hangs_up_ends() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent.execute("await page.evaluate(() => { window.ticks = 0 })").await);
    let mut other = Agent::http(Sdk::Python, &stage.mcp_url("session=left"));
    other.begin("execute", json!({ "code": TICKING, "timeout": 100_000 })).await;
    ok(agent.call("execute", json!({ "code": HAS_BEGUN, "timeout": 100_000 })).await);
    // Dropping kills it.
    drop(other);
    let next = json!({ "session": "left", "code": STANDS_STILL });
    let text = ok(agent.call("execute", next).await);
    assert!(text.ends_with("\ntrue"), "{text}");
    agent.end().await;
    stage.end().await;
}

fn patient_client(stage: &Stage) -> Client {
    stage.client().with_timeout(2 * TIMEOUT)
}

/// The longest time, as the relay sees it, by which an answer may come past its limit when the
/// machine is not busy.
const LATEST: Duration = Duration::from_secs(1);

#[tokio::test]
async fn code_that_overruns_is_answered_within_a_second_of_its_limit() {
    let stage = Stage::with_controlled_tab().await;
    let client = patient_client(&stage);
    let limit = Duration::from_millis(500);
    let mut slowest = Duration::ZERO;
    for code in ["while (true) {}", "await new Promise(() => {})", "for (;;) await null"] {
        let mut late = vec![late_by(&client, code, limit).await];
        // Tests that run at the same time take the machine now and then, not always.
        while late.iter().all(|late| *late >= LATEST) {
            assert!(late.len() < 6, "{code}: {late:?}");
            late.push(late_by(&client, code, limit).await);
        }
        slowest = slowest.max(late.into_iter().min().unwrap());
    }
    show_figure("the slowest answer past its limit", &format!("{} ms", slowest.as_millis()));
    stage.end().await;
}

#[tokio::test]
async fn output_of_code_that_overran_is_not_lost() {
    let stage = Stage::with_controlled_tab().await;
    let code = "console.log('so far'); while (true) {}";
    let call = json!({ "code": code, "timeout": 5_000 });
    let client = patient_client(&stage);
    let outcome: Value = client.post("/sessions/late/execute", &call).await.unwrap();
    let text = outcome["text"].as_str().unwrap();
    assert!(text.starts_with("[log] so far\nthe code did not end within 5000 ms"), "{text}");
    stage.end().await;
}

async fn late_by(client: &Client, code: &str, limit: Duration) -> Duration {
    let code = format!("console.log('so far'); {code}");
    let call = |code: &str, limit: Duration| json!({ "code": code, "timeout": limit.as_millis() });
    client.post::<Value>("/sessions/late/execute", &call("1", TIMEOUT)).await.unwrap();
    let start = Instant::now();
    let outcome: Value = client.post("/sessions/late/execute", &call(&code, limit)).await.unwrap();
    let took = start.elapsed();
    assert_eq!(outcome["failed"], true, "{outcome}");
    let text = outcome["text"].as_str().unwrap();
    let Some(end) = text.strip_prefix("[log] so far\n") else {
        // The machine was taken from it before it could say anything.
        return Duration::MAX;
    };
    assert!(end.starts_with("the code did not end within 500 ms"), "{text}");
    took.saturating_sub(limit)
}

#[tokio::test]
async fn waiting_for_a_page_ends_before_the_call_does() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let busy = format!(
        "state.kept = 'kept';
         await page.route('**/busy', (route) => route.fulfill({{
             contentType: 'text/html', body: '<script>fetch(\"/silent\")</script>',
         }}));
         await page.goto('{}/busy')",
        stage.site.url()
    );
    ok(agent.execute(&busy).await);
    for wait in ["await waitForPageLoad()", "await waitForPageLoad({ timeout: 60_000 })"] {
        let text = ok(agent.call("execute", near_its_end(&format!("return {wait}"))).await);
        let (_, limit) = text.split_once("networkidle did not come within ").expect(&text);
        let limit = limit.strip_suffix(" ms (reached: load)").expect(&text);
        assert!(limit.parse::<u64>().unwrap() <= 500, "{text}");
        assert_eq!(ok(agent.execute("state.kept").await), "kept");
    }
    agent.end().await;
    stage.end().await;
}

/// Code of a call that has a long time to end, and believes that it has half a second: Playwright's
/// waits must be over a second before the call's.
pub(super) fn near_its_end(code: &str) -> Value {
    let code = format!(
        "const {{ now }} = performance;
         performance.now = () => now.call(performance) + 98_500;
         // The limit is drawn in four times a second.
         await new Promise((done) => setTimeout(done, 500));
         try {{
             return await (async () => {{ {code} }})();
         }} finally {{
             delete performance.now;
         }}"
    );
    json!({ "code": code, "timeout": 100_000 })
}

#[tokio::test]
async fn the_code_s_own_patience_is_kept_and_the_call_s_is_not() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let default = "context._timeoutSettings._timeout({})";
    let between = format!("setImmediate(() => {{ state.between = {default} }}); 1");
    let short = json!({ "code": between, "timeout": 20_000 });
    ok(agent.call("execute", short).await);
    assert_eq!(ok(agent.execute("state.between").await), "30000");
    let chosen = "context.setDefaultTimeout(200);
        await new Promise((done) => setTimeout(done, 600));
        await page.click('#missing').catch(({ message }) => message.split('\\n')[0])";
    assert!(ok(agent.execute(chosen).await).contains("Timeout 200ms exceeded"));
    ok(agent.execute(&between).await);
    assert_eq!(ok(agent.execute("state.between").await), "200");
    assert_eq!(ok(agent.execute(default).await), "200");
    let endless = "context.setDefaultTimeout(0)";
    ok(agent.execute(&format!("{endless}; {between}")).await);
    assert_eq!(ok(agent.execute("state.between").await), "0");
    let usual = agent.call("execute", json!({ "code": default })).await;
    let drawn_in: u64 = ok(usual).parse().unwrap();
    assert!((1..=9_000).contains(&drawn_in), "{drawn_in}");
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn connecting_again_is_not_held_against_the_code() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let slow = "state.kept = 'kept';
        const type = browser.browserType();
        const { connectOverCDP } = type;
        type.connectOverCDP = async (...given) => {
            await new Promise((done) => setTimeout(done, 5_000));
            return connectOverCDP.apply(type, given);
        };
        await browser.close()";
    ok(agent.execute(slow).await);
    let next = json!({ "code": "state.kept", "timeout": 4_000 });
    let text = ok(agent.call("execute", next).await);
    assert!(text.ends_with("\nkept"), "{text}");
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn sixteen_calls_wait_in_a_session_and_no_more() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent.execute("await page.evaluate(() => { window.go = false })").await);
    let client = patient_client(&stage);
    let wait =
        json!({ "code": "await page.waitForFunction(() => window.go); 1", "timeout": 100_000 });
    let mut calls: FuturesUnordered<_> =
        (0..17).map(|_| client.post::<Value>("/sessions/full/execute", &wait)).collect();
    let refused = calls.next().await.unwrap().unwrap();
    assert_eq!(refused["text"], "16 calls wait for their turn in session full already");
    ok(agent.execute("await page.evaluate(() => { window.go = true })").await);
    while let Some(outcome) = calls.next().await {
        let outcome = outcome.unwrap();
        assert_eq!((&outcome["failed"], &outcome["text"]), (&json!(false), &json!("1")));
    }
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_session_stays_with_its_browser_when_another_comes() {
    // Beside one that has proven itself, another would be nobody's choice.
    let stage = Stage::unpaired().await;
    stage.control_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent.execute("state.kept = 'kept'").await);
    let mut other = stage.raw_extension("browser=Other&installId=other&v=0.7.0").await;
    let tab = json!({
        "sessionId": "pw-tab-1",
        "targetInfo": {
            "targetId": "T", "type": "page", "title": "", "url": "about:blank", "attached": true,
            "browserContextId": "c",
        },
        "waitingForDebugger": false,
    });
    let attached = json!({ "method": "Target.attachedToTarget", "params": tab });
    other.send(&json!({ "method": "forwardCDPEvent", "params": attached }).to_string()).await;
    stage.status_when("both tabs", |status| status.page_count == 2).await;
    // A browser that is not there is waited for, and nobody waits for a choice.
    let absent = json!({ "session": "absent", "code": "1", "browser": "absent" });
    agent.begin("execute", absent).await;
    let text = failed(agent.call("execute", json!({ "session": "new", "code": "1" })).await);
    assert!(text.starts_with("several browsers are connected"), "{text}");
    let text = failed(agent.answer().await);
    assert!(text.starts_with("browser absent is not connected"), "{text}");
    let key = key_of_browser(&stage).await;
    let chosen = json!({ "session": "new", "code": "typeof page", "browser": key });
    assert_eq!(ok(agent.call("execute", chosen).await), "object");
    assert_eq!(ok(agent.execute("state.kept").await), "kept");
    // The session keeps its browser over a reconnect, too.
    stage.end_worker().await;
    assert_eq!(ok(agent.execute("[state.kept, await page.evaluate('1')].join()").await), "kept,1");
    // A reset also forgets the browser of the session.
    ok(agent.call("reset", json!({})).await);
    let text = failed(agent.execute("1").await);
    assert!(text.starts_with("several browsers are connected"), "{text}");
    // The session can then be given a browser.
    let chosen = json!({ "code": "typeof state.kept", "browser": key });
    assert_eq!(ok(agent.call("execute", chosen).await), "undefined");
    assert_eq!(ok(agent.execute("typeof page").await), "object");
    agent.end().await;
    stage.end().await;
}
