//! `playwriter stop`

use relay::{StopOptions, stop_relay};
use serde_json::json;
use shared_protocol::DEFAULT_PORT;

use crate::cli::args::address::only_here;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, print, print_json};

const EXAMPLES: &str = "\
Examples:
  playwriter stop
  playwriter stop && playwriter ensure --allow-focus    start it with other settings

Exit code: 0 when no relay of yours runs any more, 2 when it cannot be stopped.";

/// Stop the relay that this user runs on this machine.
///
/// The relay is asked to stop, never killed. Clients are told, and controlled tabs wait for the next
/// relay for a few seconds. If no relay runs, the command succeeds, and removes the settings of a
/// killed one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stop {
    /// Port of the relay
    #[arg(
        long,
        env = "PLAYWRITER_PORT",
        default_value_t = DEFAULT_PORT,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    port: u16,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Stop {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        only_here("stop")?;
        let port = self.port;
        let stopped = {
            let _progress = Progress::show("stopping the relay");
            stop_relay(&StopOptions { port, ..StopOptions::default() }).await?
        };
        match stopped {
            _ if self.json => {
                print_json(&json!({ "stopped": stopped.is_some(), "version": stopped }))?;
            }
            Some(version) => print(&format!("relay {version} on port {port}: stopped"))?,
            None => print(&format!("no relay is running on port {port}"))?,
        }
        Ok(Outcome::Yes)
    }
}
