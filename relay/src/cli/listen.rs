//! Where a relay listens, and what it lets clients do.

use std::fmt;

use anyhow::bail;
use relay::client::{Client, ClientError, Endpoint};
use relay::log::Logs;
use relay::server::{RelayOptions, RelayServer, StartError, Token};
use relay::state::Policy;
use relay::{RelayServerError, version_of_ours};
use shared_protocol::http::Version;

use super::home_folder;
use super::progress::Progress;

/// Where only programs of this machine reach the relay.
pub(crate) const THIS_MACHINE: &str = "127.0.0.1";

/// Where the relay listens, and what it lets clients do. What is not said is as usual, or as it was.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Listen {
    /// Address to listen on beside 127.0.0.1; one that others can reach needs a token
    #[arg(long)]
    pub(super) host: Option<String>,
    /// Another name by which programs may call the relay, such as a proxy's
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) allow_host: Vec<String>,
    /// Secret that programs must show; better in the environment, where others cannot see it
    #[arg(long, env = "PLAYWRITER_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<Token>,
    #[command(flatten)]
    pub(crate) window: SeparateWindow,
    /// Open a tab for a client that finds none; so by default
    #[arg(
        long,
        env = "PLAYWRITER_AUTO_ENABLE",
        value_name = "BOOL",
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    pub(super) auto_enable: Option<bool>,
    /// Let clients bring tabs to the front
    #[arg(long)]
    pub(super) allow_focus: bool,
    /// Which cookies clients see and clear: those of controlled tabs (by default), or of the whole
    /// profile
    #[arg(long, value_enum)]
    pub(super) cookies: Option<Cookies>,
}

/// Where tabs open.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct SeparateWindow {
    /// Open the tabs that clients ask for in a window of their own
    #[arg(
        long = "separate-window",
        env = "PLAYWRITER_SEPARATE_WINDOW",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub(crate) wanted: Option<bool>,
}

/// How far clients reach into the user's profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Cookies {
    Tabs,
    Profile,
}

impl fmt::Display for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tabs => "tabs",
            Self::Profile => "profile",
        })
    }
}

impl Listen {
    /// Starts the relay, or says who is in the way.
    pub(crate) async fn start(&self, port: u16, logs: Option<Logs>) -> anyhow::Result<RelayServer> {
        match RelayServer::start(&self.options(port, logs)).await {
            Ok(server) => Ok(server),
            Err(StartError::PortTaken(port)) => {
                let running = running(port).await?;
                bail!(
                    "a playwriter relay {} is already running on port {port}\n\n\
                     hint: use it as it is, or stop it first with `playwriter stop`",
                    running.version
                );
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Starts the relay for a browser that ends with it, unless one of ours runs already.
    pub(crate) async fn start_or_find(
        &self,
        port: u16,
        logs: Option<Logs>,
    ) -> anyhow::Result<Option<RelayServer>> {
        let options = RelayOptions { has_browser: true, ..self.options(port, logs) };
        match RelayServer::start(&options).await {
            Ok(server) => Ok(Some(server)),
            Err(StartError::PortTaken(port)) => running(port).await.map(|_| None),
            Err(error) => Err(error.into()),
        }
    }

    fn options(&self, port: u16, logs: Option<Logs>) -> RelayOptions {
        RelayOptions {
            host: self.host.clone().unwrap_or_else(|| THIS_MACHINE.to_owned()),
            port,
            allowed_hosts: self.allow_host.clone(),
            policy: Policy {
                separate_window: self.window.wanted == Some(true),
                opens_first_tab: self.auto_enable.unwrap_or(true),
                may_focus: self.allow_focus,
                whole_profile: self.cookies == Some(Cookies::Profile),
            },
            token: self.token.clone(),
            logs,
            note: home_folder().ok(),
            arguments: self.arguments(),
            ..RelayOptions::default()
        }
    }

    /// What is said for a relay that is started, in words that `serve` takes; but for the token, which
    /// is nobody's business, and the window mode, which can be changed later.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let host = self.host.iter().map(|host| format!("--host={host}"));
        let names = self.allow_host.iter().map(|name| format!("--allow-host={name}"));
        let tab = self.auto_enable.iter().map(|wanted| format!("--auto-enable={wanted}"));
        let focus = self.allow_focus.then(|| "--allow-focus".to_owned());
        let cookies = self.cookies.iter().map(|cookies| format!("--cookies={cookies}"));
        host.chain(names).chain(tab).chain(focus).chain(cookies).collect()
    }
}

/// The relay of ours that has a port; an error that says who has it otherwise.
async fn running(port: u16) -> anyhow::Result<Version> {
    let _progress = Progress::show("asking who has the port");
    match version_of_ours(&Client::new(Endpoint::local(port), None)).await {
        Ok(running) => Ok(running),
        Err(another @ RelayServerError::AnotherRelay { .. }) => Err(another.into()),
        Err(RelayServerError::Relay(ClientError::TooSlow(_))) => {
            Err(RelayServerError::NoAnswer { port }.into())
        }
        Err(_) => bail!(
            "port {port} is already in use by another program\n\n\
             hint: stop that program, or choose another port with --port"
        ),
    }
}
