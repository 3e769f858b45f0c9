//! Extensions and relays of different ages, each with each: ours, and the releases in
//! `tests/released`, as they were published.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use relay::browser::Browser;
use relay::executor::ExecutorOptions;
use relay::server::{PairingMode, RelayOptions, RelayServer};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::chromium::{Loaded, built_extension};
use crate::{
    Agent, LONG, PATIENCE, Results, Sdk, Site, free_port, http_until, playwright_core, program,
    relay_program, script,
};

/// What is tried with every pair, in this order, by `tests/clients/generations.mjs`.
pub const SCENARIOS: [&str; 9] = [
    "a first tab for who finds none",
    "connect",
    "see a toggled tab, evaluate",
    "navigate",
    "newPage",
    "iframe of another site",
    "close",
    "two clients",
    "relay restart",
];

/// The id of released extensions that come without a store, by the key in their manifests.
pub(crate) const RELEASED_ID: &str = "pebbngnfojnignonigcnkdilknapkgid";

/// Who made a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// This repository.
    Ours,
    /// The release of this version.
    Released(&'static str),
}

/// An extension and a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Pair {
    pub extension: Maker,
    pub relay: Maker,
}

/// Whether the two prove themselves to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The extension has no key, and the relay wants none.
    Unpaired,
    /// An extension of ours has a key.
    Paired,
    /// As [`Trust::Paired`], and the relay takes no others.
    Required,
    /// The relay takes none without a key, and an extension of ours has none either.
    Missing,
}

impl Maker {
    /// What it is called in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Ours => format!("{} (ours)", env!("CARGO_PKG_VERSION")),
            Self::Released(version) => version.to_owned(),
        }
    }
}

impl Pair {
    /// All that must work together.
    pub const ALL: [Self; 5] = [
        Self { extension: Maker::Released("0.4"), relay: Maker::Ours },
        Self { extension: Maker::Released("0.7"), relay: Maker::Ours },
        Self { extension: Maker::Ours, relay: Maker::Released("0.4") },
        Self { extension: Maker::Ours, relay: Maker::Released("0.7") },
        Self { extension: Maker::Ours, relay: Maker::Ours },
    ];

    /// Runs the scenarios in a browser of their own. Without words, all of them.
    pub async fn run(self, words: &[String]) -> Results {
        self.run_with(Trust::Unpaired, words).await
    }

    /// As [`Pair::run`], for two that may have proven themselves.
    pub async fn run_with(self, trust: Trust, words: &[String]) -> Results {
        let mut scene = Scene::set_up_with(self, trust).await;
        let (url, site) = (scene.url(), scene.site.url());
        let mut arguments = vec![url.as_str(), site.as_str()];
        arguments.extend(words.iter().map(String::as_str));
        let results = script::run("generations.mjs", &arguments, &[], async |question| {
            scene.answer(&question).await
        });
        let results = results.await;
        scene.end().await;
        results
    }
}

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
    home: TempDir,
}

#[derive(Debug)]
enum AnyRelay {
    Ours(RelayServer),
    Released(Child),
}

impl Scene {
    /// Starts both, without waiting for them to meet.
    pub async fn set_up(pair: Pair) -> Self {
        Self::set_up_with(pair, Trust::Unpaired).await
    }

    /// As [`Scene::set_up`], for two that may prove themselves.
    pub async fn set_up_with(pair: Pair, trust: Trust) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let port = free_port().await;
        let relay = Some(AnyRelay::start(pair.relay, trust, port, home.path()).await);
        let has_key = matches!(trust, Trust::Paired | Trust::Required);
        let loaded = match pair.extension {
            Maker::Ours if has_key => Loaded::paired(home.path(), port),
            Maker::Ours | Maker::Released(_) => extension(pair, port, home.path()),
        };
        let browser = loaded.start_browser(home.path(), &[], None).await;
        if pair.extension == Maker::Ours {
            browser.use_relay_port(port).await.expect("the extension takes a port");
        }
        Self { pair, trust, relay, browser, site: Site::start().await, port, home }
    }

    /// Where clients connect.
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

    /// What `playwriter` says to a user of this relay, whether or not all went well.
    pub async fn says(&self, arguments: &[&str]) -> String {
        let mut command = relay_program::command(arguments, self.home.path());
        command.env("PLAYWRITER_PORT", self.port.to_string()).current_dir(self.home.path());
        command.env("PLAYWRITER_PLAYWRIGHT", playwright_core());
        let said = timeout(LONG, command.output()).await.expect("it ends").expect("it runs");
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
    }

    async fn stop_relay(&mut self) {
        if let Some(relay) = self.relay.take() {
            relay.stop().await;
        }
    }

    async fn answer(&mut self, question: &Value) -> Value {
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

impl AnyRelay {
    async fn start(maker: Maker, trust: Trust, port: u16, home: &Path) -> Self {
        let Maker::Released(version) = maker else {
            let (folder, playwright) = (Some(home.join(".playwriter")), Some(playwright_core()));
            let launcher = Some(program());
            let executor =
                ExecutorOptions { folder, playwright, launcher, ..ExecutorOptions::default() };
            let secret = Some(home.join(".playwriter"));
            let pairing = match trust {
                Trust::Unpaired | Trust::Paired => PairingMode::Auto,
                Trust::Required | Trust::Missing => PairingMode::Required,
            };
            let options =
                RelayOptions { port, executor, secret, pairing, ..RelayOptions::default() };
            return Self::Ours(RelayServer::start(&options).await.expect("the port is free"));
        };
        let mut node = Command::new("node")
            .args(["serve.mjs", &package(version), &port.to_string()])
            .current_dir(released())
            .env("HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs");
        let mut lines = BufReader::new(node.stdout.take().expect("stdout is a pipe")).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("the relay starts in time");
        assert!(line.expect("it writes text").is_some(), "the released relay ended");
        // Whoever talks to a pipe that nobody reads is held up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self::Released(node)
    }

    /// Ends it, and waits until its port is free.
    async fn stop(self) {
        match self {
            Self::Ours(relay) => relay.close().await,
            Self::Released(mut node) => node.kill().await.expect("it runs"),
        }
    }
}

/// The folder to load. Released relays let in only who has the id of a released extension.
pub(crate) fn extension(pair: Pair, port: u16, home: &Path) -> Loaded {
    let id = RELEASED_ID.to_owned();
    match (pair.extension, pair.relay) {
        (Maker::Ours, Maker::Ours) => Loaded::ours(),
        (Maker::Ours, Maker::Released(version)) => {
            let folder = home.join("extension");
            copy_folder(&built_extension(), &folder);
            let mut manifest = manifest_in(&folder);
            manifest["key"] = manifest_in(&dist(version))["key"].take();
            fs::write(folder.join("manifest.json"), manifest.to_string())
                .expect("the copy can be written");
            Loaded { folder, id, ..Loaded::ours() }
        }
        (Maker::Released(version), _) => {
            Loaded { folder: dist(version), id, at_usual_port: Some(port), detour: None }
        }
    }
}

fn manifest_in(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("manifest.json"));
    serde_json::from_str(&text.expect("`make test` installs and builds what is needed"))
        .expect("a manifest is JSON")
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("the folder can be read").path();
        let target = to.join(entry.file_name().expect("it has a name"));
        if entry.is_dir() {
            copy_folder(&entry, &target);
        } else {
            fs::copy(&entry, &target).expect("the file can be copied");
        }
    }
}

fn package(version: &str) -> String {
    format!("playwriter-{version}")
}

fn dist(version: &str) -> PathBuf {
    released().join("node_modules").join(package(version)).join("dist/extension")
}

fn released() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("released")
}
