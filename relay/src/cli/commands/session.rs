//! `playwriter session …`

use relay::agents::{SessionInfo, SessionName};

use crate::cli::args::address::Address;
use crate::cli::args::listen::SeparateWindow;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, one_line, print, print_json, say};

const NEW: &str = "\
Examples:
  id=$(playwriter session new)
  playwriter -s \"$id\" -e 'await page.title()'
  playwriter session new --browser KEY    for one of several browsers; `playwriter status` shows the keys";

const LIST: &str = "\
Examples:
  playwriter session list
  playwriter session list --json | jq -r '.[].id'";

const RESET: &str = "\
Examples:
  playwriter session reset default    the session of `playwriter -e` without a name";

const DELETE: &str = "\
Examples:
  playwriter session delete \"$id\"

Exit code: 0 when it was ended, 1 when there is none of this name, 2 for anything else.";

/// Work with the sessions in which agents' code runs.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Session {
    /// Make a session and print its id
    #[command(after_help = NEW)]
    New {
        /// Browser that the session uses, by extension id or stable key
        #[arg(long)]
        browser: Option<String>,
        #[command(flatten)]
        window: SeparateWindow,
        #[command(flatten)]
        address: Address,
    },
    /// List the sessions: id, state, browser, folder
    #[command(after_help = LIST)]
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        address: Address,
    },
    /// Empty a session's state and stop what runs in it
    #[command(after_help = RESET)]
    Reset {
        /// The session
        id: SessionName,
        #[command(flatten)]
        address: Address,
    },
    /// End a session
    #[command(after_help = DELETE)]
    Delete {
        /// The session
        id: SessionName,
        #[command(flatten)]
        address: Address,
    },
}

impl Session {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let progress = Progress::show("asking the relay");
        match self {
            Self::New { browser, window, address } => {
                let session = address.sessions_with(window)?.create(browser).await?;
                drop(progress);
                print(session.id.as_str())?;
            }
            Self::List { json, address } => {
                let sessions = address.sessions()?.sessions().await?;
                drop(progress);
                list(json, &sessions)?;
            }
            Self::Reset { id, address } => {
                let outcome = address.sessions()?.reset(&id).await?;
                drop(progress);
                say(&outcome.text);
            }
            Self::Delete { id, address } => {
                let was_there = address.sessions()?.delete(&id).await?;
                drop(progress);
                if !was_there {
                    say(&format!(
                        "there is no session {id}\n\nhint: see `playwriter session list`"
                    ));
                    return Ok(Outcome::No);
                }
                say(&format!("session {id} was ended"));
            }
        }
        Ok(Outcome::Yes)
    }
}

fn list(json: bool, sessions: &[SessionInfo]) -> anyhow::Result<()> {
    if json {
        return print_json(&sessions);
    }
    for session in sessions {
        let browser = one_line(session.browser.as_deref().unwrap_or("any browser"));
        let state = if session.is_running { "running" } else { "not started" };
        print(&format!("{}\t{state}\t{browser}\t{}", session.id, session.folder.display()))?;
    }
    if sessions.is_empty() {
        say("there are no sessions");
    }
    Ok(())
}
