//! `playwriter pair`

use std::path::Path;

use anyhow::Context;
use relay::pairing::{self, CODE_LASTS, KeyId};

use crate::cli::{Outcome, home_folder, print, say};

const EXAMPLES: &str = "\
Examples:
  playwriter pair
  playwriter pair --list
  playwriter pair --forget ~/playwriter-extension
  playwriter pair --rotate";

/// Pair an extension that has no key in its folder, or end a pairing.
///
/// Without an option, prints a code to paste into the extension. The code works once, for ten minutes.
/// An extension that `extension install` or `browser start` has written is paired already.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Pair {
    /// Print the folders that have a key, and the names of the keys
    #[arg(long, group = "action")]
    list: bool,
    /// Revoke a key, by its name or its folder; its browser is disconnected within seconds
    #[arg(long, group = "action", value_name = "KEY|DIR")]
    forget: Option<String>,
    /// Make a new secret, and new keys for all folders that are known; all other keys, codes and tokens
    /// end
    #[arg(long, group = "action")]
    rotate: bool,
}

impl Pair {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let home = home_folder()?;
        if self.list {
            for folder in pairing::folders(&home) {
                let Some(kid) = pairing::key_of(&folder) else { continue };
                let state = if pairing::is_paired(&home, &folder) { "" } else { " (not valid)" };
                print(&format!("{kid}  {}{state}", folder.display()))?;
            }
        } else if let Some(key) = self.forget {
            let kid = key_named(&key)?;
            pairing::forget(&home, kid)?;
            say(&format!("the key {kid} is not valid any more"));
        } else if self.rotate {
            let folders = pairing::rotate(&home)?;
            say("there is a new secret; tokens and keys of the old one are not valid any more");
            for folder in folders {
                print(&folder.to_string_lossy())?;
            }
            say("these folders have new keys, and their browsers come back by themselves");
        } else {
            let code = pairing::make_code(&home)?;
            print(&code.to_string())?;
            say(&format!(
                "paste it into the extension that is to be paired; it is good once, for {} minutes",
                CODE_LASTS.as_secs() / 60
            ));
        }
        Ok(Outcome::Yes)
    }
}

fn key_named(text: &str) -> anyhow::Result<KeyId> {
    if let Ok(kid) = text.parse() {
        return Ok(kid);
    }
    let folder = std::path::absolute(Path::new(text))?;
    pairing::key_of(&folder).with_context(|| {
        format!(
            "{text} is neither a key nor a folder with one\n\nhint: see `playwriter pair --list`"
        )
    })
}
