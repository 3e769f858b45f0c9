//! `playwriter logfile`

use crate::cli::args::address::only_here;
use crate::cli::follow::Lines;
use crate::cli::{Outcome, home_folder, interrupted, print};

const EXAMPLES: &str = "\
Examples:
  less \"$(playwriter logfile)\"
  playwriter logfile --follow
  jq .message.method \"$(playwriter logfile --cdp)\"";

/// Print where the relay's log is, or what is written there.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Logfile {
    /// The log of the CDP traffic, in place of the one for people
    #[arg(long)]
    cdp: bool,
    /// Print what is in it and what comes, until Ctrl-C
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
