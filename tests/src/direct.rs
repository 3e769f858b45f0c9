//! A browser without a relay: what a client's script must hold on before it can judge the relay.

use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::fs;
use tokio::process::{Child, Command};
use tokio::time::{Duration, sleep, timeout};

use crate::{PATIENCE, Site};

/// A Chromium with a debugging port of its own, and the site to visit with it.
#[derive(Debug)]
pub struct DirectBrowser {
    port: u16,
    /// A web site to visit.
    pub site: Site,
    _browser: Child,
    _home: TempDir,
}

impl DirectBrowser {
    /// Starts the browser and waits until it listens. It is killed when it is dropped.
    pub async fn start() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let program = relay::browser::find().expect("a Chromium is installed");
        let browser = Command::new(program)
            .args(["--headless=new", "--disable-gpu", "--no-sandbox", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--screen-info={1920x1080}", "--remote-debugging-port=0", "--test-type"])
            .arg(format!("--user-data-dir={}", home.path().display()))
            .arg("about:blank")
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the browser runs");
        let port = timeout(PATIENCE, port_of(home.path())).await.expect("the browser listens");
        Self { port, site: Site::start().await, _browser: browser, _home: home }
    }

    /// Where clients connect.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// The browser tells its port by a file, once it has one.
async fn port_of(profile: &Path) -> u16 {
    loop {
        let text = fs::read_to_string(profile.join("DevToolsActivePort")).await;
        let port =
            text.ok().and_then(|text| text.lines().next().and_then(|line| line.parse().ok()));
        match port {
            Some(port) => return port,
            None => sleep(Duration::from_millis(20)).await,
        }
    }
}
