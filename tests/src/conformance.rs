//! What real clients can do: runs the script of a client, feature by feature.
//!
//! The scripts are in `tests/clients`; `features.mjs` there says how they are talked to.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, Command};
use tokio::time::timeout;

use crate::{DirectBrowser, Stage, oxide};

/// Each feature has a limit; a script that takes longer than this has lost its way.
const LIMIT: Duration = Duration::from_secs(300);

/// What became of each feature: `ok`, or what went wrong.
pub type Results = BTreeMap<String, String>;

/// A client of which `make test` says what it can do.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    /// What it is called, without its version.
    pub family: &'static str,
    /// Its version, if the table has several.
    pub version: &'static str,
    /// The script in `tests/clients`, unless it is a Rust client.
    script: Option<&'static str>,
    /// The package in `tests/package.json` that the script loads.
    package: &'static str,
}

/// All clients, in the order of the table.
pub const CLIENTS: [Client; 14] = [
    scripted("Playwright", "1.65", "playwright.mjs", "playwright-core"),
    scripted("Playwright", "1.59", "playwright.mjs", "playwright-1.59"),
    scripted("Playwright", "1.55", "playwright.mjs", "playwright-1.55"),
    scripted("Playwright", "1.52", "playwright.mjs", "playwright-1.52"),
    scripted("Puppeteer", "25", "puppeteer.mjs", "puppeteer-25"),
    scripted("Puppeteer", "24", "puppeteer.mjs", "puppeteer-24"),
    scripted("Puppeteer", "22", "puppeteer.mjs", "puppeteer-22"),
    scripted("Several clients on one tab", "", "together.mjs", "playwright-core"),
    scripted("Clients that vanish", "", "vanishing.mjs", "playwright-core"),
    Client { family: "chromiumoxide", version: "", script: None, package: "" },
    scripted("chrome-remote-interface", "", "remote-interface.mjs", "chrome-remote-interface"),
    scripted("chrome-devtools-mcp", "", "devtools-mcp.mjs", "chrome-devtools-mcp"),
    scripted("@playwright/mcp", "", "playwright-mcp.mjs", "@playwright/mcp"),
    scripted("Raw sequences", "", "sequences.mjs", ""),
];

impl Client {
    /// The client with this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match CLIENTS.iter().find(|client| client.name() == name) {
            Some(client) => *client,
            None => panic!("no client is called {name}"),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version).trim_end().to_owned()
    }

    /// Runs the client's features against the relay of a stage. Without words, all of them.
    pub async fn run(&self, stage: &Stage, words: &[String]) -> Results {
        self.run_against(&stage.url(), &stage.site.url(), Some(stage), words).await
    }

    /// As [`Client::run`], against a browser without a relay. What only a relay has is left out.
    pub async fn run_directly(&self, browser: &DirectBrowser, words: &[String]) -> Results {
        self.run_against(browser.url(), &browser.site.url(), None, words).await
    }

    async fn run_against(
        &self,
        endpoint: &str,
        site: &str,
        stage: Option<&Stage>,
        words: &[String],
    ) -> Results {
        let Some(script) = self.script else {
            return oxide::run(endpoint, site, stage.is_some(), words).await;
        };
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let mut node = Command::new("node")
            .arg(Path::new("clients").join(script))
            .args([self.package, endpoint, site])
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("HOME", home.path())
            .env("CONFORMANCE_DIRECT", if stage.is_some() { "0" } else { "1" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs");
        let mut answers = node.stdin.take().expect("stdin is a pipe");
        let mut lines = BufReader::new(node.stdout.take().expect("stdout is a pipe")).lines();
        let conversation = async {
            while let Some(line) = lines.next_line().await.expect("the script writes text") {
                match line.strip_prefix("? ") {
                    Some(question) => answer(&mut answers, question, stage).await,
                    None => return line,
                }
            }
            panic!("the script of {} ended without results", self.name())
        };
        let Ok(results) = timeout(LIMIT, conversation).await else {
            panic!("the script of {} did not end", self.name());
        };
        serde_json::from_str(&results).expect("the script gives results")
    }
}

/// Does for a script what only the stage can do.
async fn answer(answers: &mut ChildStdin, question: &str, stage: Option<&Stage>) {
    let question: Value = serde_json::from_str(question).expect("a question is JSON");
    let reply = match stage {
        None => json!({ "error": "there is no stage" }),
        Some(stage) if question["endWorker"] == true => {
            stage.end_worker().await;
            // What is sent to a worker in the moment of its death is lost.
            stage
                .until_in_worker(
                    "getExtensionState().then((s) => s.connectionState === 'connected')",
                )
                .await;
            json!({ "value": true })
        }
        Some(stage) => {
            let expression = question["worker"].as_str().unwrap_or_default();
            match stage.browser.evaluate_in_worker(expression).await {
                Ok(value) => json!({ "value": value }),
                Err(error) => json!({ "error": error.to_string() }),
            }
        }
    };
    // A script that gave up waiting has closed the pipe.
    drop(answers.write_all(format!("{reply}\n").as_bytes()).await);
}

const fn scripted(
    family: &'static str,
    version: &'static str,
    script: &'static str,
    package: &'static str,
) -> Client {
    Client { family, version, script: Some(script), package }
}
