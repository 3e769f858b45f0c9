//! The harness: a stage with every real part on it, one for each test.
//!
//! Each [`Stage`] has a relay on a free port, a web site on another, and a Chromium with the built
//! extension in a profile and a HOME of its own, so that tests run side by side and touch nothing
//! of the person's who runs them.

#![expect(clippy::expect_used, clippy::panic, reason = "what goes wrong here fails the test")]

mod playwright;
mod raw_client;
mod raw_relay;
mod screen;
mod site;
mod walk;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use relay::browser::{Browser, BrowserOptions};
use relay::server::{RelayOptions, RelayServer};
use serde_json::{Value, json};
use shared_protocol::http::PagesStatus;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

pub use raw_client::RawClient;
pub use raw_relay::RawRelay;
pub use screen::{Colour, Screen};
pub use site::Site;
pub use walk::{DirectBrowser, walk_playwright};

/// Nothing on a stage takes this long unless it never happens.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Everything a test needs, all of it real.
#[derive(Debug)]
pub struct Stage {
    /// `None` while a test keeps it away.
    relay: Option<RelayServer>,
    port: u16,
    /// The user's browser.
    pub browser: Browser,
    /// A web site to visit.
    pub site: Site,
    screen: Option<Screen>,
    home: TempDir,
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
        let stage = Self::set_up(&others.collect::<Vec<_>>(), false).await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Sets up all parts but the relay, whose port is free.
    pub async fn without_relay() -> Self {
        Self::set_up(&[], false).await
    }

    /// As [`Stage::new`], with a window on a screen.
    pub async fn on_a_screen() -> Self {
        let stage = Self::set_up(&[], true).await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// The screen of a stage that has one.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        self.screen.as_ref().expect("the stage has a screen")
    }

    async fn set_up(other_extensions: &[PathBuf], on_a_screen: bool) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let port = free_port().await;
        let screen = on_a_screen.then(|| Screen::start(home.path()));
        let browser = start_browser(home.path(), other_extensions, screen.as_ref()).await;
        browser.use_relay_port(port).await.expect("the extension takes a port");
        Self { relay: None, port, browser, site: Site::start().await, screen, home }
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
        let options = RelayOptions { port: self.port, separate_window, ..RelayOptions::default() };
        self.relay = Some(RelayServer::start(&options).await.expect("the port is free"));
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

    /// Runs the body of an async function in Node, with a Playwright `browser` connected to the
    /// relay, its `context` and the `site`'s address in scope, and gives what it returns.
    pub async fn playwright(&self, body: &str) -> Value {
        playwright::run(body, &self.url(), &self.site.url(), self.home.path()).await
    }

    /// Ends the browser and starts it again with the same profile.
    pub async fn restart_browser(self) -> Self {
        let Self { relay, port, browser, site, screen, home } = self;
        browser.stop().await;
        let browser = start_browser(home.path(), &[], screen.as_ref()).await;
        Self { relay, port, browser, site, screen, home }
    }

    /// Starts the relay as a program of its own, where the extension looks for it, and waits until
    /// that has connected. It is killed when it is dropped.
    pub async fn relay_program(&self) -> Child {
        let tests = std::env::current_exe().expect("the tests are a program");
        let folder = tests.ancestors().nth(2).expect("the tests are built into a folder");
        let child = Command::new(folder.join("playwriter"))
            .args(["serve", "--port", &self.port.to_string()])
            .env("HOME", self.home.path())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the relay is built; `cargo test --workspace` does that");
        self.until_in_worker("getExtensionState().then((s) => s.connectionState === 'connected')")
            .await;
        child
    }

    /// Starts a relay that speaks for itself, where the extension looks for one.
    pub async fn raw_relay(&self) -> RawRelay {
        RawRelay::start(self.port).await
    }

    /// Opens a WebSocket to the relay as an extension that speaks for itself.
    pub async fn raw_extension(&self, query: &str) -> RawClient {
        let url = format!("ws://127.0.0.1:{}/extension?{query}", self.port);
        RawClient::connect_from(&url, &format!("chrome-extension://{}", relay::EXTENSION_ID)).await
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
    }

    /// Ends what was started, in order.
    pub async fn end(mut self) {
        self.browser.stop().await;
        if let Some(relay) = self.relay.take() {
            relay.close().await;
        }
    }
}

/// Starts a Chromium with the built extension. Nobody's relay on the usual port can be reached
/// from it: the address is taken away.
async fn start_browser(
    home: &Path,
    other_extensions: &[PathBuf],
    screen: Option<&Screen>,
) -> Browser {
    let program = relay::browser::find().expect("a Chromium is installed; `make test` does that");
    let mut arguments: Vec<OsString> = [
        "--disable-quic",
        "--screen-info={1920x1080}",
        "--host-resolver-rules=MAP 127.0.0.1:19988 ~NOTFOUND",
        // No banners but the one that a user would see.
        "--test-type",
    ]
    .map(OsString::from)
    .into();
    let mut environment: Vec<(OsString, OsString)> = vec![("HOME".into(), home.into())];
    environment.extend(screen.map(|screen| ("DISPLAY".into(), screen.display().into())));
    if !other_extensions.is_empty() {
        let mut all = built_extension().into_os_string();
        for other in other_extensions {
            all.push(",");
            all.push(other);
        }
        // The last of a repeated switch counts.
        for switch in ["--load-extension=", "--disable-extensions-except="] {
            let mut argument = OsString::from(switch);
            argument.push(&all);
            arguments.push(argument);
        }
    }
    let options = BrowserOptions {
        program,
        extension: built_extension(),
        profile: home.join("profile"),
        headless: screen.is_none(),
        arguments,
        environment,
    };
    match Browser::start(&options).await {
        Ok(browser) => browser,
        Err(error) => panic!("{error}"),
    }
}

/// The folder that `make extension` fills.
#[must_use]
pub fn built_extension() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../extension-shell/dist")
}

/// Prints a figure that the test run should show, though the test passes.
pub fn show_figure(name: &str, value: &str) {
    // The harness captures only what the print macros write.
    drop(writeln!(std::io::stderr(), "figure: {name}: {value}"));
}

async fn free_port() -> u16 {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
    let address = listener.and_then(|listener| listener.local_addr());
    address.expect("there is a free port").port()
}
