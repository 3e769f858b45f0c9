//! The relay on a stage: in the test's own process, as a program, or in the background.

use std::process::Stdio;

use relay::client::{Client, Endpoint};
use relay::server::{RelayOptions, RelayServer};
use relay_core::Policy;
use shared_protocol::http::PagesStatus;
use tokio::process::Child;
use tokio::time::timeout;

use super::Stage;
use crate::machine::{TIMEOUT, kill};
use crate::network::{Answer, http};
use crate::relay_program;

impl Stage {
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

    /// Stops the relay.
    pub async fn stop_relay(&mut self) {
        if let Some(relay) = self.relay.take() {
            relay.close().await;
        }
    }

    /// Starts the relay as a program of its own, where the extension looks for it, and waits until
    /// that has connected. It is killed when it is dropped.
    pub async fn relay_program(&self) -> Child {
        let child = self.spawn_relay();
        self.until_in_worker("getExtensionState().then((s) => s.connectionState === 'connected')")
            .await;
        child
    }

    /// Works like [`Stage::relay_program`], without waiting for the extension.
    #[must_use]
    pub fn spawn_relay(&self) -> Child {
        relay_program::command(&["serve", "--port", &self.port.to_string()], self.home.path())
            .stderr(Stdio::null())
            .spawn()
            .expect("the relay is built; `cargo test --workspace` does that")
    }

    /// Kills the background relay, as the system does when it needs the memory.
    pub fn kill_background_relay(&self) {
        let pid = self.home.relay_process(self.port).expect("a relay runs in the background");
        kill(pid);
    }

    /// Waits until the relay's status is as wanted, and returns it.
    pub async fn status_when(
        &self,
        what: &str,
        wanted: impl Fn(&PagesStatus) -> bool,
    ) -> PagesStatus {
        let relay = self.relay.as_ref().expect("the relay runs");
        match timeout(TIMEOUT, relay.status_when(wanted)).await {
            Ok(status) => status,
            Err(_) => {
                let last = relay.status_when(|_| true).await;
                panic!("waited in vain for {what}; the relay's status is {last:?}")
            }
        }
    }

    /// Asks the relay over HTTP.
    pub async fn http(&self, request: &str, headers: &[&str]) -> Answer {
        http(self.port, request, headers).await
    }

    /// Returns the process of the background relay.
    #[must_use]
    pub fn background_relay(&self) -> u32 {
        self.home.relay_process(self.port).expect("a relay runs in the background")
    }

    /// Returns a client that asks the stage's relay as our own programs do.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Endpoint::local(self.port), None).in_folder(self.files())
    }
}
