//! The stage of a test: a browser with the extension, a relay, a web site and a home, all real.
//!
//! Each file adds to [`Stage`] what a test does with one part: the relay, the extension's worker, raw
//! peers, programs, agents. The parts themselves are in the rooms below.

mod agents;
mod peers;
mod programs;
mod relay;
mod worker;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ::relay::browser::Browser;
use ::relay::server::{RelayOptions, RelayServer, Token};

use crate::browser::{Extension, PAIRED, Screen};
use crate::evidence::Evidence;
use crate::machine::{Home, until_none_is_left};
use crate::network::{Site, free_port};

/// The stage of a test: all programs that it needs, all of them real.
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

    /// Works like [`Stage::new`], with the tab in front under control.
    pub async fn with_controlled_tab() -> Self {
        let stage = Self::new().await;
        stage.control_tab().await;
        stage
    }

    /// Sets up all parts but the relay, whose port is free.
    pub async fn without_relay() -> Self {
        Self::set_up(&[], false, true).await
    }

    /// Works like [`Stage::new`], with an extension that has no key, as one is that was loaded by hand.
    pub async fn unpaired() -> Self {
        let stage = Self::unpaired_without_relay().await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Works like [`Stage::without_relay`], with an extension that has no key, and so talks to relays
    /// that cannot prove themselves.
    pub async fn unpaired_without_relay() -> Self {
        Self::set_up(&[], false, false).await
    }

    /// Works like [`Stage::new`], with a window on a screen.
    pub async fn on_a_screen() -> Self {
        let stage = Self::set_up(&[], true, true).await.with_relay().await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Works like [`Stage::new`], in a browser that has an extension of `tests/fixtures/extensions`
    /// too.
    pub async fn beside_extension(name: &str) -> Self {
        Self::beside_extension_as(name, RelayOptions::default()).await
    }

    /// Works like [`Stage::beside_extension`], with options of the test's own for the relay.
    pub async fn beside_extension_as(name: &str, options: RelayOptions) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/extensions").join(name);
        let mut stage = Self::set_up(&[folder], false, true).await;
        stage.start_relay_as(options).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Works like [`Stage::new`], with a relay that wants a separate window.
    pub async fn with_separate_window() -> Self {
        let mut stage = Self::without_relay().await;
        stage.start_relay_with(true).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage
    }

    /// Works like [`Stage::with_controlled_tab`], with a relay that wants a token.
    pub async fn with_token(token: &str) -> Self {
        let mut stage = Self::without_relay().await;
        let token = Some(Token::new(token));
        stage.start_relay_as(RelayOptions { token, ..RelayOptions::default() }).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage.control_tab().await;
        stage
    }

    /// Starts the relay on the port where the extension looks for it.
    #[must_use]
    pub async fn with_relay(mut self) -> Self {
        self.start_relay().await;
        self
    }

    async fn set_up(other_extensions: &[PathBuf], on_a_screen: bool, is_paired: bool) -> Self {
        let home = Home::new();
        let evidence = Evidence::new(home.path());
        let port = free_port().await;
        let screen = on_a_screen.then(|| Screen::start(home.path()));
        let extension = match is_paired {
            true => Extension::paired(home.path(), port),
            false => Extension::ours(),
        };
        let browser = extension.start_browser(home.path(), other_extensions, screen.as_ref()).await;
        browser.use_relay_port(port).await.expect("the extension takes a port");
        Self { evidence, relay: None, port, browser, site: Site::start().await, screen, home }
    }

    /// Ends the browser and starts it again with the same profile.
    pub async fn restart_browser(self) -> Self {
        self.restart_browser_with(&[]).await
    }

    /// As [`Stage::restart_browser`], with more switches.
    pub async fn restart_browser_with(self, switches: &[&str]) -> Self {
        let Self { evidence, relay, port, browser, site, screen, home } = self;
        browser.stop().await;
        let switches = switches.iter().map(OsString::from).collect();
        let extension = Extension { switches, ..Extension::again(home.path()) };
        let browser = extension.start_browser(home.path(), &[], screen.as_ref()).await;
        Self { evidence, relay, port, browser, site, screen, home }
    }

    /// Returns the screen of a stage that has one.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        self.screen.as_ref().expect("the stage has a screen")
    }

    /// Returns the port at which the extension looks for a relay.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the home folder of everything on this stage.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the folder of the extension that has a key.
    #[must_use]
    pub fn paired_folder(&self) -> PathBuf {
        self.home.path().join(PAIRED)
    }

    /// Returns the address at which clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends what was started, in order. The test fails if a process of its home stays.
    pub async fn end(mut self) {
        self.browser.stop().await;
        if let Some(relay) = self.relay.take() {
            relay.close().await;
        }
        self.home.end_relays();
        drop(self.screen.take());
        until_none_is_left(self.home.path()).await;
    }
}
