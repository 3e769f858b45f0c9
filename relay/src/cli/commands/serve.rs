//! `playwriter serve`

use anyhow::Context;
use relay::log::Logs;
use shared_protocol::DEFAULT_PORT;

use crate::cli::args::listen::Listen;
use crate::cli::{Outcome, interrupted, say};

const EXAMPLES: &str = "\
Examples:
  playwriter serve
  PLAYWRITER_TOKEN=$(openssl rand -hex 16) playwriter serve --host 0.0.0.0

`playwriter ensure` runs it in the background.";

/// Run the relay that the extension and CDP clients connect to.
///
/// The relay ends with Ctrl-C, or with `playwriter stop`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Port to listen on; 0 takes a free one
    #[arg(long, env = "PLAYWRITER_PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    #[command(flatten)]
    listen: Listen,
    /// Leave the terminal and say nothing
    #[arg(long, hide = true)]
    detached: bool,
}

impl Serve {
    pub(crate) fn is_detached(&self) -> bool {
        self.detached
    }

    pub(crate) async fn run(self, logs: Option<Logs>) -> anyhow::Result<Outcome> {
        if self.detached {
            // A session of its own has no terminal that could hang up.
            rustix::process::setsid().context("cannot leave the terminal")?;
        }
        relay::descriptors::raise_limit();
        let server = self.listen.start(self.port, logs).await?;
        let end = interrupted();
        if !self.detached {
            say(&format!("relay is running at http://{}", server.address()));
        }
        server.run_until(end).await;
        Ok(Outcome::Yes)
    }
}
