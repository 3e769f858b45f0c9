//! The relay of a pair: ours in this process, or a released one in Node.

use std::path::Path;
use std::process::Stdio;

use relay::agents::ExecutorOptions;
use relay::server::{PairingMode, RelayOptions, RelayServer};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::released::{package, released};
use super::{Maker, Trust};
use crate::machine::{TIMEOUT, playwright_core};
use crate::relay_program::program;

/// A relay that runs.
#[derive(Debug)]
pub(super) enum AnyRelay {
    Ours(RelayServer),
    Released(Child),
}

impl AnyRelay {
    pub(super) async fn start(maker: Maker, trust: Trust, port: u16, home: &Path) -> Self {
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
        let line = timeout(TIMEOUT, lines.next_line()).await.expect("the relay starts in time");
        assert!(line.expect("it writes text").is_some(), "the released relay ended");
        // A pipe that nobody reads would block the process that writes to it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self::Released(node)
    }

    /// Ends it, and waits until its port is free.
    pub(super) async fn stop(self) {
        match self {
            Self::Ours(relay) => relay.close().await,
            Self::Released(mut node) => node.kill().await.expect("it runs"),
        }
    }
}
