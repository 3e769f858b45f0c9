//! `playwriter extension …`

use std::path::{Path, PathBuf};

use relay::bundled;

use super::{Outcome, home_folder, print, say};

/// Work with the extension that this program carries.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Extension {
    Path(ExtensionPath),
    Install(Install),
}

const PATH_EXAMPLES: &str = "\
Examples:
  playwriter extension path
  chromium --load-extension=\"$(playwriter extension path)\"

Exit code: 0 when it is there, 1 when it is not.";

const INSTALL_EXAMPLES: &str = "\
Examples:
  playwriter extension install
  playwriter extension install --to /mnt/c/Users/me/playwriter-extension";

/// Print the folder of the installed extension.
#[derive(Debug, clap::Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct ExtensionPath {}

/// Write the extension to a folder, and tell how to load it into Chrome.
///
/// It is the one that this program carries. What is there already is brought up to date; the browser
/// that has it loaded takes that with a click on the round arrow.
#[derive(Debug, clap::Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(crate) struct Install {
    /// Folder to write to; ~/.playwriter/extension by default
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

impl Extension {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        match self {
            Self::Path(ExtensionPath {}) => print_path(),
            Self::Install(install) => install.run(),
        }
    }
}

/// Where the extension is installed by default.
pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    Ok(home_folder()?.join("extension"))
}

fn print_path() -> anyhow::Result<Outcome> {
    let folder = folder()?;
    if !folder.join("manifest.json").is_file() {
        say(&format!(
            "there is no extension in {}\n\nhint: write it with `playwriter extension install`",
            folder.display()
        ));
        return Ok(Outcome::No);
    }
    print(&folder.to_string_lossy())?;
    Ok(Outcome::Yes)
}

impl Install {
    fn run(self) -> anyhow::Result<Outcome> {
        let folder = match self.to {
            Some(folder) => std::path::absolute(folder)?,
            None => folder()?,
        };
        let is_new = bundled::install(&folder)?;
        print(&folder.to_string_lossy())?;
        say(&clicks(&folder, is_new));
        Ok(Outcome::Yes)
    }
}

fn clicks(folder: &Path, is_new: bool) -> String {
    let state = if is_new { "is written" } else { "was there already" };
    format!(
        "the extension {state}; in Chrome, Edge, Brave or Chromium:\n\
         \n  \
         1. open chrome://extensions and turn on \"Developer mode\"\n  \
         2. click \"Load unpacked\" and choose {}\n     \
         (loaded before: click the round arrow on its card)\n  \
         3. click the Playwriter icon on a tab that you want to hand over",
        folder.display()
    )
}
