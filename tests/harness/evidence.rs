//! The evidence of a test that has failed: the console of the extension's worker and pictures of the
//! pages, in a folder that is named where the failure is. The home of the stage adds the relay's logs.
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

use crate::machine::{failure_folder, test_name};
use crate::raw_peers::RawClient;

/// The limit of all questions to the browser together: it may be what hangs.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(15);

/// The limit of one page, which may have crashed, stand still or wait for the user.
const PAGE_TIMEOUT: Duration = Duration::from_secs(3);

/// Keeps what a stage leaves, if it is dropped by a test that fails. It has to be dropped before the
/// browser is.
#[derive(Debug)]
pub(crate) struct Evidence {
    home: PathBuf,
}

impl Evidence {
    /// Begins with a stage that has this home.
    pub(crate) fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Logs for a relay in this process.
    pub(crate) fn logs(&self) -> Logs {
        thread_local! {
            static WRITTEN: RefCell<Option<DefaultGuard>> = const { RefCell::new(None) };
        }
        let logs = Logs::in_folder(self.home.join("logs"));
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
        let folder = failure_folder();
        let kept = fs::create_dir_all(&folder).map(|()| {
            let profile = self.home.join("profile");
            thread::scope(|scope| drop(scope.spawn(|| ask_browser(&profile, &folder)).join()));
        });
        let outcome = match kept {
            Ok(()) => format!("the worker's console and screenshots are in {}", folder.display()),
            Err(error) => format!("nothing was kept in {}: {error}", folder.display()),
        };
        drop(writeln!(std::io::stderr(), "{}: {outcome}", test_name()));
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
    let address = format!("ws://127.0.0.1:{port}{path}");
    let mut browser = RawClient::connect(&address).await;
    let targets = json!({ "id": 1, "method": "Target.getTargets" });
    let targets = browser.answer_to(1, &targets.to_string()).await;
    let targets = targets["result"]["targetInfos"].as_array()?.clone();
    fs::write(folder.join("targets.json"), format!("{:#}\n", Value::from(targets.clone()))).ok()?;
    for target in &targets {
        let is_ours = target["url"].as_str()?.contains(relay::EXTENSION_ID);
        if target["type"] == "service_worker" && is_ours {
            let console = console(&mut browser, target["targetId"].as_str()?).await;
            fs::write(folder.join("worker.txt"), console).ok()?;
        }
    }
    for (number, target) in targets.iter().enumerate() {
        if target["type"] == "page" {
            // A socket of its own: answers that come late are not taken for another page's.
            let mut browser = RawClient::connect(&address).await;
            let id = target["targetId"].as_str()?;
            let picture = in_session(&mut browser, id, "Page.captureScreenshot", json!({}));
            let Ok(picture) = timeout(PAGE_TIMEOUT, picture).await else { continue };
            let picture =
                picture["data"].as_str().and_then(|data| BASE64_STANDARD.decode(data).ok());
            if let Some(picture) = picture {
                fs::write(folder.join(format!("page-{number}.png")), picture).ok()?;
            }
        }
    }
    Some(())
}

/// Returns what a target has written to its console. Chromium tells it again to every new session.
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
