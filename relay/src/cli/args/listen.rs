//! The addresses at which a relay listens, and the rights that it gives clients.

use std::fmt;
use std::path::PathBuf;

use anyhow::bail;
use relay::agents::ExecutorOptions;
use relay::boundary::{AgentsNetwork, SandboxMode};
use relay::client::{Client, ClientError, Endpoint};
use relay::log::Logs;
use relay::server::{AllowedUser, PairingMode, RelayOptions, RelayServer, StartError, Token};
use relay::{RelayServerError, version_of_ours};
use relay_core::{AgentsMay, Policy};
use shared_protocol::http::Version;

use crate::cli::home_folder;
use crate::cli::progress::Progress;

/// The address at which only programs of this machine reach the relay.
pub(crate) const THIS_MACHINE: &str = "127.0.0.1";

/// The addresses at which the relay listens, and the rights that it gives clients. Options that are
/// not given have their usual or their previous values.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Listen {
    /// Address to listen on beside 127.0.0.1; an address that other machines can reach needs a token
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// Another name by which programs may call the relay, such as a proxy's
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) allow_host: Vec<String>,
    /// Another user of this machine whom the relay serves like you, or `all`
    #[arg(long, value_name = "NAME|UID", value_delimiter = ',')]
    pub(crate) allow_user: Vec<AllowedUser>,
    /// Secret that programs must show; set it in the environment, because others can see arguments
    #[arg(long, env = "PLAYWRITER_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<Token>,
    #[command(flatten)]
    pub(crate) window: SeparateWindow,
    /// Open a tab for a client that finds none (by default)
    #[arg(
        long,
        env = "PLAYWRITER_AUTO_ENABLE",
        value_name = "BOOL",
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    pub(crate) auto_enable: Option<bool>,
    /// Let clients bring tabs to the front
    #[arg(long)]
    pub(crate) allow_focus: bool,
    /// Let in only CDP clients that show a token; `playwriter connect` prints an address that has it
    #[arg(
        long,
        env = "PLAYWRITER_PAIRED",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    pub(crate) paired: Option<bool>,
    /// Cookies that clients see and clear: those of controlled tabs (by default), or of the whole
    /// profile
    #[arg(long, value_enum)]
    pub(crate) cookies: Option<Cookies>,
    /// Devices that agents may let pages use, at sites that are open in controlled tabs
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) agents_may: Vec<Device>,
    /// Browsers that are let in: also those that are not paired (by default), or paired ones only
    #[arg(long, value_enum)]
    pub(crate) pairing: Option<Pairing>,
    /// Servers that agents' code may connect to by itself: none; web, the usual ports of web and
    /// development servers (by default), with others such as web,9443; or all
    #[arg(long, env = "PLAYWRITER_AGENTS_NETWORK", value_name = "NETWORK")]
    pub(crate) agents_network: Option<AgentsNetwork>,
    /// Run agents' code where the system cannot confine it (auto, by default), or not (required)
    #[arg(long, env = "PLAYWRITER_SANDBOX", value_name = "MODE")]
    pub(crate) sandbox: Option<SandboxMode>,
}

/// The options that say in which window tabs open.
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

/// The part of the user's profile that clients can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Cookies {
    Tabs,
    Profile,
}

/// A device that a page may use with the user's permission, and that agents may give only with the
/// user's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Device {
    Camera,
    Microphone,
    ClipboardRead,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::ClipboardRead => "clipboard-read",
        })
    }
}

/// The browsers that are let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pairing {
    Auto,
    Required,
}

impl fmt::Display for Pairing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Required => "required",
        })
    }
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
    /// Starts the relay, or returns an error that names the program on its port.
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
            allowed_users: self.allow_user.clone(),
            policy: Policy {
                separate_window: self.window.wanted == Some(true),
                opens_first_tab: self.auto_enable.unwrap_or(true),
                may_focus: self.allow_focus,
                whole_profile: self.cookies == Some(Cookies::Profile),
                agents_may: AgentsMay {
                    camera: self.agents_may.contains(&Device::Camera),
                    microphone: self.agents_may.contains(&Device::Microphone),
                    clipboard_read: self.agents_may.contains(&Device::ClipboardRead),
                },
            },
            token: self.token.clone(),
            logs,
            relay_file: home_folder().ok(),
            secret: home_folder().ok(),
            paired: self.paired == Some(true),
            pairing: match self.pairing {
                Some(Pairing::Required) => PairingMode::Required,
                Some(Pairing::Auto) | None => PairingMode::Auto,
            },
            arguments: self.arguments(),
            executor: ExecutorOptions {
                launcher: Some(own_program()),
                sandbox: self.sandbox.unwrap_or_default(),
                network: self.agents_network.clone().unwrap_or_default(),
                ..ExecutorOptions::default()
            },
            ..RelayOptions::default()
        }
    }

    /// Returns the arguments for a relay that is started, as `serve` takes them. The token is left
    /// out, because nobody else may see it; the window mode is left out, because it can be changed
    /// later.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let host = self.host.iter().map(|host| format!("--host={host}"));
        let names = self.allow_host.iter().map(|name| format!("--allow-host={name}"));
        let users = self.allow_user.iter().map(|user| format!("--allow-user={user}"));
        let tab = self.auto_enable.iter().map(|wanted| format!("--auto-enable={wanted}"));
        let focus = self.allow_focus.then(|| "--allow-focus".to_owned());
        let paired = self.paired.iter().map(|wanted| format!("--paired={wanted}"));
        let cookies = self.cookies.iter().map(|cookies| format!("--cookies={cookies}"));
        let devices = self.agents_may.iter().map(|device| format!("--agents-may={device}"));
        let pairing = self.pairing.iter().map(|pairing| format!("--pairing={pairing}"));
        let network = self.agents_network.iter().map(|it| format!("--agents-network={it}"));
        let sandbox = self.sandbox.iter().map(|mode| format!("--sandbox={mode}"));
        host.chain(names)
            .chain(users)
            .chain(tab)
            .chain(focus)
            .chain(paired)
            .chain(cookies)
            .chain(devices)
            .chain(pairing)
            .chain(network)
            .chain(sandbox)
            .collect()
    }
}

/// Returns the program that runs, even if another has been installed in its place.
fn own_program() -> PathBuf {
    match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe().unwrap_or_default(),
    }
}

/// Returns the version of our relay on a port, or an error that names the program that has the port.
async fn running(port: u16) -> anyhow::Result<Version> {
    let _progress = Progress::show("asking who has the port");
    match version_of_ours(&Client::new(Endpoint::local(port), None)).await {
        Ok(running) => Ok(running),
        Err(
            another @ (RelayServerError::AnotherRelay { .. }
            | RelayServerError::Relay(ClientError::Unproven(_))),
        ) => Err(another.into()),
        Err(RelayServerError::Relay(ClientError::TooSlow(_))) => {
            Err(RelayServerError::NoAnswer { port }.into())
        }
        Err(_) => bail!(
            "port {port} is already in use by another program\n\n\
             hint: stop that program, or choose another port with --port"
        ),
    }
}
