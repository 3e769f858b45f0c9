//! `playwriter ensure`

use std::time::Duration;

use relay::client::{Client, Endpoint};
use relay::{
    PersistentRelay, PersistentRelayOptions, choose_window_mode, ensure_persistent_relay,
    version_of_ours,
};
use serde_json::json;
use shared_protocol::DEFAULT_PORT;

use crate::cli::args::address;
use crate::cli::args::address::duration;
use crate::cli::args::listen::Listen;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, print, print_json, say};

const EXAMPLES: &str = "\
Examples:
  playwriter ensure                    start the relay, unless it runs
  playwriter ensure --separate-window  and change its window mode, if need be

A relay that runs keeps its other settings; which of them differ from those given here is said.";

/// Start the relay in the background, if none runs.
///
/// A relay that runs is used. An older relay of this project is stopped and replaced. The new relay has
/// the settings of the replaced one, or of a relay that was killed, except for those that are given
/// here. With PLAYWRITER_HOST, the relay at that address is checked, and none is started.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ensure {
    /// Port to listen on
    #[arg(
        long,
        env = "PLAYWRITER_PORT",
        default_value_t = DEFAULT_PORT,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    port: u16,
    #[command(flatten)]
    listen: Listen,
    /// Time in which the relay must answer, in seconds or with a unit
    #[arg(long, value_parser = duration, default_value = "10")]
    timeout: Duration,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Ensure {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let port = self.port;
        let host = std::env::var(address::HOST).ok();
        let remote = address::remote(host.as_deref(), port)?;
        let place = remote.as_ref().map_or_else(|| format!("port {port}"), ToString::to_string);
        let is_here = remote.is_none();
        let endpoint = remote.unwrap_or_else(|| Endpoint::local(port));
        let client = Client::new(endpoint, self.listen.token.clone());
        let relay = match is_here {
            false => {
                let _progress = Progress::show("asking the relay");
                let version = version_of_ours(&client).await?.version;
                if let Some(wanted) = self.listen.window.wanted {
                    choose_window_mode(&client, wanted).await?;
                }
                PersistentRelay { started: false, version, port: client.endpoint().port() }
            }
            true => {
                let _progress = Progress::show("starting the relay");
                ensure_persistent_relay(&self.options()).await?
            }
        };
        let PersistentRelay { started, version, port } = relay;
        if !started && let Some(objection) = self.listen.objection(&client, is_here).await {
            say(&objection);
        }
        if self.json {
            print_json(&json!({ "started": started, "version": version, "port": port }))?;
        } else {
            let state = if started { "started" } else { "running already" };
            print(&format!("relay {version} on {place}: {state}"))?;
        }
        Ok(Outcome::Yes)
    }

    fn options(&self) -> PersistentRelayOptions {
        PersistentRelayOptions {
            port: self.port,
            timeout: self.timeout,
            separate_window: self.listen.window.wanted,
            token: self.listen.token.clone(),
            arguments: self.listen.arguments().into_iter().map(Into::into).collect(),
            ..PersistentRelayOptions::default()
        }
    }
}
