//! A pair of an extension and a relay at work.

use std::ffi::OsStr;

use relay::browser::Browser;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::relay::AnyRelay;
use super::{Maker, Pair, Trust, extension};
use crate::browser::Extension;
use crate::machine::{Home, LONG_TIMEOUT, playwright_core, until_none_is_left};
use crate::network::{Site, free_port, http_until};
use crate::relay_program;
use crate::scripts::{Agent, Sdk};

/// A pair at work.
#[derive(Debug)]
pub struct Scene {
    pair: Pair,
    trust: Trust,
    /// `None` while it restarts.
    relay: Option<AnyRelay>,
    browser: Browser,
    /// A web site to visit.
    pub site: Site,
    port: u16,
    home: Home,
}

impl Scene {
    /// Starts both, without waiting for them to meet.
    pub async fn set_up(pair: Pair) -> Self {
        Self::set_up_with(pair, Trust::Unpaired).await
    }

    /// As [`Scene::set_up`], for two sides that may prove themselves.
    pub async fn set_up_with(pair: Pair, trust: Trust) -> Self {
        let home = Home::new();
        let port = free_port().await;
        let relay = Some(AnyRelay::start(pair.relay, trust, port, home.path()).await);
        let has_key = matches!(trust, Trust::Paired | Trust::Required);
        let loaded = match pair.extension {
            Maker::Ours if has_key => Extension::paired(home.path(), port),
            Maker::Ours | Maker::Released(_) => extension(pair, port, home.path()),
        };
        let browser = loaded.start_browser(home.path(), &[], None).await;
        if pair.extension == Maker::Ours {
            browser.use_relay_port(port).await.expect("the extension takes a port");
        }
        Self { pair, trust, relay, browser, site: Site::start().await, port, home }
    }

    /// Returns the address at which clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Waits until the relay knows the extension.
    pub async fn until_met(&self) {
        http_until(self.port, "GET /extension/status", |status| status["connected"] == true).await;
    }

    /// Clicks the extension's icon on the tab in front.
    pub async fn click_icon(&self) {
        self.browser.click_icon().await.expect("the worker toggles the tab");
    }

    /// Evaluates an expression in the extension's worker.
    pub async fn in_worker(&self, expression: &str) -> Value {
        self.browser.evaluate_in_worker(expression).await.expect("the worker answers")
    }

    /// Runs `playwriter` as a user of this relay, and returns all that it prints, also if it fails.
    pub async fn says(&self, arguments: &[&str]) -> String {
        let mut command = relay_program::command(arguments, self.home.path());
        command.env("PLAYWRITER_PORT", self.port.to_string()).current_dir(self.home.path());
        command.env("PLAYWRITER_PLAYWRIGHT", playwright_core());
        let said =
            timeout(LONG_TIMEOUT, command.output()).await.expect("it ends").expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&said.stdout) + &text(&said.stderr)
    }

    /// An agent whose MCP server is the `playwriter` program.
    #[must_use]
    pub fn agent(&self, sdk: Sdk) -> Agent {
        let (port, playwright) = (self.port.to_string(), playwright_core());
        let environment = [
            ("HOME", self.home.path().as_os_str()),
            ("PLAYWRITER_PORT", OsStr::new(&port)),
            ("PLAYWRITER_PLAYWRIGHT", playwright.as_os_str()),
        ];
        Agent::stdio(sdk, &relay_program::program(), &[], &environment)
    }

    /// Ends what was started.
    pub async fn end(mut self) {
        self.stop_relay().await;
        self.browser.stop().await;
        until_none_is_left(self.home.path()).await;
    }

    async fn stop_relay(&mut self) {
        if let Some(relay) = self.relay.take() {
            relay.stop().await;
        }
    }

    pub(super) async fn answer(&mut self, question: &Value) -> Value {
        if question["restartRelay"] == true {
            self.stop_relay().await;
            let Self { pair, trust, port, .. } = *self;
            let relay = AnyRelay::start(pair.relay, trust, port, self.home.path()).await;
            self.relay = Some(relay);
            return json!({ "value": true });
        }
        let expression = question["worker"].as_str().unwrap_or_default();
        match self.browser.evaluate_in_worker(expression).await {
            Ok(value) => json!({ "value": value }),
            Err(error) => json!({ "error": error.to_string() }),
        }
    }
}
