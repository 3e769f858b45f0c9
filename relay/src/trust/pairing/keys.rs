//! The keys that a relay knows, and those that it must not take any more.

use std::io;
use std::path::Path;

use shared_protocol::pairing::{GivenKey, Key, KeyId};

use super::{PairingError, codes, lists};
use crate::trust::secret::Secret;

/// Keys that were revoked, a name on each line.
const REVOKED: &str = "revoked";

/// The largest number of revoked keys. A user with more has to make a new secret.
const MAX_REVOKED: usize = 10_000;

/// A key of which a relay was told the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The key of an extension.
    Key(Key),
    /// The key of a code that the user pasted.
    Code(Key),
}

/// Finds the key of this name, if it is one of this user's. What cannot be read is not known.
pub(crate) fn look_up(home: &Path, kid: KeyId) -> Option<Known> {
    if let Some(key) = codes::find(home, kid) {
        return Some(Known::Code(key));
    }
    let secret = Secret::read(home).ok()??;
    let is_known = secret.knows(kid) && !is_revoked(home, kid).unwrap_or(true);
    is_known.then(|| Known::Key(Key(secret.extension_key(kid))))
}

/// Returns `true` if a key that was known still is. A disk that cannot be read for a moment ends no
/// connection.
pub(crate) fn is_still_known(home: &Path, kid: KeyId) -> bool {
    let secret = match Secret::read(home) {
        Ok(Some(secret)) => secret,
        Ok(None) => return false,
        Err(_) => return true,
    };
    secret.knows(kid) && !is_revoked(home, kid).unwrap_or(false)
}

/// A new key for an extension whose user has pasted a code. The code is used up.
pub(crate) fn give_key(home: &Path, code: KeyId) -> Option<GivenKey> {
    if !codes::use_up(home, code) {
        return None;
    }
    let secret = Secret::read_or_make(home).ok()?;
    let kid = secret.new_key_id().ok()?;
    Some(GivenKey { kid, key: Key(secret.extension_key(kid)) })
}

/// Revokes a key: no relay of this user takes it any more, and one that has its extension connected
/// closes that connection within seconds.
///
/// # Errors
///
/// Says why the list cannot be written.
pub fn forget(home: &Path, kid: KeyId) -> Result<(), PairingError> {
    let path = home.join(REVOKED);
    let forgotten = lists::read_lines(&path).and_then(|mut lines| {
        let name = kid.to_string();
        if lines.contains(&name) {
            return Ok(());
        }
        if lines.len() >= MAX_REVOKED {
            // The oldest would be valid again.
            return Err(io::Error::other(
                "it is full: `playwriter pair --rotate` makes a new secret",
            ));
        }
        lines.push(name);
        lists::write_lines(&path, &lines, MAX_REVOKED)
    });
    forgotten.map_err(PairingError::at(path))
}

pub(crate) fn is_revoked(home: &Path, kid: KeyId) -> io::Result<bool> {
    let name = kid.to_string();
    Ok(lists::read_lines(&home.join(REVOKED))?.contains(&name))
}

/// After a new secret, no old key is known anyway.
pub(crate) fn forget_revoked(home: &Path) -> io::Result<()> {
    match std::fs::remove_file(home.join(REVOKED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
