//! Whatever agents' code does ends with its own session, and reaches little of the machine.

use std::time::Duration;

use end_to_end::{Agent, Sdk, Stage};
use serde_json::json;
use tokio::time::Instant;

use super::answers::{failed, ok};

/// A machine that is busy with other tests takes longer than a user's.
const LATEST: Duration = Duration::from_secs(30);

/// Code finds the process that it runs in, however little is in its scope.
pub(in crate::behaviour) const PROCESS: &str = "page.constructor.constructor('return process')()";

pub(super) async fn nothing_gets_out_of_hand(agent: &mut Agent) {
    for code in ["await new Promise(() => {})", "while (true) {}"] {
        let (text, took) = in_a_session(agent, code, 1_000).await;
        assert!(text.contains("did not end within 1000 ms"), "{code}: {text}");
        assert!(took < LATEST, "{code}: {took:?}");
    }
    let (text, _) = in_a_session(agent, &format!("{PROCESS}.exit(3)"), 10_000).await;
    assert!(text.contains("ended its own process (exit code 3)"), "{text}");
    let flood = "const all = []; for (;;) all.push(new Array(1e6).fill({ all }))";
    let (text, _) = in_a_session(agent, flood, 60_000).await;
    assert!(text.contains("ran out of memory"), "{text}");
    let flood = "const all = []; for (;;) all.push(Buffer.alloc(1e8, 1))";
    let flood = json!({ "code": flood, "timeout": 60_000 });
    assert!(failed(agent.call("execute", flood).await).contains("allocation failed"));
    for (code, why) in refusals() {
        let text = failed(agent.execute(&code).await);
        assert!(text.contains(why), "{code}: {text}");
    }
    let environment = ok(agent.execute(&format!("Object.keys({PROCESS}.env).sort().join()")).await);
    assert_eq!(environment, "HOME,PWD,TMPDIR");
    let halved = "'x' + '😀'.repeat(6000)";
    assert!(ok(agent.execute(halved).await).contains("was cut here"));
    let own = "const fs = require('fs'); fs.writeFileSync('note.txt', 'mine'); fs.readFileSync('note.txt', 'utf8')";
    assert_eq!(ok(agent.execute(own).await), "mine");
}

/// Code that must fail, and a part of the reason.
fn refusals() -> Vec<(String, &'static str)> {
    let built_in = |name: &str| format!("{PROCESS}.getBuiltinModule('{name}')");
    vec![
        ("process.exit()".to_owned(), "process is not defined"),
        ("require('fs').readFileSync('/etc/passwd', 'utf8')".to_owned(), "/etc/passwd"),
        ("require('fs').writeFileSync('/var/tmp/playwriter', '')".to_owned(), "restricted"),
        ("require('fs').linkSync('a', 'b')".to_owned(), "not available"),
        ("await require('fs/promises').link('a', 'b')".to_owned(), "not available"),
        ("require('child_process')".to_owned(), "only these modules"),
        (format!("{}.execSync('id')", built_in("child_process")), "restricted"),
        (
            format!("new ({}.Worker)('1', {{ eval: true }})", built_in("worker_threads")),
            "restricted",
        ),
        (format!("{PROCESS}.kill({PROCESS}.ppid)"), "kill is not available"),
        (format!("{PROCESS}._debugProcess({PROCESS}.ppid)"), "not available"),
        (format!("{PROCESS}.binding('process_wrap')"), "not available"),
        (
            format!("new ({}.ChildProcess)()._handle.kill(0)", built_in("child_process")),
            "kill is not available",
        ),
        (format!("{PROCESS}.report.writeReport('x')"), "undefined"),
        (format!("{}.setFlagsFromString('--trace-gc')", built_in("v8")), "not available"),
        (
            format!(
                "const sqlite = {};
                 if (!sqlite) throw new Error('this Node has none, so it is not available');
                 new sqlite.DatabaseSync('/var/tmp/playwriter.db')",
                built_in("node:sqlite")
            ),
            "not available",
        ),
        (format!("new ({}.WASI)({{ version: 'preview1' }})", built_in("wasi")), "not available"),
    ]
}

/// Runs code that ends its session, and makes sure that the session comes back empty.
async fn in_a_session(agent: &mut Agent, code: &str, timeout: u64) -> (String, Duration) {
    let session = "lost";
    let call =
        |code: &str, timeout: u64| json!({ "session": session, "code": code, "timeout": timeout });
    ok(agent.call("execute", call("state.before = true", 60_000)).await);
    let start = Instant::now();
    let text = failed(agent.call("execute", call(code, timeout)).await);
    let took = start.elapsed();
    assert!(text.contains("the session starts again with an empty `state`"), "{text}");
    assert_eq!(ok(agent.call("execute", call("typeof state.before", 60_000)).await), "undefined");
    (text, took)
}

#[tokio::test]
async fn the_browser_fetches_no_files_for_agents() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let form = format!("await page.goto('{}/form.html')", stage.site.url());
    ok(agent.execute(&form).await);
    let outside = "is outside of the session's folder";
    let not_opened = "is not opened for this client";
    for (code, why) in [
        ("await page.goto('file:///etc/passwd')", not_opened),
        (
            "await (await getCDPSession()).send('Page.navigate', { url: 'file:///etc/passwd' })",
            not_opened,
        ),
        (
            "await (await getCDPSession()).send('DOM.setFileInputFiles', { files: ['/etc/passwd'], nodeId: 1 })",
            outside,
        ),
        ("await page.setInputFiles('#files', '/etc/passwd')", "restricted"),
        ("await page.screenshot({ path: '/var/tmp/playwriter.png' })", "restricted"),
        (
            "const down = page.waitForEvent('download'); await page.click('#download'); await (await down).saveAs('/var/tmp/playwriter.txt')",
            "restricted",
        ),
    ] {
        let text = failed(agent.execute(code).await);
        assert!(text.contains(why), "{code}: {text}");
    }
    let own = "require('fs').writeFileSync('mine.txt', 'mine');
        await page.setInputFiles('#files', 'mine.txt');
        await page.evaluate(() => document.querySelector('#files').files[0].text())";
    assert_eq!(ok(agent.execute(own).await), "mine");
    let down = "const down = page.waitForEvent('download'); await page.click('#download');
        await (await down).saveAs('down.txt'); await page.screenshot({ path: 'shot.png' });
        require('fs').readdirSync('.').sort().join()";
    assert_eq!(ok(agent.execute(down).await), "down.txt,mine.txt,shot.png,tmp");
    agent.end().await;
    stage.end().await;
}

/// Each option that takes a path: how it is used, and whether it reads the file.
const PATHS: [(&str, bool); 10] = [
    ("await page.addScriptTag({ path })", true),
    ("await page.addStyleTag({ path })", true),
    ("await page.addInitScript({ path })", true),
    ("await context.addInitScript({ path })", true),
    ("await page.routeFromHAR(path)", true),
    ("await context.storageState({ path })", false),
    ("await context.tracing.start(); await context.tracing.stop({ path })", false),
    ("await page.pdf({ path })", false),
    ("await page.locator('button').screenshot({ path })", false),
    ("await browser.startTracing(page, { path }); await browser.stopTracing()", false),
];

#[tokio::test]
async fn no_option_that_takes_a_path_leads_out_of_the_folders() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent.execute(&format!("await page.goto('{}/form.html')", stage.site.url())).await);
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let secret = outside.path().join("secret.js");
    std::fs::write(&secret, HAR).unwrap();
    for (number, (option, reads)) in PATHS.into_iter().enumerate() {
        let name = format!("{number}.png");
        let there = if reads { secret.clone() } else { outside.path().join(&name) };
        let escape = format!("const path = {:?}; {option}", there.to_str().unwrap());
        let text = failed(agent.execute(&escape).await);
        assert!(text.contains("restricted"), "{option}: {text}");
        let inside = format!(
            "const path = require('path').resolve('{name}');
             if ({reads}) require('fs').writeFileSync(path, {HAR:?});
             {option};
             require('fs').existsSync(path)"
        );
        assert_eq!(ok(agent.execute(&inside).await), "true", "{option}");
    }
    let left = std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(left.collect::<Vec<_>>(), [secret]);
    agent.end().await;
    stage.end().await;
}

/// An archive of no requests, which is a script and a style sheet, too.
const HAR: &str = r#"{"log":{"version":"1.2","creator":{"name":"","version":""},"entries":[]}}"#;

/// An extension asks for a new tab. Chrome then takes a path behind `view-source:` for a file, and an
/// address without a scheme for a page of the extension, with its rights.
#[tokio::test]
async fn no_file_and_no_page_of_the_extension_is_opened_for_agents() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let own = stage.in_worker("chrome.runtime.getURL('waker.html')").await;
    for url in [
        "file:///etc/passwd",
        "view-source:file:///etc/passwd",
        "view-source:/etc/passwd",
        "view-source:~/.bashrc",
        "file;///etc/passwd",
        "/etc/passwd",
        "~/.bashrc",
        "waker.html",
        own.as_str().unwrap(),
    ] {
        let open = format!(
            "await (await getCDPSession()).send('Target.createTarget', {{ url: '{url}' }})"
        );
        let text = failed(agent.execute(&open).await);
        assert!(text.contains("is not opened for this client"), "{url}: {text}");
    }
    let tabs = "chrome.tabs.query({}).then((tabs) => tabs.map((tab) => tab.pendingUrl || tab.url))";
    let tabs = stage.in_worker(tabs).await;
    let tabs = tabs.to_string();
    assert!(!tabs.contains("file:") && !tabs.contains("chrome-extension:"), "{tabs}");
    let redirected = format!(
        "await page.route('**/away', (route) =>
             route.fulfill({{ status: 302, headers: {{ location: 'file:///etc/passwd' }} }}));
         await page.goto('{}/away')",
        stage.site.url()
    );
    assert!(failed(agent.execute(&redirected).await).contains("net::ERR_"));
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn code_does_not_have_the_token_with_which_it_was_called() {
    let stage = Stage::with_token("s3cret").await;
    let mut agent = Agent::http(Sdk::TypeScript, &format!("{}/mcp?token=s3cret", stage.url()));
    let known = format!(
        "const {{ argv, execArgv, env }} = {PROCESS};
         JSON.stringify([argv, execArgv, env]).includes('s3cret')"
    );
    assert_eq!(ok(agent.execute(&known).await), "false");
    agent.end().await;
    stage.end().await;
}
