//! `playwriter -e 'code'`

use std::path::{Path, PathBuf};

use anyhow::Context;
use relay::executor::{Execute, Image, SessionName};

use super::address::Address;
use super::listen::SeparateWindow;
use super::mcp::Mcp;
use super::progress::Progress;
use super::{Outcome, print, say};

/// Code that is run without a subcommand.
#[derive(Debug, clap::Args)]
pub(crate) struct Eval {
    /// Run JavaScript with Playwright in a session, and print its value
    #[arg(short = 'e', long = "eval", value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Session in which it runs; it is made if need be
    #[arg(short, long, env = "PLAYWRITER_SESSION")]
    session: Option<SessionName>,
    /// How long it may take, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout: Option<u64>,
    /// Browser for a new session, by extension id or stable key
    #[arg(long)]
    browser: Option<String>,
    #[command(flatten)]
    window: SeparateWindow,
    #[command(flatten)]
    address: Address,
}

impl Eval {
    /// What the same options mean to an agent.
    pub(crate) fn into_mcp(self) -> Mcp {
        let Self { session, browser, window, address, .. } = self;
        Mcp { session, browser, window, address }
    }

    /// Whether the code ended without an error.
    pub(crate) async fn run(self, code: String) -> anyhow::Result<Outcome> {
        let Self { session, timeout, browser, window, address, .. } = self;
        let session = session.unwrap_or_default();
        let is_here = address.remote()?.is_none();
        let execute = Execute { code, timeout, browser, ..Execute::default() };
        let outcome = {
            let _progress = Progress::show("running the code");
            address.sessions_with(window)?.execute(&session, execute).await?
        };
        // The folder of a session elsewhere is elsewhere.
        let folder = outcome.folder.filter(|_| is_here).unwrap_or_default();
        for image in &outcome.images {
            print(&save(&folder, image)?.display().to_string())?;
        }
        if outcome.failed {
            say(&format!("error: {}", outcome.text));
            return Ok(Outcome::No);
        }
        if !outcome.text.is_empty() {
            print(&outcome.text)?;
        }
        Ok(Outcome::Yes)
    }
}

/// Writes an image into the session's folder under a name that is free.
fn save(folder: &Path, image: &Image) -> anyhow::Result<PathBuf> {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(&image.data)?;
    let kind = image.mime_type.rsplit('/').next().unwrap_or("png");
    let mut names = (1_u32..).map(|number| folder.join(format!("image-{number}.{kind}")));
    let path = names.find(|path| !path.exists()).context("there is no free name for an image")?;
    std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
