//! `playwriter extension …`

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use relay::{bundled, pairing};
use shared_protocol::DEFAULT_PORT;

use crate::cli::{Outcome, home_folder, print, say};

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
  playwriter extension install --to /mnt/c/Users/me/playwriter-extension
  playwriter extension install --to /opt/playwriter-extension --for chrome";

/// Print the folder of the installed extension.
#[derive(Debug, clap::Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct ExtensionPath {}

/// Write the extension to a folder, and print how to load it into Chrome.
///
/// This program carries the extension. An extension that is in the folder already is updated; its
/// browser loads the update after a click on the round arrow. The folder gets a key, with which the
/// extension and your relay prove themselves to each other.
#[derive(Debug, clap::Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(crate) struct Install {
    /// Folder to write to; ~/.playwriter/extension by default
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Give the folder to another user, whose browser is to load it
    #[arg(long = "for", value_name = "USER", requires = "to")]
    user: Option<String>,
    /// End the pairing of the folder: its extension talks to any relay again, also to older ones
    #[arg(long, conflicts_with = "user")]
    unpaired: bool,
    /// Port where the extension finds the relay
    #[arg(long, env = "PLAYWRITER_PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
}

impl Extension {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        match self {
            Self::Path(ExtensionPath {}) => print_path(),
            Self::Install(install) => install.run(),
        }
    }
}

/// Returns the folder in which the extension is installed by default.
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
        make_ours(&folder)?;
        let is_new = bundled::install(&folder)?;
        let home = home_folder()?;
        if self.unpaired {
            pairing::unpair(&home, &folder)?;
        } else {
            pairing::pair(&home, &folder, self.port)?;
        }
        if let Some(user) = &self.user {
            give_to(&folder, user)?;
        }
        print(&folder.to_string_lossy())?;
        say(&clicks(&folder, is_new));
        if let Some(words) = who_can_read(&folder, &home).filter(|_| !self.unpaired) {
            say(&words);
        }
        Ok(Outcome::Yes)
    }
}

/// Gives the folder and all in it to a user.
fn give_to(folder: &Path, user: &str) -> anyhow::Result<()> {
    let number = |option: &str| -> anyhow::Result<u32> {
        let told = Command::new("id").args([option, "--", user]).output();
        let told = told.context("cannot run `id` to find the user")?;
        let number = String::from_utf8_lossy(&told.stdout).trim().parse();
        match number {
            Ok(number) if told.status.success() => Ok(number),
            _ => bail!("there is no user {user}\n\nhint: give a name that `id` knows"),
        }
    };
    let (uid, gid) = (number("-u")?, number("-g")?);
    give_all_to(folder, uid, gid)
}

/// Gives a folder away after what is in it: the new owner could put something else there.
fn give_all_to(path: &Path, uid: u32, gid: u32) -> anyhow::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give_all_to(&entry?.path(), uid, gid)?;
        }
    }
    pairing::give_to(path, uid, gid).context("hint: only root can give files to another user")?;
    Ok(())
}

/// Sees to it that nobody else owns a folder that is to be written: links in it would lead what is
/// written elsewhere. Root takes such a folder away, so that it is made anew.
fn make_ours(folder: &Path) -> anyhow::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(folder) else { return Ok(()) };
    // A link is of the one who made it, and may be the user's own.
    let own = rustix::process::geteuid().as_raw();
    if [own, 0].contains(&found.uid()) {
        return Ok(());
    }
    let owner = found.uid();
    let is_safe = own == 0 && folder.ancestors().skip(1).all(is_roots_alone);
    if !is_safe {
        bail!(
            "{} is the folder of user {owner}, who could have what is written there go elsewhere\n\n\
             hint: choose a folder that is yours; root may give one to a user with --for, if all \
             folders above it are root's",
            folder.display()
        );
    }
    let mut away = folder.as_os_str().to_owned();
    away.push(format!(".old-{}", std::process::id()));
    std::fs::rename(folder, &away)?;
    match found.is_dir() {
        true => std::fs::remove_dir_all(&away)?,
        false => std::fs::remove_file(&away)?,
    }
    Ok(())
}

/// Returns whether nobody but root can rename or replace what is root's in a folder.
fn is_roots_alone(folder: &Path) -> bool {
    const WRITABLE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    std::fs::symlink_metadata(folder).is_ok_and(|found| {
        found.is_dir()
            && found.uid() == 0
            && (found.mode() & WRITABLE == 0 || found.mode() & STICKY != 0)
    })
}

/// What the user is to know about a key that is not among their own files.
fn who_can_read(folder: &Path, home: &Path) -> Option<String> {
    let is_at_home = home.parent().is_some_and(|home| folder.starts_with(home));
    if pairing::others_can_read(folder) {
        return Some(format!(
            "\nwarning: other users can read {}, and with it connect to your relay as your browser",
            folder.join(pairing::FILE).display()
        ));
    }
    let owner = std::fs::metadata(folder.join(pairing::FILE)).ok()?.uid();
    (!is_at_home).then(|| {
        format!(
            "\nnote: {} is outside of your home; every user who can read it (user {owner}, root, backups, \
             and on drives of Windows whom Windows lets) can connect to your relay as your browser",
            folder.join(pairing::FILE).display()
        )
    })
}

fn clicks(folder: &Path, is_new: bool) -> String {
    let state = if is_new { "is written" } else { "was there already" };
    format!(
        "the extension {state}; in Chrome, Edge, Brave or Chromium:\n\
         \n  \
         1. open chrome://extensions and turn on \"Developer mode\"\n  \
         2. click \"Load unpacked\" and choose {}\n     \
         (loaded before: click the round arrow on its card)\n  \
         3. click the Playwriter icon on a tab that you want to hand over\n\
         \n\
         Chrome lets an extension that is loaded like this read the files that its tabs show. If your \
         programs need none, switch \"Allow access to file URLs\" off on its card.",
        folder.display()
    )
}
