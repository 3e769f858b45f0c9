//! The evidence of a test that has failed: the relay's logs, the console of the extension's worker, and
//! pictures of the pages, in a folder that is named where the failure is.
//!
//! A test that fails unwinds through the runtime that drives everything on its stage, so the browser is
//! asked by a connection of its own, on a thread of its own.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use relay::log::Logs;
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::subscriber::DefaultGuard;

use crate::raw_peers::RawClient;

/// The limit of all questions to the browser together: it may be what hangs.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(15);

/// The folders of a home in which relays leave their logs.
const LOGS: [&str; 2] = ["logs", ".playwriter"];

/// Keeps what a stage leaves, if it is dropped by a test that fails. It has to be dropped before the
/// browser is.
#[derive(Debug)]
pub(crate) struct Evidence {
    home: PathBuf,
}

impl Evidence {
    /// Begins with a stage that has this home, and removes the evidence of an earlier run.
    pub(crate) fn new(home: &Path) -> Self {
        drop(fs::remove_dir_all(folder()));
        Self { home: home.to_owned() }
    }

    /// Logs for a relay in this process.
    pub(crate) fn logs(&self) -> Logs {
        thread_local! {
            static WRITTEN: RefCell<Option<DefaultGuard>> = const { RefCell::new(None) };
        }
        let logs = Logs::in_folder(self.home.join(LOGS[0]));
        let words = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::DEBUG)
            .with_writer(logs.text())
            .finish();
        // The earlier one has to go first: each puts back what was before it.
        WRITTEN.take();
        WRITTEN.set(Some(tracing::subscriber::set_default(words)));
        logs
    }
}

impl Drop for Evidence {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let folder = folder();
        let kept = fs::create_dir_all(&folder).map(|()| {
            for logs in LOGS {
                keep_files(&self.home.join(logs), &folder.join(logs));
            }
            let profile = self.home.join("profile");
            thread::scope(|scope| drop(scope.spawn(|| ask_browser(&profile, &folder)).join()));
        });
        let outcome = match kept {
            Ok(()) => format!("logs, worker's console and screenshots: {}", folder.display()),
            Err(error) => format!("nothing was kept in {}: {error}", folder.display()),
        };
        drop(writeln!(std::io::stderr(), "{}: {outcome}", test_name()));
    }
}

/// The folder of the test that runs on this thread.
fn folder() -> PathBuf {
    let failures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/failures");
    failures.join(test_name().replace("::", "."))
}

/// Each test has a thread with its name, unless there is only one at a time.
fn test_name() -> String {
    thread::current().name().unwrap_or("test").trim_start_matches("behaviour::").to_owned()
}

/// Copies the logs of a folder. What cannot be read is left out: the failure itself is what counts.
fn keep_files(from: &Path, to: &Path) {
    let Ok(files) = fs::read_dir(from) else { return };
    let is_log = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("log" | "jsonl"))
    };
    for path in files.filter_map(|file| Some(file.ok()?.path())).filter(is_log) {
        drop(fs::create_dir_all(to));
        if let Some(name) = path.file_name() {
            drop(fs::copy(&path, to.join(name)));
        }
    }
}

fn ask_browser(profile: &Path, folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if let Ok(runtime) = runtime {
        let asked = runtime
            .block_on(async { timeout(BROWSER_TIMEOUT, keep_browser(profile, folder)).await });
        if !matches!(asked, Ok(Some(()))) {
            drop(fs::write(folder.join("browser.txt"), "the browser did not answer\n"));
        }
    }
}

/// Writes down what each target has to show.
async fn keep_browser(profile: &Path, folder: &Path) -> Option<()> {
    // Chromium leaves the port there, and below it the path.
    let address = fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
    let (port, path) = address.trim().split_once('\n')?;
    let mut browser = RawClient::connect(&format!("ws://127.0.0.1:{port}{path}")).await;
    let targets = json!({ "id": 1, "method": "Target.getTargets" });
    let targets = browser.answer_to(1, &targets.to_string()).await;
    let targets = targets["result"]["targetInfos"].as_array()?.clone();
    fs::write(folder.join("targets.json"), format!("{:#}\n", Value::from(targets.clone()))).ok()?;
    for (number, target) in targets.iter().enumerate() {
        let (kind, id) = (target["type"].as_str()?, target["targetId"].as_str()?);
        let is_ours = target["url"].as_str()?.contains(relay::EXTENSION_ID);
        if kind == "service_worker" && is_ours {
            let console = console(&mut browser, id).await;
            fs::write(folder.join("worker.txt"), console).ok()?;
        } else if kind == "page" {
            let picture = in_session(&mut browser, id, "Page.captureScreenshot", json!({})).await;
            let picture =
                picture["data"].as_str().and_then(|data| BASE64_STANDARD.decode(data).ok());
            fs::write(folder.join(format!("page-{number}.png")), picture?).ok()?;
        }
    }
    Some(())
}

/// Returns what a target has written to its console. Chromium tells it again to whoever asks.
async fn console(browser: &mut RawClient, target: &str) -> String {
    let session = browser.attach(target).await;
    let enable = json!({ "id": 2, "sessionId": session, "method": "Runtime.enable" });
    browser.send(&enable.to_string()).await;
    let mut written = String::new();
    loop {
        let frame = browser.next().await;
        if frame["id"] == 2 {
            return written;
        }
        if frame["method"] == "Runtime.consoleAPICalled" {
            let words = frame["params"]["args"].as_array().into_iter().flatten();
            let words: Vec<_> = words.map(|word| word["value"].to_string()).collect();
            written.push_str(&format!("{} {}\n", frame["params"]["type"], words.join(" ")));
        }
    }
}

async fn in_session(browser: &mut RawClient, target: &str, method: &str, params: Value) -> Value {
    let session = browser.attach(target).await;
    let command = json!({ "id": 2, "sessionId": session, "method": method, "params": params });
    browser.answer_to(2, &command.to_string()).await["result"].take()
}
