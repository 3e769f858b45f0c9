//! The harness: a stage with every real part on it, one for each test.
//!
//! Each [`Stage`] has a relay on a free port, a web site on another, and a Chromium with the built
//! extension in a profile and a HOME of its own, so that tests run side by side and touch nothing
//! of the person's who runs them.

#![expect(clippy::expect_used, clippy::panic, reason = "what goes wrong here fails the test")]

mod agent;
mod agent_stage;
mod chromium;
mod compiler;
mod conformance;
mod direct;
mod evidence;
mod false_relay;
mod flood;
mod generations;
mod home;
mod http;
mod language;
mod machines;
mod oxide;
mod playwright;
mod raw_client;
mod raw_key;
mod raw_relay;
mod raw_tab;
mod relay_program;
mod screen;
mod script;
mod site;
mod squatter;
mod tls;
mod transcript;
mod users;
mod walk;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use relay::browser::Browser;
use relay::server::{RelayOptions, RelayServer, Token};
use relay_core::Policy;
use serde_json::{Value, json};
use shared_protocol::http::PagesStatus;
use tokio::net::TcpSocket;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use chromium::Loaded;
use evidence::Evidence;

pub use agent::{Agent, Sdk, ToolAnswer, ToolImage, playwright_core};
pub use chromium::built_extension;
pub use compiler::compile;
pub use conformance::{CLIENTS, Client, Results};
pub use direct::DirectBrowser;
pub use false_relay::FalseRelay;
pub use flood::{Flood, flood_beside_a_stalled_client};
pub use generations::{Maker, Pair, SCENARIOS, Scene, Trust};
pub use home::Home;
pub use http::{Answer, http, http_until};
pub use language::Language;
pub use machines::{may_make_networks, on_two_machines};
pub use raw_client::RawClient;
pub use raw_key::RawKey;
pub use raw_relay::RawRelay;
pub use raw_tab::RawTab;
pub use relay_program::{RelayProgram, program, resident_memory};
pub use screen::{Colour, Screen};

pub use site::Site;
pub use squatter::{HeldSocket, Squat, Squatter};
pub use tls::tls_proxy;
pub use transcript::{Recorded, generations, record, replay};
pub use users::{as_user, may_be_another_user, own_user};
pub use walk::walk_playwright;

/// Nothing on a stage takes this long unless it never happens.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// As [`PATIENCE`], for hundreds of megabytes on a machine that has other things to do.
const LONG: Duration = Duration::from_secs(600);

/// Everything a test needs, all of it real.
#[derive(Debug)]
pub struct Stage {
    evidence: Evidence,
    /// `None` while a test keeps it away.
    relay: Option<RelayServer>,
    port: u16,
    /// The user's browser.
    pub browser: Browser,
    /// A web site to visit.
    pub site: Site,
    screen: Option<Screen>,
    home: Home,
}

impl Stage {
    /// Sets up all parts and waits until the extension has connected.
    pub async fn new() -> Self {
        let stage = Self::without_relay().await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// As [`Stage::new`], with the tab in front under control.
    pub async fn with_controlled_tab() -> Self {
        let stage = Self::new().await;
        stage.control_tab().await;
        stage
    }

    /// As [`Stage::new`], in a browser that has the extensions in `tests/extensions` too.
    pub async fn with_other_extensions() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("extensions");
        let others = std::fs::read_dir(folder).expect("there are other extensions");
        let others = others.map(|entry| entry.expect("a folder can be read").path());
        let stage = Self::set_up(&others.collect::<Vec<_>>(), false, true).await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Sets up all parts but the relay, whose port is free.
    pub async fn without_relay() -> Self {
        Self::set_up(&[], false, true).await
    }

    /// As [`Stage::new`], with an extension that has no key, as one is that was loaded by hand.
    pub async fn unpaired() -> Self {
        let stage = Self::unpaired_without_relay().await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// As [`Stage::without_relay`], with an extension that has no key, and so talks to relays that
    /// cannot prove themselves.
    pub async fn unpaired_without_relay() -> Self {
        Self::set_up(&[], false, false).await
    }

    /// As [`Stage::new`], with a window on a screen.
    pub async fn on_a_screen() -> Self {
        let stage = Self::set_up(&[], true, true).await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// As [`Stage::new`], in a browser that has an extension of `tests/intruders` too.
    pub async fn beside_intruder(name: &str) -> Self {
        Self::beside_intruder_as(name, RelayOptions::default()).await
    }

    /// As [`Stage::beside_intruder`], with options of the test's own for the relay.
    pub async fn beside_intruder_as(name: &str, options: RelayOptions) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("intruders").join(name);
        let mut stage = Self::set_up(&[folder], false, true).await;
        stage.start_relay_as(options).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// The screen of a stage that has one.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        self.screen.as_ref().expect("the stage has a screen")
    }

    async fn set_up(other_extensions: &[PathBuf], on_a_screen: bool, is_paired: bool) -> Self {
        let home = Home::new();
        let port = free_port().await;
        let screen = on_a_screen.then(|| Screen::start(home.path()));
        let loaded = match is_paired {
            true => Loaded::paired(home.path(), port),
            false => Loaded::ours(),
        };
        let browser = loaded.start_browser(home.path(), other_extensions, screen.as_ref()).await;
        browser.use_relay_port(port).await.expect("the extension takes a port");
        let evidence = Evidence::new(home.path());
        Self { evidence, relay: None, port, browser, site: Site::start().await, screen, home }
    }

    /// Starts the relay on the port where the extension looks for it.
    #[must_use]
    pub async fn with_relay(mut self) -> Self {
        self.start_relay().await;
        self
    }

    /// As [`Stage::new`], with a relay that wants a separate window.
    pub async fn with_separate_window() -> Self {
        let mut stage = Self::without_relay().await;
        stage.start_relay_with(true).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Starts the relay again, where it was.
    pub async fn start_relay(&mut self) {
        self.start_relay_with(false).await;
    }

    /// Starts the relay again, where it was, in one window mode or the other.
    pub async fn start_relay_with(&mut self, separate_window: bool) {
        let policy = Policy { separate_window, ..Policy::default() };
        self.start_relay_as(RelayOptions { policy, ..RelayOptions::default() }).await;
    }

    /// Starts the relay again, where it was, with options of the test's own. Agents' code is run as
    /// usual, unless they say in which folder.
    pub async fn start_relay_as(&mut self, options: RelayOptions) {
        let (port, secret) = (self.port, Some(self.files()));
        let executor = match options.executor.folder {
            Some(_) => options.executor.clone(),
            None => self.executor(),
        };
        let logs = options.logs.clone().or_else(|| Some(self.evidence.logs()));
        let options = RelayOptions { port, executor, secret, logs, ..options };
        self.relay = Some(RelayServer::start(&options).await.expect("the port is free"));
    }

    /// As [`Stage::with_controlled_tab`], with a relay that wants a token.
    pub async fn with_token(token: &str) -> Self {
        let mut stage = Self::without_relay().await;
        let token = Some(Token::new(token));
        stage.start_relay_as(RelayOptions { token, ..RelayOptions::default() }).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage.control_tab().await;
        stage
    }

    /// Stops the relay.
    pub async fn stop_relay(&mut self) {
        if let Some(relay) = self.relay.take() {
            relay.close().await;
        }
    }

    /// Clicks the extension's icon on the tab in front, and waits until the relay has the tab.
    pub async fn control_tab(&self) -> Value {
        let toggled = self.browser.click_icon().await.expect("the worker toggles the tab");
        self.status_when("the tab to be controlled", |status| status.page_count > 0).await;
        toggled
    }

    /// Waits until the relay's status is as wanted.
    pub async fn status_when(
        &self,
        what: &str,
        wanted: impl Fn(&PagesStatus) -> bool,
    ) -> PagesStatus {
        let relay = self.relay.as_ref().expect("the relay runs");
        match timeout(PATIENCE, relay.status_when(wanted)).await {
            Ok(status) => status,
            Err(_) => panic!("waited in vain for {what}"),
        }
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Evaluates an expression in the extension's worker.
    pub async fn in_worker(&self, expression: &str) -> Value {
        match self.browser.evaluate_in_worker(expression).await {
            Ok(value) => value,
            Err(error) => panic!("{error}: {expression}"),
        }
    }

    /// The state of the extension's worker, with its tabs in a list: a map has no JSON.
    pub async fn extension_state(&self) -> Value {
        self.in_worker(
            "getExtensionState().then((state) => ({ ...state, tabs: [...state.tabs.values()] }))",
        )
        .await
    }

    /// Looks until an expression in the extension's worker is true, for things that Chrome does not
    /// tell of.
    pub async fn until_in_worker(&self, expression: &str) {
        let look = format!(
            "new Promise((resolve) => {{
                const look = async () =>
                    (await ({expression})) ? resolve() : setTimeout(look, 20);
                look();
            }})"
        );
        self.in_worker(&look).await;
    }

    /// Where the extension looks for a relay.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of the extension that has a key.
    #[must_use]
    pub fn paired_folder(&self) -> PathBuf {
        self.home.path().join(chromium::PAIRED)
    }

    /// The home folder of everything on this stage.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Kills the relay in the background, as the system does when it needs the memory.
    pub fn kill_background_relay(&self) {
        let pid = self.home.relay_process(self.port).expect("a relay runs in the background");
        home::kill(pid);
    }

    /// `playwriter` with arguments, which is to talk to the extension of this stage.
    #[must_use]
    pub fn playwriter(&self, arguments: &[&str]) -> Command {
        let mut command = relay_program::command(arguments, self.home.path());
        command.env("PLAYWRITER_PORT", self.port.to_string());
        command
    }

    /// Runs a script of Node or Python that finds `playwriter` on its `PATH`, and gives what it
    /// prints as JSON.
    pub async fn script(&self, language: Language, text: &str) -> Value {
        self.script_with(language, text, &[]).await
    }

    /// As [`Stage::script`], in an environment of the test's own.
    pub async fn script_with(
        &self,
        language: Language,
        text: &str,
        more: &[(&'static str, OsString)],
    ) -> Value {
        let port = self.port.to_string();
        let path = relay_program::path();
        let own: [(&str, OsString); 2] = [("PATH", path), ("PLAYWRITER_PORT", port.into())];
        let environment = [&own, more].concat();
        language::run(language, text, self.home.path(), &environment).await
    }

    /// Runs the body of an async function in Node, with a Playwright `browser` connected to the
    /// relay, its `context` and the `site`'s address in scope, and gives what it returns.
    pub async fn playwright(&self, body: &str) -> Value {
        self.playwright_at(&self.url(), body).await
    }

    /// As [`Stage::playwright`], connected to an address of the test's own.
    pub async fn playwright_at(&self, url: &str, body: &str) -> Value {
        playwright::run(body, url, &self.site.url(), self.home.path()).await
    }

    /// Asks the relay over HTTP.
    pub async fn http(&self, request: &str, headers: &[&str]) -> Answer {
        http(self.port, request, headers).await
    }

    /// Ends the browser and starts it again with the same profile.
    pub async fn restart_browser(self) -> Self {
        let Self { evidence, relay, port, browser, site, screen, home } = self;
        browser.stop().await;
        let loaded = Loaded::again(home.path());
        let browser = loaded.start_browser(home.path(), &[], screen.as_ref()).await;
        Self { evidence, relay, port, browser, site, screen, home }
    }

    /// Starts the relay as a program of its own, where the extension looks for it, and waits until
    /// that has connected. It is killed when it is dropped.
    pub async fn relay_program(&self) -> Child {
        let child = self.spawn_relay();
        self.until_in_worker("getExtensionState().then((s) => s.connectionState === 'connected')")
            .await;
        child
    }

    /// As [`Stage::relay_program`], without waiting for the extension.
    #[must_use]
    pub fn spawn_relay(&self) -> Child {
        relay_program::command(&["serve", "--port", &self.port.to_string()], self.home.path())
            .stderr(Stdio::null())
            .spawn()
            .expect("the relay is built; `cargo test --workspace` does that")
    }

    /// Ends the pairing of the extension, as its user can.
    pub fn unpair(&self) {
        let home = self.home.path().join(".playwriter");
        relay::pairing::unpair(&home, &self.paired_folder()).expect("the file can be written");
    }

    /// Starts a relay that speaks for itself, where the extension looks for one. It can prove nothing,
    /// so the extension must not have a key.
    pub async fn raw_relay(&self) -> RawRelay {
        if self.paired_folder().is_dir() {
            self.unpair();
        }
        RawRelay::start(self.port).await
    }

    /// Opens a WebSocket to the relay as an extension that speaks for itself.
    pub async fn raw_extension(&self, query: &str) -> RawClient {
        RawClient::connect_as_extension(self.port, query).await
    }

    /// Opens a WebSocket to the relay as a client that speaks for itself.
    pub async fn raw_client(&self, path: &str) -> RawClient {
        RawClient::connect(&format!("ws://127.0.0.1:{}{path}", self.port)).await
    }

    /// Ends the extension's worker as Chrome does when it needs the memory.
    pub async fn end_worker(&self) {
        let worker = self.browser.worker().await.expect("the browser runs");
        let close = json!({ "targetId": worker });
        self.browser.devtools("Target.closeTarget", close).await.expect("the worker ends");
        let ended = self.browser.worker_ended(&worker);
        timeout(PATIENCE, ended).await.expect("the worker ends");
    }

    /// Ends what was started, in order.
    pub async fn end(mut self) {
        self.browser.stop().await;
        if let Some(relay) = self.relay.take() {
            relay.close().await;
        }
    }
}

/// Prints a figure that the test run should show, though the test passes.
pub fn show_figure(name: &str, value: &str) {
    // The harness captures only what the print macros write.
    drop(writeln!(std::io::stderr(), "figure: {name}: {value}"));
}

/// A port that nobody is given but who asks for it by its number: it is bound for as long as the
/// tests run, by a socket that does not listen.
async fn free_port() -> u16 {
    static HELD: Mutex<Vec<TcpSocket>> = Mutex::const_new(Vec::new());
    let socket = TcpSocket::new_v4().expect("there are sockets");
    socket.set_reuseaddr(true).expect("others may bind it too");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("there is a free port");
    let port = socket.local_addr().expect("it is bound").port();
    HELD.lock().await.push(socket);
    port
}
