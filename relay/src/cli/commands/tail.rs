//! `playwriter tail`

mod traffic;

use clap::ValueEnum;

use crate::cli::args::address::only_here;
use crate::cli::follow::Lines;
use crate::cli::{Outcome, home_folder, interrupted, print, say};
use traffic::{Filter, Traffic};

const EXAMPLES: &str = "\
Examples:
  playwriter tail                                    everything that clients send and get
  playwriter tail --method 'Page.*' --method Runtime.evaluate
  playwriter tail --session pw-tab-1 --side extension
  playwriter tail --summary                          how often each message came so far

At Ctrl-C, a summary follows on standard error.";

/// Show the messages between clients and tabs, live.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Tail {
    /// Show only these methods and their answers; `*` stands for anything
    #[arg(long, value_name = "PATTERN")]
    method: Vec<String>,
    /// Show only these sessions
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Show only these clients
    #[arg(long, value_name = "ID")]
    client: Vec<String>,
    /// Side of the relay whose messages are shown
    #[arg(long, value_enum, default_value_t = Side::Client)]
    side: Side,
    /// Begin with the messages that are in the log already
    #[arg(long)]
    from_start: bool,
    /// Count the messages in the log, print the numbers and end
    #[arg(long)]
    summary: bool,
}

/// The two sides of the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    /// Messages between clients and the relay
    Client,
    /// Messages between the relay and extensions
    Extension,
    /// Both
    Both,
}

impl Tail {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        only_here("tail")?;
        let path = home_folder()?.join("cdp.jsonl");
        let mut lines = Lines::of(&path, self.from_start || self.summary);
        let filter = Filter {
            methods: self.method,
            sessions: self.session,
            clients: self.client,
            side: self.side,
        };
        let mut traffic = Traffic::new(filter);
        if self.summary {
            while let Some(line) = lines.next_now().await? {
                traffic.read(&line);
            }
            print(&traffic.summary())?;
            return Ok(Outcome::Yes);
        }
        let mut end = std::pin::pin!(interrupted());
        loop {
            tokio::select! {
                line = lines.next() => {
                    if let Some(text) = traffic.read(&line?) {
                        print(&text)?;
                    }
                }
                () = &mut end => {
                    say(&format!("\n{}", traffic.summary()));
                    return Ok(Outcome::Yes);
                }
            }
        }
    }
}
