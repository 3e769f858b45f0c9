//! `playwriter logfile`

use crate::cli::args::address::only_here;
use crate::cli::follow::Lines;
use crate::cli::{Outcome, home_folder, interrupted, print};

const EXAMPLES: &str = "\
Examples:
  less \"$(playwriter logfile)\"
  playwriter logfile --follow
  jq .message.method \"$(playwriter logfile --cdp)\"";

/// Print the path of the relay's log, or its lines.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Logfile {
    /// Use the log of the CDP traffic, not the one for people
    #[arg(long)]
    cdp: bool,
    /// Print the lines of the log and every new one, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
}

impl Logfile {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        only_here("logfile")?;
        let name = if self.cdp { "cdp.jsonl" } else { "relay-server.log" };
        let path = home_folder()?.join(name);
        if !self.follow {
            print(&path.to_string_lossy())?;
            return Ok(Outcome::Yes);
        }
        let mut lines = Lines::of(&path, true);
        let mut end = std::pin::pin!(interrupted());
        loop {
            tokio::select! {
                line = lines.next() => print(&line?)?,
                () = &mut end => return Ok(Outcome::Yes),
            }
        }
    }
}
