//! `playwriter mcp`

use relay::agents::SessionName;
use relay::mcp::serve_stdio;

use crate::cli::args::address::Address;
use crate::cli::args::listen::SeparateWindow;
use crate::cli::{Outcome, interrupted};

const EXAMPLES: &str = "\
Examples, as an agent's settings have them:
  { \"mcpServers\": { \"playwriter\": { \"command\": \"playwriter\", \"args\": [\"mcp\"] } } }
  playwriter mcp --session shop --browser KEY

Agents that speak MCP over HTTP connect to the address that `playwriter mcp-url` prints.";

/// Serve an agent over standard input and output.
///
/// The tool `execute` runs JavaScript with Playwright against your browser, and `reset` empties its
/// session. The relay is started if it does not run.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mcp {
    /// Session for calls that name none; a new one by default
    #[arg(long, env = "PLAYWRITER_SESSION")]
    pub(crate) session: Option<SessionName>,
    /// Browser for that session, by extension id or stable key
    #[arg(long)]
    pub(crate) browser: Option<String>,
    #[command(flatten)]
    pub(crate) window: SeparateWindow,
    #[command(flatten)]
    pub(crate) address: Address,
}

impl Mcp {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let sessions = self.address.sessions_with(self.window)?;
        serve_stdio(sessions, self.session, self.browser, interrupted()).await?;
        Ok(Outcome::Yes)
    }
}
