//! Sessions from the command line, and who may ask for them.

use std::ffi::OsStr;
use std::path::Path;

use end_to_end::{Agent, Sdk, Stage, playwright_core, program};
use serde_json::{Value, json};

use super::answers::{failed, ok};

#[tokio::test]
async fn the_command_line_runs_code_in_sessions() {
    let stage = Stage::with_controlled_tab().await;
    let (code, one, _) = stage.run(&["session", "new"]).await;
    assert_eq!((code, one.as_str()), (Some(0), "1"));
    let (_, two, _) = stage.run(&["session", "new"]).await;
    assert_eq!(two, "2");
    let ran = stage.run(&["-s", "1", "-e", "state.x = 41; state.x + 1"]).await;
    assert_eq!(ran, (Some(0), "42".to_owned(), String::new()));
    assert_eq!(stage.run(&["-s", "1", "-e", "state.x"]).await.1, "41");
    assert_eq!(stage.run(&["-s", "2", "-e", "typeof state.x"]).await.1, "undefined");
    let (code, stdout, stderr) = stage.run(&["-s", "2", "-e", "nothing"]).await;
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert_eq!(stderr, "error: ReferenceError: nothing is not defined\n(line 1)");

    let (_, path, _) = stage.run(&["-s", "1", "-e", "await page.screenshot()"]).await;
    assert_eq!(path, stage.files().join("sessions/1/image-1.png").display().to_string());
    assert!(std::fs::read(path).unwrap().starts_with(b"\x89PNG"));

    let (_, listed, _) = stage.run(&["session", "list"]).await;
    let rows: Vec<Vec<&str>> = listed.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!([&rows[0][..2], &rows[1][..2]], [["1", "running"], ["2", "running"]]);
    assert!(rows[0][2].starts_with("install:Chromium:"), "{listed}");
    assert_eq!(stage.run(&["session", "reset", "1"]).await.0, Some(0));
    assert_eq!(stage.run(&["-s", "1", "-e", "typeof state.x"]).await.1, "undefined");
    assert_eq!(stage.run(&["session", "delete", "2"]).await.0, Some(0));
    let (code, _, stderr) = stage.run(&["session", "delete", "2"]).await;
    assert_eq!((code, stderr.starts_with("there is no session 2")), (Some(1), true));
    stage.end().await;
}

#[tokio::test]
async fn a_session_may_open_its_tabs_in_a_window_of_its_own() {
    let stage = Stage::with_controlled_tab().await;
    let is_beside = "const window = async (page) =>
           (await (await getCDPSession({ page })).send('Browser.getWindowForTarget')).windowId;
         const own = await context.newPage();
         await window(own) === await window(context.pages()[0])";
    assert_eq!(stage.run(&["-s", "beside", "-e", is_beside]).await.1, "true");
    let apart = stage.run(&["--separate-window", "-s", "apart", "-e", is_beside]).await;
    assert_eq!(apart, (Some(0), "false".to_owned(), String::new()));
    stage.end().await;
}

#[tokio::test]
async fn agents_and_the_command_line_share_sessions() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent
        .call("execute", json!({ "session": "both", "code": "state.x = 'from the agent'" }))
        .await);
    assert_eq!(stage.run(&["-s", "both", "-e", "state.x"]).await.1, "from the agent");
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn the_environment_chooses_the_session_of_agents_and_of_the_command_line() {
    let stage = Stage::with_controlled_tab().await;
    let playwright = playwright_core();
    let environment = [
        ("PLAYWRITER_SESSION", OsStr::new("chosen")),
        ("PLAYWRITER_PLAYWRIGHT", playwright.as_os_str()),
    ];
    let mut agent = stage.agent_over_stdio_with(Sdk::TypeScript, &["mcp"], &environment);
    ok(agent.execute("state.x = 'from the agent'").await);
    let (_, stdout, stderr) = stage.run_with(&["-e", "state.x"], &environment).await;
    assert_eq!((stdout.as_str(), stderr.as_str()), ("from the agent", ""));
    agent.end().await;
    // A session that was named outlives its agent.
    assert_eq!(stage.run(&["-s", "chosen", "-e", "state.x"]).await.1, "from the agent");
    stage.end().await;
}

#[tokio::test]
async fn a_browser_can_be_chosen_wherever_sessions_are_made() {
    let stage = Stage::with_controlled_tab().await;
    let key = key_of_browser(&stage).await;
    let gone = "browser gone is not connected; these are: ";
    let chosen = ["--browser", key.as_str()];

    let address = |browser: &str| {
        let browser = browser.replace(':', "%3A");
        stage.mcp_url(&format!("session=by-address&browser={browser}"))
    };
    let mut agent = Agent::http(Sdk::TypeScript, &address(&key));
    ok(agent.execute("state.x = 1").await);
    assert_eq!(stage.run(&["-s", "by-address", "-e", "state.x"]).await.1, "1");
    agent.end().await;
    let mut agent =
        stage.agent_over_stdio_with(Sdk::TypeScript, &["mcp", chosen[0], chosen[1]], &[]);
    assert_eq!(ok(agent.execute("1 + 1").await), "2");
    agent.end().await;
    let mut agent =
        stage.agent_over_stdio_with(Sdk::TypeScript, &["mcp", "--browser", "gone"], &[]);
    let text = failed(agent.execute("1 + 1").await);
    assert!(text.starts_with(gone), "{text}");
    agent.end().await;

    let ran = stage.run(&["-s", "run", chosen[0], chosen[1], "-e", "1 + 1"]).await;
    assert_eq!(ran, (Some(0), "2".to_owned(), String::new()));
    let (_, _, stderr) = stage.run(&["-s", "other", "--browser", "gone", "-e", "1 + 1"]).await;
    assert!(stderr.starts_with(&format!("error: {gone}")), "{stderr}");
    let (_, made, _) = stage.run(&["session", "new", chosen[0], chosen[1]]).await;
    let (_, listed, _) = stage.run(&["session", "list"]).await;
    assert!(listed.contains(&format!("{made}\tnot started\t{key}\t")), "{listed}");
    stage.end().await;
}

/// The key of the browser that is on the stage, and was there first.
pub(super) async fn key_of_browser(stage: &Stage) -> String {
    let status: Value =
        serde_json::from_str(&stage.http("GET /extensions/status", &[]).await.body).unwrap();
    status["extensions"][0]["stableKey"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_session_is_bound_to_the_browser_that_was_chosen_for_it() {
    let stage = Stage::with_controlled_tab().await;
    let key = key_of_browser(&stage).await;
    let other = stage.raw_extension("browser=Other&id=other&v=0.7.0").await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let bound = json!({ "session": "bound", "browser": key, "code": "1 + 1" });
    assert_eq!(ok(agent.call("execute", bound).await), "2");
    let elsewhere = json!({ "session": "bound", "browser": "other", "code": "1 + 1" });
    let text = failed(agent.call("execute", elsewhere).await);
    assert!(text.contains(&format!("session bound uses browser {key}")), "{text}");
    let missing = json!({ "session": "nobody", "browser": "nobody", "code": "1 + 1" });
    let text = failed(agent.call("execute", missing).await);
    assert!(text.starts_with("browser nobody is not connected; these are: "), "{text}");
    assert!(text.contains(&format!("{key} (Chromium, 1 controlled tabs)")), "{text}");
    drop(other);
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn no_web_page_gets_at_sessions() {
    let stage = Stage::with_controlled_tab().await;
    for request in ["POST /sessions", "POST /sessions/1/execute", "DELETE /sessions/1", "POST /mcp"]
    {
        let json = ["Content-Type: application/json", "Content-Length: 0"];
        for header in
            ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Host: evil.example"]
        {
            let answer = stage.http(request, &[json[0], json[1], header]).await;
            assert_eq!(answer.status, 403, "{request} {header}");
        }
        let form = ["Content-Type: text/plain", "Content-Length: 0"];
        assert_eq!(stage.http(request, &form).await.status, 415, "{request}");
    }
    let answer = stage.http("GET /sessions", &["Origin: https://evil.example"]).await;
    assert_eq!(answer.status, 403);
    assert_eq!(stage.http("GET /sessions", &[]).await.status, 401);
    let answer = stage.http(&format!("GET /sessions?{}", stage.agents_token()), &[]).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"sessions":[]}"#));
    stage.end().await;
}

#[tokio::test]
async fn there_are_no_more_sessions_than_the_machine_can_bear() {
    let stage = Stage::with_controlled_tab().await;
    let create = format!("POST /sessions?{}", stage.agents_token());
    let create = async || stage.http(&create, &["Content-Length: 0"]).await;
    for _ in 0..32 {
        assert_eq!(create().await.status, 200);
    }
    let refused = create().await;
    assert_eq!(refused.status, 429);
    assert!(refused.body.contains("32 sessions are open already"), "{}", refused.body);
    stage.end().await;
}

#[tokio::test]
async fn refs_of_a_snapshot_work_in_every_version_of_playwright() {
    let stage = Stage::with_controlled_tab().await;
    let click = format!(
        "await page.goto('{}/form.html');
         const [, ref] = (await snapshot({{ search: 'greet' }})).match(/greet.*?\\[ref=(\\w+)\\]/);
         await page.locator('aria-ref=' + ref).click();
         await page.locator('button').textContent()",
        stage.site.url()
    );
    for version in ["1.52", "1.55", "1.59"] {
        let package = playwright_core().with_file_name(format!("playwright-{version}"));
        let environment = [("PLAYWRITER_PLAYWRIGHT", package.as_os_str())];
        let session = version.replace('.', "-");
        let (code, stdout, stderr) =
            stage.run_with(&["-s", &session, "-e", &click], &environment).await;
        assert_eq!((code, stdout.as_str()), (Some(0), "hello"), "{version}: {stderr}");
        let labels = ["-s", &session, "-e", "await screenshotWithLabels()"];
        let (_, stdout, stderr) = stage.run_with(&labels, &environment).await;
        assert!(stdout.contains("image-1.jpeg\n- "), "{version}: {stdout} {stderr}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_playwright_that_cannot_be_installed_is_said_to_be_missing() {
    let stage = Stage::with_controlled_tab().await;
    let nobody = OsStr::new("http://127.0.0.1:9");
    let cache = stage.files().join("empty");
    let environment = [
        ("npm_config_registry", nobody),
        ("npm_config_fetch_retries", OsStr::new("0")),
        ("npm_config_cache", cache.as_os_str()),
    ];
    let (code, stdout, stderr) = stage.run_with(&["-e", "1"], &environment).await;
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains("installing playwright-core"), "{stderr}");
    assert!(stderr.contains("error: playwright-core 1.65.0 could not be installed: "), "{stderr}");
    assert!(stderr.contains("hint: check that the npm registry can be reached"), "{stderr}");
    let elsewhere = [("PLAYWRITER_PLAYWRIGHT", OsStr::new("/nowhere"))];
    let (code, _, stderr) = stage.run_with(&["-e", "1"], &elsewhere).await;
    assert_eq!((code, stderr.contains("there is no playwright-core in /nowhere")), (Some(2), true));
    stage.end().await;
}

#[tokio::test]
async fn playwright_is_installed_once_whatever_the_project_has() {
    let stage = Stage::with_controlled_tab().await;
    let old = stage.home().join("node_modules/playwright-core");
    std::fs::create_dir_all(&old).unwrap();
    let package = r#"{"name":"playwright-core","version":"1.40.1"}"#;
    std::fs::write(old.join("package.json"), package).unwrap();
    let (code, stdout, stderr) = stage.run_with(&["-e", "await page.evaluate('6 * 7')"], &[]).await;
    assert_eq!((code, stdout.as_str()), (Some(0), "42"), "{stderr}");
    assert!(stderr.contains("playwright-core 1.65.0 is installed"), "{stderr}");
    let (_, stdout, stderr) = stage.run_with(&["-e", "1 + 1"], &[]).await;
    assert_eq!((stdout.as_str(), stderr.contains("installing")), ("2", false), "{stderr}");
    let named = [("PLAYWRITER_PLAYWRIGHT", old.as_os_str())];
    let (code, _, stderr) = stage.run_with(&["-e", "1"], &named).await;
    assert_eq!(code, Some(2));
    assert!(stderr.contains("playwright-core 1.40.1 in "), "{stderr}");
    assert!(stderr.contains("is too old"), "{stderr}");
    stage.end().await;
}

#[tokio::test]
async fn an_agent_is_told_while_playwright_is_installed() {
    let stage = Stage::without_relay().await;
    // The registry takes requests and never answers.
    let registry = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let registry_url = format!("http://{}", registry.local_addr().unwrap());
    let (home, port) = (stage.home(), stage.port().to_string());
    let environment = [
        ("HOME", home.as_os_str()),
        ("PLAYWRITER_PORT", OsStr::new(&port)),
        ("npm_config_registry", OsStr::new(&registry_url)),
        ("npm_config_cache", home.as_os_str()),
    ];
    // The folder is not a project's, whose Playwright the program would take.
    let (shell, program) = (r#"cd "$HOME" && exec "$0" mcp"#, program());
    let start = ["-c", shell, program.to_str().unwrap()];
    let mut agent = Agent::stdio(Sdk::TypeScript, Path::new("sh"), &start, &environment);
    agent.begin("execute", json!({ "code": "1" })).await;
    let told = agent.progress().await;
    assert_eq!(told.as_deref(), Some("installing playwright-core, which is done once"));
    agent.end().await;
    stage.end().await;
}
