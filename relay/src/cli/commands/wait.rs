//! `playwriter wait`

use std::time::Duration;

use relay::{WaitOptions, wait_for_extension};
use serde_json::json;

use crate::cli::args::address::{Address, duration};
use crate::cli::progress::Progress;
use crate::cli::{Outcome, print, print_json};

const EXAMPLES: &str = "\
Examples:
  playwriter ensure && playwriter wait --timeout 2m && node script.mjs

Exit code: 0 when there is a tab to drive, 1 when there is none in time, 2 for anything else.";

/// Wait until the extension is connected and controls a tab.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Wait {
    #[command(flatten)]
    address: Address,
    /// Time to wait, in seconds or with a unit
    #[arg(long, value_parser = duration, default_value = "30")]
    timeout: Duration,
    /// Do not wait for a tab, only for the extension
    #[arg(long)]
    extension_only: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl Wait {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let options = WaitOptions {
            port: self.address.port,
            remote: self.address.remote()?,
            token: self.address.token.clone(),
            timeout: self.timeout,
            needs_tab: !self.extension_only,
            ..WaitOptions::default()
        };
        let extension = {
            let _progress = Progress::show("waiting for the Playwriter extension");
            wait_for_extension(&options).await?
        };
        let (connected, count) = (extension.connected, extension.page_count);
        if self.json {
            print_json(&json!({ "connected": connected, "pageCount": count }))?;
        } else {
            let tabs = if count == 1 { "tab" } else { "tabs" };
            print(&format!("the extension is connected and controls {count} {tabs}"))?;
        }
        Ok(Outcome::Yes)
    }
}
