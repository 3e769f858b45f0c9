//! `playwriter browser start`

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use relay::browser::{self, BrowserOptions};
use relay::log::Logs;
use tokio::time::timeout;

use super::{Listen, interrupted, say};

/// How long a started browser may take to connect and to put its tab under control.
const CONNECT: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Browser {
    /// Start the relay and a browser with the extension, and control its tab
    Start(Start),
}

/// Start the relay and a browser with the extension, and control its tab.
///
/// The browser has a profile of its own. Both run until Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Start {
    /// The browser's program; an installed Chromium or Chrome by default
    path: Option<PathBuf>,
    /// Folder of the unpacked extension
    #[arg(long, default_value = "extension-shell/dist")]
    extension: PathBuf,
    /// Folder for the browser's profile; ~/.playwriter/profile by default
    #[arg(long)]
    profile: Option<PathBuf>,
    /// Do without a window; so by default where there is no display
    #[arg(long)]
    headless: bool,
    #[command(flatten)]
    listen: Listen,
}

impl Browser {
    pub(crate) async fn run(self, logs: Option<Logs>) -> anyhow::Result<()> {
        match self {
            Self::Start(start) => start.run(logs).await,
        }
    }
}

impl Start {
    async fn run(self, logs: Option<Logs>) -> anyhow::Result<()> {
        let options = self.browser_options()?;
        let server = self.listen.start(logs).await?;
        let mut browser = browser::Browser::start(&options).await?;
        browser.use_relay_port(server.address().port()).await?;
        let connected = server.status_when(|status| status.connected);
        if timeout(CONNECT, connected).await.is_err() {
            bail!(
                "the extension did not connect to the relay\n\nhint: try again with RUST_LOG=debug"
            );
        }
        let toggled = browser.click_icon().await?;
        let controlled = server.status_when(|status| status.page_count > 0);
        if timeout(CONNECT, controlled).await.is_err() {
            let why = toggled["state"]["errorText"].as_str().unwrap_or("it does not say why");
            bail!("the extension did not control its tab: {why}\n\nhint: try again");
        }

        let address = server.address();
        say(&format!(
            "relay     http://{address}\n\
             browser   {program}{mode}\n\
             profile   {profile}\n\
             tabs      1 controlled; click the Playwriter icon to add another\n\
             \n\
             drive it from Playwright:\n\
             \n    \
             const browser = await chromium.connectOverCDP('http://{address}{token}')\n    \
             const page = browser.contexts()[0].pages()[0]\n\
             \n\
             press Ctrl-C to end both",
            // The user knows it; the terminal may be seen by others.
            token = if self.listen.token.is_some() { "?token=<your token>" } else { "" },
            program = options.program.display(),
            mode = if options.headless { " (headless)" } else { "" },
            profile = options.profile.display(),
        ));
        tokio::select! {
            () = interrupted() => {}
            () = browser.ended() => say("the browser was closed"),
        }
        browser.stop().await;
        server.close().await;
        Ok(())
    }

    fn browser_options(&self) -> anyhow::Result<BrowserOptions> {
        let Some(program) = self.path.clone().or_else(browser::find) else {
            bail!(
                "no Chromium or Chrome was found\n\n\
                 hint: install one (Debian: `apt-get install chromium`), or give its path"
            );
        };
        let profile = match &self.profile {
            Some(profile) => profile.clone(),
            None => std::env::home_dir()
                .context("there is no home directory for the browser's profile")?
                .join(".playwriter/profile"),
        };
        std::fs::create_dir_all(&profile)
            .with_context(|| format!("cannot create {}", profile.display()))?;
        let extension = std::path::absolute(&self.extension)?;
        let has_display =
            ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|d| std::env::var_os(d).is_some());
        let headless = self.headless || (cfg!(target_os = "linux") && !has_display);
        Ok(BrowserOptions {
            program,
            extension,
            profile,
            headless,
            arguments: Vec::new(),
            environment: Vec::new(),
        })
    }
}
