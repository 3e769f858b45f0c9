//! One call starts a relay and connects a browser, and does so again after the relay was killed.

use std::process::Stdio;
use std::time::Duration;

use end_to_end::{
    Language, RawClient, RelayProgram, Stage, TIMEOUT, built_extension, http_until, program,
};
use futures_util::StreamExt;
use relay::server::{RelayOptions, RelayServer};
use relay::{
    ConnectOptions, Connection, LogLevel, Logger, PersistentRelayOptions, RelayEvent,
    RelayServerError, RelayServerOptions, WaitOptions, connect_to_playwriter,
    ensure_persistent_relay, start_relay_server, wait_for_extension,
};
use serde_json::{Value, json};
use shared_protocol::http::{ExtensionsStatus, PagesStatus};
use tokio::io::{AsyncBufReadExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

const NODE: &str = "
    import { execFileSync } from 'node:child_process'
    import { chromium } from 'playwright-core'
    const browser = await chromium.connectOverCDP(execFileSync('playwriter', ['connect']).toString().trim())
    const page = browser.contexts()[0].pages()[0]
    await page.setContent('<title>from node</title>')
    console.log(JSON.stringify(await page.title()))
    await browser.close()
";

const PYTHON: &str = "
import json, subprocess
from playwright.sync_api import sync_playwright

url = subprocess.check_output(['playwriter', 'connect'], text=True).strip()
with sync_playwright() as p:
    browser = p.chromium.connect_over_cdp(url)
    page = browser.contexts[0].pages[0]
    page.set_content('<title>from python</title>')
    print(json.dumps(page.title()))
    browser.close()
";

#[tokio::test]
async fn a_script_in_node_starts_from_nothing() {
    let stage = Stage::without_relay().await;
    assert_eq!(stage.script(Language::Node, NODE).await, json!("from node"));
    stage.end().await;
}

#[tokio::test]
async fn a_script_in_python_starts_from_nothing() {
    let stage = Stage::without_relay().await;
    assert_eq!(stage.script(Language::Python, PYTHON).await, json!("from python"));
    stage.end().await;
}

#[tokio::test]
async fn waiting_ends_when_somebody_clicks() {
    let stage = Stage::without_relay().await;
    ensure_persistent_relay(&options(&stage)).await.unwrap();
    let wait = WaitOptions { poll_interval: Duration::from_millis(50), ..wait(&stage) };
    let extension = WaitOptions { needs_tab: false, ..wait.clone() };
    assert_eq!(wait_for_extension(&extension).await.unwrap().page_count, 0);
    let waiting = tokio::spawn(async move { wait_for_extension(&wait).await });
    stage.browser.click_icon().await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().page_count, 1);
    stage.end().await;
}

#[tokio::test]
async fn a_rust_program_gets_a_working_browser_as_often_as_it_asks() {
    let stage = Stage::without_relay().await;
    let first = connect_to_playwriter(&connect(&stage)).await.unwrap();
    let second = connect_to_playwriter(&connect(&stage)).await.unwrap();
    assert_eq!((first.started, second.started), (true, false));
    assert_eq!(first.cdp_url, format!("ws://127.0.0.1:{}/cdp", stage.port()));
    for (connection, expected) in [(first, 42), (second, 43)] {
        assert_eq!(evaluated(&connection, &format!("{expected} + 0")).await, json!(expected));
    }
    stage.end().await;
}

#[tokio::test]
async fn after_the_relay_was_killed_the_next_connect_needs_no_click() {
    let stage = Stage::without_relay().await;
    let first = connect_to_playwriter(&connect(&stage)).await.unwrap();
    stage.browser.click_icon().await.unwrap();
    let wait = wait(&stage);
    wait_for_extension(&wait).await.unwrap();
    let before = pages(&stage).await;
    let mut client = RawClient::connect(&first.cdp_url).await;
    stage.kill_background_relay();
    client.ended().await;
    let second = connect_to_playwriter(&connect(&stage)).await.unwrap();
    assert!(second.started);
    wait_for_extension(&wait).await.unwrap();
    assert_eq!(pages(&stage).await, before, "the same tabs, by themselves");
    assert_eq!(evaluated(&second, "6 * 7").await, json!(42));
    let folder = std::fs::read_dir(stage.home().join(".playwriter")).unwrap();
    let notes = folder.filter(|file| {
        file.as_ref().unwrap().file_name().to_string_lossy().contains(".json")
            && !file.as_ref().unwrap().file_name().to_string_lossy().starts_with("cdp")
    });
    assert_eq!(notes.count(), 1, "nothing stale is left behind");
    stage.end().await;
}

#[tokio::test]
async fn tabs_come_back_without_a_click_when_an_older_relay_is_replaced() {
    let stage = Stage::without_relay().await;
    let older = RelayOptions {
        port: stage.port(),
        relay_file: Some(stage.home().join(".playwriter")),
        secret: Some(stage.home().join(".playwriter")),
        version: "0.0.9".to_owned(),
        ..RelayOptions::default()
    };
    let older = RelayServer::start(&older).await.unwrap();
    let older = tokio::spawn(older.run_until(std::future::pending()));
    let wait = WaitOptions { timeout: TIMEOUT, ..wait(&stage) };
    let extension = WaitOptions { needs_tab: false, ..wait.clone() };
    wait_for_extension(&extension).await.unwrap();
    stage.browser.click_icon().await.unwrap();
    wait_for_extension(&wait).await.unwrap();
    let before = pages(&stage).await;
    let mut client = stage.raw_client("/cdp").await;
    let connection = connect_to_playwriter(&connect(&stage)).await.unwrap();
    assert_eq!((connection.started, &*connection.version), (true, relay::VERSION));
    older.await.unwrap();
    client.ended().await;
    wait_for_extension(&wait).await.unwrap();
    assert_eq!(pages(&stage).await, before, "the same tabs, by themselves");
    assert_eq!(evaluated(&connection, "6 * 7").await, json!(42));
    stage.end().await;
}

#[tokio::test]
async fn waiting_in_vain_for_a_click_says_that_the_extension_is_there() {
    let stage = Stage::without_relay().await;
    ensure_persistent_relay(&options(&stage)).await.unwrap();
    let wait = WaitOptions { timeout: TIMEOUT, ..wait(&stage) };
    wait_for_extension(&WaitOptions { needs_tab: false, ..wait.clone() }).await.unwrap();
    let timeout = Duration::ZERO;
    let error = wait_for_extension(&WaitOptions { timeout, ..wait }).await.unwrap_err();
    assert!(matches!(error, RelayServerError::NoTab { .. }), "{error}");
    let waited = stage.playwriter(&["wait", "--timeout", "0"]).output().await.unwrap();
    let said = String::from_utf8(waited.stderr).unwrap();
    assert_eq!(waited.status.code(), Some(1), "{said}");
    let url = stage.url();
    assert!(said.starts_with("error: The extension controls no tab."), "{said}");
    assert!(said.contains(&format!("the extension is connected to {url}")), "{said}");
    assert!(said.contains("Please click the Playwriter extension icon on a Chrome tab"), "{said}");
    stage.end().await;
}

#[tokio::test]
async fn a_started_browser_joins_others_at_the_relay_that_runs() {
    let stage = Stage::without_relay().await;
    connect_to_playwriter(&connect(&stage)).await.unwrap();
    stage.browser.click_icon().await.unwrap();
    let wait = WaitOptions { timeout: TIMEOUT, ..wait(&stage) };
    wait_for_extension(&wait).await.unwrap();
    let extension = built_extension();
    let start = ["browser", "start", "--headless", "--extension", extension.to_str().unwrap()];
    let mut start = stage.playwriter(&start).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(start.stderr.take().unwrap()).lines();
    let told =
        async { while !said.next_line().await.unwrap().unwrap().starts_with("press Ctrl-C") {} };
    timeout(2 * TIMEOUT, told).await.unwrap();
    // The client's own tab is there by then, and not just the other client's.
    let tabs = async || {
        let client = stage.client();
        let there: ExtensionsStatus = client.get("/extensions/status").await.unwrap();
        there.extensions.iter().map(|entry| entry.active_targets).collect::<Vec<_>>()
    };
    assert_eq!(tabs().await, [1, 1]);
    let pid = start.id().unwrap().to_string();
    let asked = tokio::process::Command::new("kill").args(["-INT", &pid]).status().await;
    assert!(asked.unwrap().success());
    assert_eq!(timeout(TIMEOUT, start.wait()).await.unwrap().unwrap().code(), Some(0));
    let is_one = |it: &Value| it["extensions"].as_array().unwrap().len() == 1;
    http_until(stage.port(), "GET /extensions/status", is_one).await;
    assert_eq!(tabs().await, [1], "the relay and the other browser go on");
    stage.end().await;
}

#[tokio::test]
async fn commands_tell_what_is_connected() {
    let stage = Stage::without_relay().await;
    let said = async |arguments: &[&str]| {
        let output = stage.playwriter(arguments).output().await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    said(&["ensure"]).await;
    stage.browser.click_icon().await.unwrap();
    let waited = said(&["wait"]).await;
    assert_eq!(waited, "the extension is connected and controls 1 tab\n");
    let url = said(&["connect"]).await;
    assert_eq!(url, format!("ws://127.0.0.1:{}/cdp\n", stage.port()));
    let mut client = RawClient::connect(&format!("{}/me?separateWindow=true", url.trim())).await;
    client.call(r#"{"id":1,"method":"Browser.getVersion"}"#).await;
    let told: Value = serde_json::from_str(&said(&["status", "--json"]).await).unwrap();
    assert_eq!(told["extensions"][0]["browser"], "Chromium");
    assert_eq!(told["clients"][0]["clientId"], "me");
    let key = told["extensions"][0]["stableKey"].as_str().unwrap();
    assert!(said(&["connect", "--browser", key]).await.contains("?extensionId=install"));
    let status = said(&["status"]).await;
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "relay      {version} at http://127.0.0.1:{}\n\
         new tabs   beside yours\n\
         extension  {version} in Chromium, paired, controls 1 tab (connection-1, --browser {key})\n\
         tab        about:blank <about:blank>\n\
         client     me drives connection-1, new tabs in a window of their own\n",
        stage.port()
    );
    // The boundary around agents' code depends on this kernel.
    let is_told = |line: &&str| !line.starts_with("agents ");
    let status: String = status.split_inclusive('\n').filter(is_told).collect();
    assert_eq!(status, expected);
    let doctor = said(&["doctor"]).await;
    assert!(
        doctor.contains(&format!("ok    extension  {version} in Chromium, tabs: 1")),
        "{doctor}"
    );
    let summary = said(&["tail", "--summary", "--method", "Browser.*"]).await;
    assert_eq!(
        summary,
        "       1  client ← relay  Browser.getVersion ok\n       1  client → relay  Browser.getVersion\n"
    );
    assert!(said(&["stop"]).await.ends_with(": stopped\n"));
    client.ended().await;
    stage.end().await;
}

#[tokio::test]
async fn a_relay_inside_a_program_reports_connections_and_their_ends() {
    let stage = Stage::without_relay().await;
    let (port, home) = (stage.port(), Some(stage.home().to_owned()));
    let (said, mut lines) = tokio::sync::mpsc::unbounded_channel();
    let logger = Logger::new(move |level, line| drop(said.send((level, line.to_owned()))));
    let logger = Some(logger);
    let options = RelayServerOptions { port, home, logger, ..RelayServerOptions::default() };
    let server = start_relay_server(options).await.unwrap();
    let mut events = server.events();
    let mut next = async || timeout(TIMEOUT, events.recv()).await.unwrap();
    let extension_id = "connection-1".to_owned();
    assert_eq!(next().await, Ok(RelayEvent::ExtensionConnected { extension_id }));
    stage.browser.click_icon().await.unwrap();
    assert!(matches!(next().await, Ok(RelayEvent::PageAdded { .. })));
    let client_id = "me".to_owned();
    let client = RawClient::connect(&format!("ws://{}/cdp/me", server.address())).await;
    assert_eq!(next().await, Ok(RelayEvent::ClientConnected { client_id: client_id.clone() }));
    drop(client);
    assert_eq!(next().await, Ok(RelayEvent::ClientDisconnected { client_id }));
    stage.browser.click_icon().await.unwrap();
    assert!(matches!(next().await, Ok(RelayEvent::PageRemoved { .. })));
    server.close().await;
    while next().await.is_ok() {}
    let mut said = Vec::new();
    while let Some(line) = lines.recv().await {
        said.push(line);
    }
    for text in ["relay is listening", "extension connection-1 connected as "] {
        let is_said =
            |(level, line): &(LogLevel, String)| *level == LogLevel::Info && line.starts_with(text);
        assert!(said.iter().any(is_said), "{text}: {said:?}");
    }
    stage.end().await;
}

fn options(stage: &Stage) -> PersistentRelayOptions {
    PersistentRelayOptions {
        port: stage.port(),
        program: Some(program()),
        home: Some(stage.home().to_owned()),
        // The machine may be busy.
        timeout: 2 * TIMEOUT,
        ..PersistentRelayOptions::default()
    }
}

fn wait(stage: &Stage) -> WaitOptions {
    let (port, home) = (stage.port(), Some(stage.home().to_owned()));
    WaitOptions { port, home, ..WaitOptions::default() }
}

fn connect(stage: &Stage) -> ConnectOptions {
    ConnectOptions { port: stage.port(), relay: options(stage), ..ConnectOptions::default() }
}

async fn pages(stage: &Stage) -> PagesStatus {
    stage.client().get("/extension-status").await.unwrap()
}

/// Evaluates an expression in the first tab, by chromiumoxide.
async fn evaluated(connection: &Connection, expression: &str) -> Value {
    let (mut browser, mut handler) = connection.browser().await.unwrap();
    let handling = tokio::spawn(async move { while handler.next().await.is_some() {} });
    browser.fetch_targets().await.unwrap();
    let page = browser.new_page("about:blank").await.unwrap();
    let value = page.evaluate(expression).await.unwrap().into_value().unwrap();
    page.close().await.unwrap();
    drop(browser);
    handling.abort();
    value
}

#[tokio::test]
async fn connect_asks_which_of_several_browsers_is_meant() {
    let relay = RelayProgram::start().await;
    let are_there = async |count: usize| {
        let are = |it: &Value| it["extensions"].as_array().unwrap().len() == count;
        http_until(relay.port(), "GET /extensions/status", are).await;
    };
    let _chrome = relay.raw_extension("browser=Chrome&installId=one&v=0.7.0").await;
    are_there(1).await;
    let _brave = relay.raw_extension("browser=Brave&installId=two&v=0.7.0").await;
    are_there(2).await;
    let asked = connect_program(&relay, &["--timeout", "100ms"]).output().await.unwrap();
    let said = String::from_utf8(asked.stderr).unwrap();
    assert_eq!(asked.status.code(), Some(2), "{said}");
    assert!(said.contains("install:Chrome:one (Chrome), install:Brave:two (Brave)"), "{said}");
    let chosen = connect_program(&relay, &["--browser", "install:Brave:two"]).output().await;
    let url = String::from_utf8(chosen.unwrap().stdout).unwrap();
    assert!(url.trim().ends_with("/cdp?extensionId=install%3ABrave%3Atwo"), "{url}");
}

#[tokio::test]
async fn connect_waits_for_the_browser_that_is_meant() {
    let relay = RelayProgram::start().await;
    let _chrome = relay.raw_extension("browser=Chrome&installId=one&v=0.1.0").await;
    let is_there = |it: &Value| it["extensions"].as_array().unwrap().len() == 1;
    http_until(relay.port(), "GET /extensions/status", is_there).await;
    let (address, mut asked) = counted(relay.port()).await;
    let mut connect = connect_program(&relay, &["--browser", "install:Brave:two"]);
    connect.env("PLAYWRITER_HOST", address).stdout(Stdio::piped());
    let connect = connect.spawn().unwrap();
    // The version, the settings, and two looks at the extensions.
    timeout(TIMEOUT, asked.wait_for(|times| *times >= 4)).await.unwrap().unwrap();
    let _brave = relay.raw_extension("browser=Brave&installId=two&v=0.1.0").await;
    let connected = timeout(TIMEOUT, connect.wait_with_output()).await.unwrap().unwrap();
    let url = String::from_utf8(connected.stdout).unwrap();
    assert!(url.trim().ends_with("/cdp?extensionId=install%3ABrave%3Atwo"), "{url}");
}

fn connect_program(relay: &RelayProgram, arguments: &[&str]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program());
    command.arg("connect").args(arguments).env("PLAYWRITER_PORT", relay.port().to_string());
    command.env("HOME", relay.log_folder().parent().unwrap()).kill_on_drop(true);
    command
}

/// Another address of a relay, and how often it was asked there.
async fn counted(port: u16) -> (String, watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (times, asked) = watch::channel(0);
    tokio::spawn(async move {
        while let Ok((mut caller, _)) = listener.accept().await {
            times.send_modify(|times| *times += 1);
            tokio::spawn(async move {
                let mut relay = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                // A caller that has its answer closes the connection.
                drop(copy_bidirectional(&mut caller, &mut relay).await);
            });
        }
    });
    (address, asked)
}
