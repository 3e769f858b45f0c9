//! The extension that this program carries.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::trust::pairing::FILE;

/// Paths below the extension's folder, and what is there. Empty in a program that was built before
/// its extension.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/extension_files.rs"));

const MANIFEST: &str = "manifest.json";

/// The reason why the extension is not there.
#[derive(Debug, thiserror::Error)]
pub enum ExtensionError {
    /// The program carries no extension to write.
    #[error(
        "this build of playwriter carries no extension\n\nhint: build it with `make build`, which puts it in, or give the folder of one with --extension"
    )]
    NotCarried,
    /// The folder cannot be written.
    #[error("cannot write the extension to {}", folder.display())]
    Write {
        /// The folder.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Returns `true` if the program carries an extension to install.
#[must_use]
pub fn is_carried() -> bool {
    !FILES.is_empty()
}

/// Returns `true` if a folder holds the extension that this program carries.
#[must_use]
pub fn is_installed(folder: &Path) -> bool {
    is_carried()
        && FILES
            .iter()
            .all(|(name, bytes)| fs::read(folder.join(name)).is_ok_and(|it| it == *bytes))
}

/// Writes the extension into a folder, in the place of the one that is there. What is the same
/// already is left alone. Gives whether anything had to be done.
///
/// # Errors
///
/// See [`ExtensionError`].
pub fn install(folder: &Path) -> Result<bool, ExtensionError> {
    if !is_carried() {
        return Err(ExtensionError::NotCarried);
    }
    if is_installed(folder) {
        return Ok(false);
    }
    let failed = |source| ExtensionError::Write { folder: folder.to_owned(), source };
    // The manifest goes first and comes last: a folder that has one is whole.
    match fs::remove_file(folder.join(MANIFEST)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        Ok(()) | Err(_) => {}
    }
    let (manifest, others): (Vec<_>, Vec<_>) =
        FILES.iter().partition(|(name, _)| *name == MANIFEST);
    for (name, bytes) in others.into_iter().chain(manifest) {
        write(&folder.join(name), bytes).map_err(failed)?;
    }
    Ok(true)
}

/// Works like [`install`], for a folder that is ours alone: removes everything else in it,
/// except for the extension's key.
///
/// # Errors
///
/// See [`ExtensionError`].
pub fn replace(folder: &Path) -> Result<(), ExtensionError> {
    let failed = |source| ExtensionError::Write { folder: folder.to_owned(), source };
    if is_carried() && !(is_installed(folder) && count(folder).is_ok_and(|it| it == FILES.len())) {
        match clear(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
    }
    install(folder).map(drop)
}

/// Counts the files in a folder and its subfolders, without the extension's key.
fn count(folder: &Path) -> io::Result<usize> {
    fs::read_dir(folder)?
        .map(|entry| {
            let path = entry?.path();
            match path.is_dir() {
                true => count(&path),
                false => Ok(usize::from(!is_key(&path))),
            }
        })
        .sum()
}

/// Removes all but the extension's key: other browsers have it loaded, and read it again.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(path)?;
        } else if !is_key(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns `true` for the key's file, also for one that is just being written.
fn is_key(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(FILE))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        // Beside it are the logs, which are nobody else's business.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_extension_is_complete_and_a_damaged_one_is_repaired() {
        let folder = tempfile::tempdir().unwrap();
        if !is_carried() {
            assert!(matches!(install(folder.path()), Err(ExtensionError::NotCarried)));
            return;
        }
        assert!(!is_installed(folder.path()));
        assert!(install(folder.path()).unwrap());
        assert!(is_installed(folder.path()));
        assert!(!install(folder.path()).unwrap());
        fs::write(folder.path().join("background.js"), "broken").unwrap();
        assert!(install(folder.path()).unwrap());
        assert!(is_installed(folder.path()));
        let (whole, stale) = (count(folder.path()).unwrap(), folder.path().join("old/stale.js"));
        write(&stale, b"").unwrap();
        install(folder.path()).unwrap();
        assert!(stale.exists(), "a folder that the user chose may hold more");
        replace(folder.path()).unwrap();
        assert!(!stale.exists() && is_installed(folder.path()));
        assert_eq!(count(folder.path()).unwrap(), whole);
        fs::write(folder.path().join(FILE), "a key").unwrap();
        let manifest = || fs::metadata(folder.path().join(MANIFEST)).unwrap().modified().unwrap();
        let written = manifest();
        replace(folder.path()).unwrap();
        assert_eq!(manifest(), written, "a key is no reason to write anything");
        fs::write(folder.path().join("background.js"), "broken").unwrap();
        replace(folder.path()).unwrap();
        assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), b"a key");
    }
}
