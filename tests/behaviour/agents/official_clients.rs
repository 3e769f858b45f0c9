//! Agents drive the user's browser through one tool, with whichever official client.

use end_to_end::{Agent, Sdk, Stage};
use serde_json::{Value, json};

use super::answers::{failed, ok};
use super::calls::near_its_end;
use super::confinement::nothing_gets_out_of_hand;

#[tokio::test]
async fn the_typescript_sdk_over_stdio() {
    over_stdio(Sdk::TypeScript).await;
}

#[tokio::test]
async fn the_python_sdk_over_stdio() {
    over_stdio(Sdk::Python).await;
}

#[tokio::test]
async fn the_typescript_sdk_over_http() {
    over_http(Sdk::TypeScript).await;
}

#[tokio::test]
async fn the_python_sdk_over_http() {
    over_http(Sdk::Python).await;
}

async fn over_stdio(sdk: Sdk) {
    let stage = Stage::without_relay().await;
    let mut agent = stage.agent_over_stdio(sdk);
    works(&mut agent, &stage.site.url()).await;
    agent.end().await;
    stage.end().await;
}

async fn over_http(sdk: Sdk) {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(sdk);
    works(&mut agent, &stage.site.url()).await;
    agent.end().await;
    stage.end().await;
}

async fn works(agent: &mut Agent, site: &str) {
    the_tools_explain_themselves(agent).await;
    pages_are_driven(agent, site).await;
    pages_are_seen(agent, site).await;
    answers_are_short(agent).await;
    mistakes_are_explained(agent).await;
    sessions_are_apart(agent).await;
    nothing_gets_out_of_hand(agent).await;
}

async fn the_tools_explain_themselves(agent: &mut Agent) {
    let tools = agent.tools().await;
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["execute", "reset"]);
    let execute = &tools[0];
    assert!(execute["description"].as_str().unwrap().contains("aria-ref"));
    assert_eq!(execute["inputSchema"]["required"], json!(["code"]));
    assert_eq!(execute["inputSchema"]["properties"]["timeout"]["default"], 10_000);
    let refused = agent.call("execute", json!({ "cod": "1" })).await.refused.unwrap();
    assert!(refused.contains("cod"), "{refused}");
}

async fn pages_are_driven(agent: &mut Agent, site: &str) {
    let opened =
        format!("await page.goto('{site}/form.html'); state.visits = 1; await page.title()");
    assert_eq!(ok(agent.execute(&opened).await), "a form");
    let filled = "await page.getByPlaceholder('name').fill('Ann'); await page.getByRole('button', { name: 'greet' }).click()";
    assert_eq!(ok(agent.execute(filled).await), "done; there is no value");
    assert_eq!(ok(agent.execute("await page.locator('button').textContent()").await), "hello Ann");
    assert_eq!(ok(agent.execute("state.visits += 1").await), "2");
    assert_eq!(
        ok(agent.execute("({ a: [1, 'x'], page })").await),
        format!("{{ a: [ 1, 'x' ], page: <Page {site}/form.html> }}")
    );
}

async fn pages_are_seen(agent: &mut Agent, site: &str) {
    ok(agent.execute(&format!("await page.goto('{site}/form.html')")).await);
    let tree = ok(agent.execute("await snapshot()").await);
    let line = tree.lines().find(|line| line.contains("button \"greet\"")).unwrap();
    let reference = line.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    ok(agent.execute(&format!("await page.locator('aria-ref={reference}').click()")).await);
    let changed = ok(agent.execute("await snapshot({ page, diff: true })").await);
    assert!(changed.contains("- ") && changed.contains("button \"hello\""), "{changed}");
    let turn = |word: &str, search: &str| {
        format!(
            "await page.locator('button').evaluate((it) => {{ it.textContent = '{word}' }});
             await snapshot({{ page, diff: true, search: '{search}' }})"
        )
    };
    let changed = ok(agent.execute(&turn("again", "AGAIN")).await);
    assert!(changed.contains("button \"again\"") && !changed.contains("hello"), "{changed}");
    let unchanged = ok(agent.execute(&turn("hello", "textbox")).await);
    assert_eq!(unchanged, "nothing that matches textbox changed since the last snapshot");
    let found = ok(agent.execute("await snapshot({ search: /textbox/ })").await);
    assert!(found.contains("textbox") && !found.contains("button"), "{found}");

    let labelled = agent.execute("await screenshotWithLabels({ page })").await;
    assert_eq!((labelled.images.len(), labelled.images[0].mime_type.as_str()), (1, "image/jpeg"));
    assert!(labelled.text.contains("button \"hello\""), "{}", labelled.text);
    let left = "await page.locator('#playwriter-labels').count()";
    assert_eq!(ok(agent.execute(left).await), "0");
    let shot = agent.execute("await page.screenshot()").await;
    assert_eq!((shot.text.as_str(), shot.images[0].mime_type.as_str()), ("", "image/png"));
    assert!(shot.images[0].data.starts_with("iVBORw0KGgo"));

    let said = "await page.evaluate(() => { console.warn('from the page'); console.log('quiet') });
        await getLatestLogs({ page, search: 'FROM' })";
    assert_eq!(ok(agent.execute(said).await), "[warning] from the page");
    let lines = "const lines = await getLatestLogs({ page, count: 2 });
        [Array.isArray(lines), lines.length, lines[0], `${lines}`, JSON.stringify(lines)]";
    let lines = ok(agent.execute(lines).await);
    let text = "[warning] from the page\\n[log] quiet";
    assert!(lines.starts_with("[\n  true,\n  2,\n  '[warning] from the page',"), "{lines}");
    assert!(lines.contains(text) && lines.contains(r#"["[warning] from the page","[log] quiet"]"#));
    let html = ok(agent.execute("await getCleanHTML({ locator: page.locator('button') })").await);
    assert_eq!(html, "<button>hello</button>");
    let text = ok(agent.execute("await getPageMarkdown({ page })").await);
    assert!(text.starts_with("# a form") && text.contains("[a file]("), "{text}");
    let loaded = ok(agent.execute("await waitForPageLoad({ page })").await);
    assert!(loaded.contains("loaded in"), "{loaded}");
    let version = "(await (await getCDPSession({ page })).send('Runtime.evaluate', { expression: '6*7' })).result.value";
    assert_eq!(ok(agent.execute(version).await), "42");
}

async fn answers_are_short(agent: &mut Agent) {
    let said = ok(agent.execute("console.log('one', { two: 2 }); console.error('three'); 4").await);
    assert_eq!(said, "[log] one { two: 2 }\n[error] three\n4");
    let long = ok(agent.execute("'x'.repeat(25_000)").await);
    assert!(long.starts_with(&"x".repeat(10_000)), "{}", long.len());
    assert!(long.contains("the result was cut here: 15000 more characters"), "{}", &long[10_000..]);
    let long = ok(agent.execute("for (let i = 0; i < 2_000; i += 1) console.log('line', i)").await);
    assert!(
        long.len() < 10_500 && long.contains("the console output was cut here"),
        "{}",
        long.len()
    );
}

async fn mistakes_are_explained(agent: &mut Agent) {
    assert_eq!(
        failed(agent.execute("const a = 1;\nthrow new TypeError('boom')").await),
        "TypeError: boom\n(line 2)"
    );
    assert_eq!(
        failed(agent.execute("const a = ;").await),
        "SyntaxError: Unexpected token ';' (line 1)\nconst a = ;\n          ^"
    );
    // Playwright gives up before the call does, so that the state is kept.
    ok(agent.execute("state.kept = 'yes'").await);
    let missing = near_its_end("await page.click('#missing')");
    let missing = failed(agent.call("execute", missing).await);
    assert!(missing.contains("waiting for locator('#missing')"), "{missing}");
    assert!(!missing.contains("    at "), "{missing}");
    assert_eq!(ok(agent.execute("state.kept").await), "yes");
    let later = "setTimeout(() => { throw new Error('too late') }); await new Promise((done) => setTimeout(done, 50))";
    assert!(ok(agent.execute(later).await).starts_with("[uncaught] Error: too late"));
}

async fn sessions_are_apart(agent: &mut Agent) {
    let call = |session: &str, code: &str| {
        ("execute", json!({ "session": session, "code": code, "timeout": 100_000 }))
    };
    // Either can only end if the other one runs at the same time; both see the same tab.
    let both = agent
        .call_all(&[
            call("left", "state.me = 'left'; await page.waitForFunction(() => window.right); await page.evaluate(() => { window.left = true })"),
            call("right", "state.me = 'right'; await page.evaluate(() => { window.right = true }); await page.waitForFunction(() => window.left)"),
        ])
        .await;
    for answer in both {
        ok(answer);
    }
    assert_eq!(ok(agent.call("execute", call("left", "state.me").1).await), "left");
    assert_eq!(ok(agent.call("execute", call("right", "state.me").1).await), "right");
    assert_eq!(ok(agent.execute("typeof state.me").await), "undefined");

    let one_by_one = "const busy = state.busy; state.busy = true;
        await new Promise((done) => setTimeout(done, 50));
        state.busy = false; busy ?? 'first'";
    let calls = [call("left", one_by_one), call("left", one_by_one)];
    let mut seen: Vec<String> = agent.call_all(&calls).await.into_iter().map(ok).collect();
    seen.sort();
    assert_eq!(seen, ["false", "first"]);

    let reset = ok(agent.call("reset", json!({ "session": "left" })).await);
    assert!(reset.contains("its state is empty"), "{reset}");
    assert_eq!(ok(agent.call("execute", call("left", "typeof state.me").1).await), "undefined");
    assert_eq!(ok(agent.call("execute", call("right", "state.me").1).await), "right");
}
