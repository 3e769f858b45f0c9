//! The address of the relay that a command talks to.

use std::time::Duration;

use anyhow::bail;
use relay::PersistentRelayOptions;
use relay::client::{Client, Endpoint};
use relay::mcp::Remote;
use relay::server::Token;
use shared_protocol::DEFAULT_PORT;

use super::listen::SeparateWindow;

pub(crate) const HOST: &str = "PLAYWRITER_HOST";

/// The relay's port or address.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Address {
    /// Port of the relay on this machine
    #[arg(
        long,
        env = "PLAYWRITER_PORT",
        default_value_t = DEFAULT_PORT,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub(crate) port: u16,
    /// A relay elsewhere: a host, or an address that begins with http://, https://, ws:// or wss://
    #[arg(long, env = HOST)]
    host: Option<String>,
    /// Secret that the relay wants; set it in the environment, because others can see arguments
    #[arg(long, env = "PLAYWRITER_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<Token>,
}

impl Address {
    /// A relay elsewhere, which is used as it is.
    pub(crate) fn remote(&self) -> anyhow::Result<Option<Endpoint>> {
        remote(self.host.as_deref(), self.port)
    }

    /// Returns the relay where agents' code is run: the relay of this machine is started if it does
    /// not run.
    pub(crate) fn sessions(&self) -> anyhow::Result<Remote> {
        if self.remote()?.is_some() {
            return Ok(Remote::elsewhere(self.client()?));
        }
        let (port, token) = (self.port, self.token.clone());
        Ok(Remote::local(PersistentRelayOptions { port, token, ..Default::default() }))
    }

    /// Works like [`Address::sessions`], for sessions whose tabs are to open in the given
    /// window.
    pub(crate) fn sessions_with(&self, window: SeparateWindow) -> anyhow::Result<Remote> {
        Ok(self.sessions()?.with_window(window.wanted))
    }

    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let endpoint = self.remote()?.unwrap_or_else(|| Endpoint::local(self.port));
        Ok(Client::new(endpoint, self.token.clone()))
    }
}

/// The names of this machine mean the relay that may be started here; an address may be the end of
/// a tunnel.
pub(crate) fn remote(host: Option<&str>, port: u16) -> anyhow::Result<Option<Endpoint>> {
    match host {
        None | Some("" | "localhost" | "127.0.0.1") => Ok(None),
        Some(host) => Ok(Some(Endpoint::parse(host, port)?)),
    }
}

/// Refuses a command that looks at files of this machine, where the user means another.
pub(crate) fn only_here(command: &str) -> anyhow::Result<()> {
    let host = std::env::var(HOST).ok();
    match remote(host.as_deref(), DEFAULT_PORT)? {
        None => Ok(()),
        Some(relay) => bail!(
            "`playwriter {command}` is only for a relay on this machine, and {HOST} names {relay}\n\n\
             hint: run it there, or unset {HOST} if the relay here is meant"
        ),
    }
}

/// Reads a duration: seconds, or a number with a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, humantime::DurationError> {
    match text.parse() {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(_) => humantime::parse_duration(text),
    }
}
