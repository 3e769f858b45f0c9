//! A browser without a relay: what a client's script must hold on before it can judge the relay.

use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::machine::TIMEOUT;
use crate::network::Site;

/// A Chromium whose debugging port a client connects to directly. It is killed when dropped.
#[derive(Debug)]
pub struct DirectBrowser {
    url: String,
    /// A web site to visit.
    pub site: Site,
    _process: Child,
    _home: TempDir,
}

impl DirectBrowser {
    /// Starts it, and waits until it listens.
    pub async fn start() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let program =
            relay::browser::find().expect("a Chromium is installed; `make test` does that");
        let mut process = Command::new(program)
            .args(["--remote-debugging-port=0", "--headless=new", "--disable-gpu", "--no-sandbox"])
            .args(["--no-first-run", "--no-default-browser-check", "--disable-sync"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-quic", "--screen-info={1920x1080}", "--test-type"])
            .arg(format!("--user-data-dir={}", home.path().join("profile").display()))
            .arg("about:blank")
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("Chromium starts");
        let mut talk = BufReader::new(process.stderr.take().expect("stderr is a pipe")).lines();
        let address = async {
            while let Some(line) = talk.next_line().await.expect("Chromium's talk can be read") {
                if let Some((_, address)) = line.split_once("DevTools listening on ws://") {
                    return address.split('/').next().unwrap_or_default().to_owned();
                }
            }
            panic!("Chromium ended before it listened");
        };
        let address = timeout(TIMEOUT, address).await.expect("Chromium listens");
        // A pipe that nobody reads would block the process that writes to it.
        tokio::spawn(async move { while let Ok(Some(_)) = talk.next_line().await {} });
        let url = format!("http://{address}");
        Self { url, site: Site::start().await, _process: process, _home: home }
    }

    /// Returns the address at which clients connect.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
