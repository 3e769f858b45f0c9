//! The clients, and the script of each.

use serde_json::{Value, json};

use super::chromiumoxide;
use crate::browser::DirectBrowser;
use crate::network::tls_proxy;
use crate::scripts::{Results, converse};
use crate::stage::Stage;

/// A client of which `make test` says what it can do.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    /// The name without the version.
    pub family: &'static str,
    /// The version, if the table has several.
    pub version: &'static str,
    /// The script in `tests/conformance`, unless it is a Rust client.
    script: Option<&'static str>,
    /// The package in `tests/package.json` that the script loads.
    package: &'static str,
}

/// All clients, in the order of the table.
pub const CLIENTS: [Client; 15] = [
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
    scripted("agent-browser", "", "agent-browser.mjs", "agent-browser"),
    scripted("Raw sequences", "", "sequences.mjs", ""),
];

impl Client {
    /// Returns the client with this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match CLIENTS.iter().find(|client| client.name() == name) {
            Some(client) => *client,
            None => panic!("no client is called {name}"),
        }
    }

    /// Returns the name with the version.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version).trim_end().to_owned()
    }

    /// Runs the client's features against the relay of a stage. Without words, all of them.
    pub async fn run(&self, stage: &Stage, words: &[String]) -> Results {
        self.run_against(&stage.url(), &stage.site.url(), Some(stage), words).await
    }

    /// Works like [`Client::run`], against a browser without a relay. What only a relay has is left
    /// out.
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
            return chromiumoxide::run(endpoint, site, stage.is_some(), words).await;
        };
        let mut arguments = vec![self.package, endpoint, site];
        arguments.extend(words.iter().map(String::as_str));
        let direct = [("CONFORMANCE_DIRECT", if stage.is_some() { "0" } else { "1" })];
        converse(script, &arguments, &direct, async |question| answer(question, stage).await).await
    }
}

/// Does for a script the work that only the stage can do.
async fn answer(question: Value, stage: Option<&Stage>) -> Value {
    match stage {
        None => json!({ "error": "there is no stage" }),
        Some(stage) if question["endWorker"] == true => {
            stage.end_worker().await;
            // A message to a worker that dies in that moment is lost.
            stage
                .until_in_worker(
                    "getExtensionState().then((s) => s.connectionState === 'connected')",
                )
                .await;
            json!({ "value": true })
        }
        Some(stage) if question["tls"] == true => {
            json!({ "value": tls_proxy(stage.site.port()).await.0 })
        }
        Some(stage) => {
            let expression = question["worker"].as_str().unwrap_or_default();
            match stage.browser.evaluate_in_worker(expression).await {
                Ok(value) => json!({ "value": value }),
                Err(error) => json!({ "error": error.to_string() }),
            }
        }
    }
}

const fn scripted(
    family: &'static str,
    version: &'static str,
    script: &'static str,
    package: &'static str,
) -> Client {
    Client { family, version, script: Some(script), package }
}
