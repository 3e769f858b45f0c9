//! The folders that were given a key, so that each gets its new one when the secret changes.

use std::path::{Path, PathBuf};

use super::{PairingError, lists};

const FILE: &str = "paired-folders";

/// The number of folders that are kept; those that were paired last stay.
const MAX_FOLDERS: usize = 64;

/// The folders that were given a key, the last one last.
#[must_use]
pub fn folders(home: &Path) -> Vec<PathBuf> {
    let lines = lists::read_lines(&home.join(FILE)).unwrap_or_default();
    lines.into_iter().map(PathBuf::from).collect()
}

pub(crate) fn remember(home: &Path, folder: &Path) -> Result<(), PairingError> {
    change(home, folder, true)
}

pub(crate) fn forget(home: &Path, folder: &Path) -> Result<(), PairingError> {
    change(home, folder, false)
}

fn change(home: &Path, folder: &Path, is_wanted: bool) -> Result<(), PairingError> {
    let path = home.join(FILE);
    let changed = lists::read_lines(&path).and_then(|mut lines| {
        // A path that is no line of text is not kept; its extension is paired again by hand.
        let Some(name) = folder.to_str().filter(|name| !name.contains('\n')) else { return Ok(()) };
        if is_wanted == lines.iter().any(|line| line == name) {
            return Ok(());
        }
        lines.retain(|line| line != name);
        if is_wanted {
            lines.push(name.to_owned());
        }
        lists::write_lines(&path, &lines, MAX_FOLDERS)
    });
    changed.map_err(PairingError::at(path))
}
