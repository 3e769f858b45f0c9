//! The files by which a relay and the extensions of its user know each other.
//!
//! All of them but `pairing.json` are in the folder with the user's secret, which only that user can
//! read. They are read when they are needed, so that no relay has to be started again after a change.

mod codes;
mod folders;
mod keys;
mod lists;
mod proven;

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub use shared_protocol::pairing::{FILE, KeyId, PairingCode};
use shared_protocol::pairing::{Key, PairingFile};

use super::secret::{Secret, SecretError};
pub use codes::{CODE_LASTS, make_code};
pub use folders::folders;
pub use keys::forget;
pub(crate) use keys::{Known, give_key, is_still_known, look_up};
pub(crate) use proven::{is_proven, remember_proven};

/// The reason why a folder was not paired.
#[derive(Debug, thiserror::Error)]
pub enum PairingError {
    /// The key cannot be derived.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A file cannot be used.
    #[error("cannot use {}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl PairingError {
    fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::System { path, source }
    }
}

/// A folder whose extension has a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedFolder {
    /// The name of its key.
    pub kid: KeyId,
    /// True if the file had to be written.
    pub is_new: bool,
}

/// Gives the extension in a folder a key, with which it proves itself to the relays of this user, and
/// the port where it finds its relay. A good key is kept.
///
/// # Errors
///
/// Says why there is no key, or why the file cannot be written.
pub fn pair(home: &Path, folder: &Path, port: u16) -> Result<PairedFolder, PairingError> {
    let secret = Secret::read_or_make(home)?;
    let file = folder.join(FILE);
    let found = good_key(home, &secret, folder);
    folders::remember(home, folder)?;
    if let Some((kid, known_port)) = found
        && known_port == Some(port)
    {
        return Ok(PairedFolder { kid, is_new: false });
    }
    let kid = match found {
        Some((kid, _)) => kid,
        None => secret.new_key_id().map_err(PairingError::at(&file))?,
    };
    let paired = PairingFile::with_key(kid, Key(secret.extension_key(kid)), port);
    write(&file, &paired)?;
    Ok(PairedFolder { kid, is_new: true })
}

/// Returns `true` if the extension in a folder has a key that the relays of this user know.
#[must_use]
pub fn is_paired(home: &Path, folder: &Path) -> bool {
    let secret = Secret::read(home).ok().flatten();
    secret.is_some_and(|secret| good_key(home, &secret, folder).is_some())
}

/// Ends the pairing of a folder: its extension talks to any relay again, and relays take it without a
/// proof.
///
/// # Errors
///
/// Says why the file cannot be written.
pub fn unpair(home: &Path, folder: &Path) -> Result<(), PairingError> {
    let file = folder.join(FILE);
    if let Some(kid) = read(folder).and_then(|file| file.kid) {
        proven::forget(home, kid).map_err(PairingError::at(home))?;
        keys::forget(home, kid)?;
    }
    folders::forget(home, folder)?;
    write(&file, &PairingFile::unpaired())
}

/// Replaces the secret of this user, and writes new keys into the folders that are known. Gives those
/// folders. Tokens that come from the secret are new as well.
///
/// # Errors
///
/// Says why there is no new secret, or which folder has no new key.
pub fn rotate(home: &Path) -> Result<Vec<PathBuf>, PairingError> {
    Secret::replace(home)?;
    keys::forget_revoked(home).map_err(PairingError::at(home))?;
    let (mut renewed, mut failed) = (Vec::new(), None);
    for folder in folders(home) {
        // The user may have removed it, or ended its pairing.
        let Some(port) = read(&folder).filter(|file| !file.unpaired).and_then(|file| file.port)
        else {
            continue;
        };
        match pair(home, &folder, port) {
            Ok(_) => renewed.push(folder),
            // The others get theirs: their old ones are good no more.
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    failed.map_or(Ok(renewed), Err)
}

/// Gives a file or folder to a user.
///
/// # Errors
///
/// Says why the system refuses.
pub fn give_to(path: &Path, uid: u32, gid: u32) -> Result<(), PairingError> {
    let has = fs::symlink_metadata(path).map_err(PairingError::at(path))?;
    if (has.uid(), has.gid()) == (uid, gid) {
        return Ok(());
    }
    std::os::unix::fs::lchown(path, Some(uid), Some(gid)).map_err(PairingError::at(path))
}

/// The name of the key in a folder.
#[must_use]
pub fn key_of(folder: &Path) -> Option<KeyId> {
    read(folder)?.kid
}

/// Returns `true` if others than its owner can read the key in a folder, as the file system tells it.
#[must_use]
pub fn others_can_read(folder: &Path) -> bool {
    let mode = fs::metadata(folder.join(FILE)).map(|it| it.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o077 != 0)
}

/// The name of the key in a folder, if it comes from the secret and was not revoked, and the port.
fn good_key(home: &Path, secret: &Secret, folder: &Path) -> Option<(KeyId, Option<u16>)> {
    let file = read(folder)?;
    let (kid, key) = file.key()?;
    let is_good = secret.knows(kid)
        && key.0 == secret.extension_key(kid)
        && !keys::is_revoked(home, kid).unwrap_or(true);
    is_good.then_some((kid, file.port))
}

fn read(folder: &Path) -> Option<PairingFile> {
    serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
}

fn write(path: &Path, file: &PairingFile) -> Result<(), PairingError> {
    let text = serde_json::to_vec(file).map_err(io::Error::other);
    text.and_then(|text| lists::write_for_owner(path, &text)).map_err(PairingError::at(path))
}

#[cfg(test)]
mod tests;
