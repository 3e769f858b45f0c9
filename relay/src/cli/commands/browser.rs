//! `playwriter browser start`

mod relay_of_browser;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use relay::browser::{self, BrowserOptions};
use relay::log::Logs;
use relay::{bundled, pairing};
use shared_protocol::DEFAULT_PORT;
use tokio::time::timeout;

use relay_of_browser::{Relay, Wanted};

use crate::cli::args::listen::Listen;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, home_folder, interrupted, say};

/// The time that a started browser may take to connect and to put its tab under control.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

const EXAMPLES: &str = "\
Examples:
  playwriter browser start
  playwriter browser start --headless --port 20000 /opt/google/chrome/chrome";

/// Work with a separate browser that has the extension loaded.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Browser {
    Start(Start),
}

/// Start the relay and a browser with the extension, and control its tab.
///
/// The browser has a profile of its own, and in it the extension that this program carries. Both run
/// until Ctrl-C. A relay that runs already is used, and goes on when the browser has ended.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Start {
    /// The browser's program; an installed Chromium, Chrome, Edge or Brave by default
    path: Option<PathBuf>,
    /// Folder of another unpacked extension than the one that this program carries
    #[arg(long, value_name = "DIR")]
    extension: Option<PathBuf>,
    /// Folder for the browser's profile; ~/.playwriter/profile by default
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    /// Run without a window (by default where there is no display)
    #[arg(long)]
    headless: bool,
    /// Port for the relay; 0 takes a free one
    #[arg(long, env = "PLAYWRITER_PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    #[command(flatten)]
    listen: Listen,
}

impl Browser {
    pub(crate) async fn run(self, logs: Option<Logs>) -> anyhow::Result<Outcome> {
        match self {
            Self::Start(start) => start.run(logs).await,
        }
    }
}

impl Start {
    async fn run(self, logs: Option<Logs>) -> anyhow::Result<Outcome> {
        relay::descriptors::raise_limit();
        let options = self.browser_options()?;
        let relay = Relay::start(&self.listen, self.port, logs).await?;
        if self.extension.is_none() {
            let home = home_folder()?;
            // A good key stays as it is: another browser may have the folder loaded.
            if !pairing::is_paired(&home, &options.extension) {
                pairing::pair(&home, &options.extension, relay.port())?;
            }
        }
        let progress = Progress::show("starting the browser");
        let mut browser = browser::Browser::start(&options).await?;
        browser.use_relay_port(relay.port()).await?;
        let Ok(connected) = timeout(CONNECT_TIMEOUT, relay.has(&browser, Wanted::Extension)).await
        else {
            bail!(
                "the extension did not connect to the relay\n\nhint: try again with RUST_LOG=debug"
            );
        };
        connected?;
        let toggled = browser.click_icon().await?;
        let Ok(controlled) = timeout(CONNECT_TIMEOUT, relay.has(&browser, Wanted::Tab)).await
        else {
            let why = toggled["state"]["errorText"].as_str().unwrap_or("it does not say why");
            bail!("the extension did not control its tab: {why}\n\nhint: try again");
        };
        controlled?;
        drop(progress);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, relay.port()));
        let end = interrupted();
        if browser::has_no_sandbox() {
            say("warning: Chromium has no sandbox around pages when root starts it; run this as \
                 another user, or open only pages that you trust");
        }
        say(&format!(
            "relay     http://{address}{already}\n\
             browser   {program}{mode}\n\
             profile   {profile}\n\
             tabs      1 controlled; click the Playwriter icon to add another\n\
             \n\
             drive it from Playwright:\n\
             \n    \
             const browser = await chromium.connectOverCDP('http://{address}{token}')\n    \
             const page = browser.contexts()[0].pages()[0]\n\
             \n\
             press Ctrl-C to end {both}",
            already = if relay.is_own() { "" } else { " (was running already)" },
            both = if relay.is_own() { "both" } else { "the browser; the relay goes on" },
            // The user knows it; the terminal may be seen by others.
            token = if self.listen.token.is_some() { "?token=<your token>" } else { "" },
            program = options.program.display(),
            mode = if options.headless { " (headless)" } else { "" },
            profile = options.profile.display(),
        ));
        tokio::select! {
            () = end => {}
            () = relay.asked_to_stop() => {}
            () = browser.ended() => say("the browser was closed"),
        }
        browser.stop().await;
        relay.close().await;
        Ok(Outcome::Yes)
    }

    fn browser_options(&self) -> anyhow::Result<BrowserOptions> {
        let Some(program) = self.path.clone().or_else(browser::find) else {
            bail!(
                "no Chromium, Chrome, Edge or Brave was found\n\n\
                 hint: install one (Debian: `apt-get install chromium`), or give its path"
            );
        };
        let profile = match &self.profile {
            Some(profile) => profile.clone(),
            None => home_folder()?.join("profile"),
        };
        std::fs::create_dir_all(&profile)
            .with_context(|| format!("cannot create {}", profile.display()))?;
        let extension = match &self.extension {
            Some(folder) => std::path::absolute(folder)?,
            None => {
                // This is not the folder that the user's own browser may have loaded.
                let folder = std::path::absolute(profile.join("playwriter-extension"))?;
                bundled::replace(&folder)?;
                folder
            }
        };
        let has_display =
            ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|d| std::env::var_os(d).is_some());
        let headless = self.headless || (cfg!(target_os = "linux") && !has_display);
        Ok(BrowserOptions {
            program,
            extension,
            extension_id: relay::EXTENSION_ID.to_owned(),
            profile,
            headless,
            arguments: Vec::new(),
            environment: Vec::new(),
        })
    }
}
