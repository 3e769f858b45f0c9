//! Codes that the user pastes into an extension that has no file with a key.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ring::hmac;
use shared_protocol::pairing::{Key, KeyId, PairingCode, signed_for_code_id, signed_for_code_key};

use super::{PairingError, lists};
use crate::system::folders::make_folder;

/// The time for which a code can be used.
pub const CODE_LASTS: Duration = Duration::from_secs(600);

/// The number of codes that can wait for their use; the oldest ones go.
const MAX_CODES: usize = 16;

/// A file for each code, by the name of its key. Who removes it has used the code.
const FOLDER: &str = "codes";

/// Makes a code that is good once, for [`CODE_LASTS`].
///
/// # Errors
///
/// Says why it cannot be kept.
pub fn make_code(home: &Path) -> Result<PairingCode, PairingError> {
    let folder = home.join(FOLDER);
    let make = || {
        make_folder(home)?;
        make_folder(&folder)?;
        make_room(&folder)?;
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let code = PairingCode(bytes);
        let (kid, key) = key_of(&code);
        let text = serde_json::to_vec(&key).map_err(io::Error::other)?;
        lists::write_whole(&folder.join(kid.to_string()), &text)?;
        Ok(code)
    };
    make().map_err(PairingError::at(&folder))
}

/// The key of a code that can still be used, by its name.
pub(crate) fn find(home: &Path, kid: KeyId) -> Option<Key> {
    let path = path(home, kid);
    if !is_young(&path) {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Uses a code up; `false` if somebody else has.
pub(crate) fn use_up(home: &Path, kid: KeyId) -> bool {
    let path = path(home, kid);
    is_young(&path) && fs::remove_file(path).is_ok()
}

/// The key for the handshake, and its name. Nobody who sees the name learns anything of the code.
fn key_of(code: &PairingCode) -> (KeyId, Key) {
    let code = hmac::Key::new(hmac::HMAC_SHA256, &code.0);
    let signed = |what: &[u8]| {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hmac::sign(&code, what).as_ref());
        bytes
    };
    let mut kid = [0; 8];
    kid.copy_from_slice(&signed(signed_for_code_id())[..8]);
    (KeyId(kid), Key(signed(signed_for_code_key())))
}

fn path(home: &Path, kid: KeyId) -> PathBuf {
    home.join(FOLDER).join(kid.to_string())
}

/// A clock that was put back makes no code last longer.
#[expect(clippy::disallowed_methods, reason = "files have the time of the clock")]
fn is_young(path: &Path) -> bool {
    let made = fs::metadata(path).and_then(|it| it.modified());
    let age = made.ok().and_then(|made| SystemTime::now().duration_since(made).ok());
    age.is_some_and(|age| age < CODE_LASTS)
}

fn make_room(folder: &Path) -> io::Result<()> {
    let mut codes = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_young(&path) {
            codes.push((fs::metadata(&path)?.modified()?, path));
        } else {
            fs::remove_file(path)?;
        }
    }
    codes.sort();
    for (_, path) in codes.iter().take((codes.len() + 1).saturating_sub(MAX_CODES)) {
        fs::remove_file(path)?;
    }
    Ok(())
}
