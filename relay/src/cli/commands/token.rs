//! `playwriter token` and `playwriter mcp-url`

use anyhow::Context;
use relay::client::Endpoint;
use relay::server::Token;

use crate::cli::args::address::Address;
use crate::cli::{Outcome, home_folder, print, say};

const TOKEN: &str = "\
Examples:
  chromium.connectOverCDP('http://127.0.0.1:19988/?token=' + token)
  PLAYWRITER_TOKEN=$(ssh desk playwriter token) PLAYWRITER_HOST=http://127.0.0.1:20000 playwriter -e '...'

It is derived from a secret that only you can read, and stays the same until you make a new one with
`playwriter pair --rotate`. With PLAYWRITER_TOKEN set, it is that one.";

const MCP_URL: &str = "\
Examples:
  playwriter mcp-url
  claude mcp add --transport http playwriter \"$(playwriter mcp-url)\"

An agent that can start programs needs none of this: `playwriter mcp` serves it over standard input
and output.";

/// Print the token that programs show to the relay of this machine.
///
/// Agents over HTTP, and commands with PLAYWRITER_HOST that run code, always need it; CDP clients where
/// the relay runs with --paired.
#[derive(Debug, clap::Args)]
#[command(after_help = TOKEN)]
pub(crate) struct PrintToken {
    /// Print the token that opens /mcp and /sessions only
    #[arg(long)]
    agents: bool,
    #[command(flatten)]
    address: Address,
}

/// Print the address at which an agent reaches the relay over HTTP, with its token.
#[derive(Debug, clap::Args)]
#[command(after_help = MCP_URL)]
pub(crate) struct McpUrl {
    #[command(flatten)]
    address: Address,
}

impl PrintToken {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let tokens = tokens(self.address.token)?;
        print(if self.agents { tokens.agents.secret() } else { tokens.all.secret() })?;
        Ok(Outcome::Yes)
    }
}

impl McpUrl {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let relay = self.address.remote()?.unwrap_or_else(|| Endpoint::local(self.address.port));
        let token = tokens(self.address.token)?.agents;
        say(&format!(
            "better, where the agent can send a header: {relay}/mcp with\n  Authorization: {}\n",
            token.as_header()
        ));
        print(&format!("{relay}/mcp?{}", token.as_query()))?;
        Ok(Outcome::Yes)
    }
}

struct Tokens {
    all: Token,
    agents: Token,
}

/// Returns the token that the user chose, or those of this user's secret.
fn tokens(chosen: Option<Token>) -> anyhow::Result<Tokens> {
    match chosen {
        Some(token) => Ok(Tokens { all: token.clone(), agents: token }),
        None => {
            let (all, agents) = relay::tokens_of_user(&home_folder()?)
                .context("there is no token without a secret")?;
            Ok(Tokens { all, agents })
        }
    }
}
