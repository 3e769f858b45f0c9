//! `playwriter connect`

use std::time::Duration;

use relay::{ConnectOptions, connect_to_playwriter};
use serde_json::json;

use crate::cli::args::address::{Address, duration};
use crate::cli::args::listen::SeparateWindow;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, print, print_json};

const EXAMPLES: &str = "\
Examples:
  const url = execFileSync('playwriter', ['connect']).toString().trim()
  const browser = await chromium.connectOverCDP(url)

  playwriter connect --separate-window --timeout 60
  PLAYWRITER_HOST=https://relay.example PLAYWRITER_TOKEN=... playwriter connect

Exit code: 0 when a client can connect, 1 when the extension did not come, 2 for anything else.";

/// Start the relay, wait for the extension, and print the address for a CDP client.
///
/// Starts the relay in the background if none runs, waits for the extension, and prints one address
/// on standard output. A relay that wants a token has it in the address.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Connect {
    #[command(flatten)]
    address: Address,
    #[command(flatten)]
    window: SeparateWindow,
    /// The wanted browser out of several, by extension id or stable key (`playwriter status` shows
    /// them)
    #[arg(long, value_name = "KEY")]
    browser: Option<String>,
    /// Time to wait for the extension, in seconds or with a unit
    #[arg(long, value_parser = duration, default_value = "30")]
    timeout: Duration,
    /// Print everything that is known, as JSON
    #[arg(long)]
    json: bool,
}

impl Connect {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let options = ConnectOptions {
            port: self.address.port,
            remote: self.address.remote()?,
            token: self.address.token.clone(),
            timeout: self.timeout,
            separate_window: self.window.wanted,
            browser: self.browser.clone(),
            ..ConnectOptions::default()
        };
        let connection = {
            let _progress = Progress::show("waiting for the Playwriter extension");
            connect_to_playwriter(&options).await?
        };
        if self.json {
            print_json(&json!({
                "cdpUrl": connection.cdp_url,
                "started": connection.started,
                "version": connection.version,
                "pageCount": connection.page_count,
            }))?;
        } else {
            print(&connection.cdp_url)?;
        }
        Ok(Outcome::Yes)
    }
}
