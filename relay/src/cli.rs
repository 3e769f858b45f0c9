//! The command line: what can be typed, and what it does.

mod browser;
mod serve;

use std::io::Write;

use clap::{Parser, Subcommand};
use relay::log::Logs;
use relay::server::{RelayOptions, RelayServer, StartError, Token};
use shared_protocol::DEFAULT_PORT;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// How much the log for people tells: all that this program and its extensions say.
const TOLD_IN_FULL: &str = "info,relay=debug,playwriter=debug";

/// Drive the Chrome you already have open from Playwright, scripts and agents.
#[derive(Debug, Parser)]
#[command(name = "playwriter", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the relay that the extension and CDP clients connect to
    Serve(serve::Serve),
    /// Work with a browser of its own that has the extension loaded
    #[command(subcommand)]
    Browser(browser::Browser),
}

/// Where the relay listens.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Listen {
    /// Port to listen on
    #[arg(long, env = "PLAYWRITER_PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Address to listen on beside 127.0.0.1; one that others can reach needs a token
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Secret that programs must show; better in the environment, where others cannot see it
    #[arg(long, env = "PLAYWRITER_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// Open the tabs that clients ask for in a window of their own
    #[arg(long, env = "PLAYWRITER_SEPARATE_WINDOW", value_parser = clap::builder::FalseyValueParser::new())]
    separate_window: bool,
}

pub(crate) async fn run(cli: Cli) -> anyhow::Result<()> {
    let logs = std::env::home_dir().map(|home| Logs::in_folder(home.join(".playwriter")));
    start_tracing(logs.as_ref());
    match cli.command {
        Command::Serve(serve) => serve.run(logs).await,
        Command::Browser(browser) => browser.run(logs).await,
    }
}

/// Standard error tells what the user asked for, the log for people everything.
fn start_tracing(logs: Option<&Logs>) {
    let stderr = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        // Nobody may be listening, which is no reason to die.
        .log_internal_errors(false)
        .with_target(false)
        .with_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()));
    let file = logs.map(|logs| {
        tracing_subscriber::fmt::layer()
            .with_writer(logs.text())
            .with_ansi(false)
            .with_target(false)
            .with_filter(EnvFilter::new(TOLD_IN_FULL))
    });
    tracing_subscriber::registry().with(stderr).with(file).init();
}

impl Listen {
    /// Starts the relay, or says who is in the way.
    async fn start(&self, logs: Option<Logs>) -> anyhow::Result<RelayServer> {
        let options = RelayOptions {
            host: self.host.clone(),
            port: self.port,
            token: self.token.clone(),
            separate_window: self.separate_window,
            logs,
        };
        match RelayServer::start(&options).await {
            Ok(server) => Ok(server),
            Err(StartError::PortTaken(port)) => Err(self.port_taken(port).await),
            Err(error) => Err(error.into()),
        }
    }

    async fn port_taken(&self, port: u16) -> anyhow::Error {
        let address = ([127, 0, 0, 1], port).into();
        match relay::client::version(address).await {
            Some(version) => anyhow::anyhow!(
                "a playwriter relay {version} is already running on port {port}\n\n\
                 hint: use it as it is, or stop it first"
            ),
            None => anyhow::anyhow!(
                "port {port} is already in use by another program\n\n\
                 hint: stop that program, or choose another port with --port"
            ),
        }
    }
}

/// Talks to the person at the terminal; standard output is for data.
pub(crate) fn say(text: &str) {
    // Nobody may be listening, which is no reason to fail.
    drop(writeln!(std::io::stderr(), "{text}"));
}

/// Completes when the user or the system asks the program to end.
pub(crate) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        return drop(tokio::signal::ctrl_c().await);
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
