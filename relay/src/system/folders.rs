//! The folder in which this user's relays keep their files.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Only the owner reads the folder: it holds secrets and logs.
const FOLDER_MODE: u32 = 0o700;

/// Makes the folder if there is none, for its owner only.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    // An existing folder may have other rights.
    fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))
}

/// Returns `.playwriter` in a home folder, by default in this user's.
pub(crate) fn folder_in(home: Option<&Path>) -> Option<PathBuf> {
    let home = home.map(Path::to_owned).or_else(std::env::home_dir);
    home.map(|home| home.join(".playwriter"))
}

/// Returns `.playwriter` in this user's home folder, if there is one.
pub(crate) fn own_folder() -> Option<PathBuf> {
    folder_in(None)
}
