//! The secret of this user, from which the keys of extensions and programs and the tokens are derived.
//!
//! It never leaves its folder. Each key has one use: a copy of an extension's folder gives away the
//! key of that folder, and nothing else.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::{hkdf, hmac};
use shared_protocol::pairing::KeyId;

use super::Token;
use crate::system::folders::make_folder;

const FILE: &str = "pairing";

const LENGTH: usize = 32;

/// 32 random bytes. They are never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret([u8; LENGTH]);

/// The reason why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Somebody damaged it, or the disk was full.
    #[error(
        "{} is not a secret of {LENGTH} bytes\n\nhint: remove it, then run `playwriter extension install` for each browser", .0.display()
    )]
    Damaged(PathBuf),
    /// `sudo` with the user's home would leave a secret that locks the user out.
    #[error(
        "{} belongs to another user (uid {owner}), so no secret is kept there\n\nhint: run playwriter as that user, or set HOME to a folder of yours", folder.display()
    )]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// The user who owns the file.
        owner: u32,
    },
    /// The system has no randomness.
    #[error("the system gives no random numbers for a secret: {0}")]
    NoRandomness(String),
    /// The system refused.
    #[error("cannot use the secret in {}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Returns the tokens that a user's relay takes, unless the user chose one: for every access, and
/// for agents alone. The secret that they come from is made if there is none.
///
/// # Errors
///
/// See [`SecretError`].
pub fn tokens_of_user(folder: &Path) -> Result<(Token, Token), SecretError> {
    let secret = Secret::read_or_make(folder)?;
    Ok((secret.cdp_token(), secret.agents_token()))
}

impl Secret {
    /// Reads the secret of a folder, or makes one if there is none.
    pub(crate) fn read_or_make(folder: &Path) -> Result<Self, SecretError> {
        match Self::read(folder)? {
            Some(secret) => Ok(secret),
            None => Self::make(folder),
        }
    }

    /// Makes a secret that is kept nowhere.
    pub(crate) fn of_process() -> Result<Self, SecretError> {
        let mut bytes = [0; LENGTH];
        match getrandom::fill(&mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(error) => Err(SecretError::NoRandomness(error.to_string())),
        }
    }

    /// Reads the secret of a folder, if there is one.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, SecretError> {
        let path = folder.join(FILE);
        match fs::read(&path) {
            Ok(bytes) => match bytes.try_into() {
                Ok(bytes) => Ok(Some(Self(bytes))),
                Err(_) => Err(SecretError::Damaged(path)),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(SecretError::System { path, source }),
        }
    }

    /// Puts another secret in the place of the one that is there. No key or token of the old one is
    /// worth anything afterwards.
    pub(crate) fn replace(folder: &Path) -> Result<Self, SecretError> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(SecretError::System { path, source })
            }
            Ok(()) | Err(_) => Self::make(folder),
        }
    }

    /// The file appears whole or not at all, and the first of two programs wins.
    fn make(folder: &Path) -> Result<Self, SecretError> {
        let path = folder.join(FILE);
        let failed = |source| SecretError::System { path: path.clone(), source };
        make_folder(folder).map_err(failed)?;
        let owner = fs::metadata(folder).map_err(failed)?.uid();
        if owner != rustix::process::geteuid().as_raw() {
            return Err(SecretError::NotOurs { folder: folder.to_owned(), owner });
        }
        let made = Self::of_process()?;
        // Two programs may be at it, and one may have died.
        let suffix =
            getrandom::u64().map_err(|error| SecretError::NoRandomness(error.to_string()))?;
        let unfinished = folder.join(format!("{FILE}.{suffix:016x}"));
        let written =
            write_new(&unfinished, &made.0).and_then(|()| fs::hard_link(&unfinished, &path));
        // Either it has its name now, or nobody needs it.
        drop(fs::remove_file(&unfinished));
        match written {
            Ok(()) => Ok(made),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::read(folder)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The name of a new key: random, and with a mark by which another user's is told from it.
    pub(crate) fn new_key_id(&self) -> io::Result<KeyId> {
        let mut id = [0; 4];
        getrandom::fill(&mut id).map_err(io::Error::other)?;
        Ok(self.marked(id))
    }

    /// Returns `true` if the name of a key comes from this secret. One in four billion foreign names
    /// does, too; such a key opens nothing.
    pub(crate) fn knows(&self, id: KeyId) -> bool {
        let [a, b, c, d, ..] = id.0;
        self.marked([a, b, c, d]) == id
    }

    fn marked(&self, id: [u8; 4]) -> KeyId {
        let mark = self.derive(&[b"playwriter/v1/kid/", &id]);
        let ([a, b, c, d], [e, f, g, h, ..]) = (id, mark);
        KeyId([a, b, c, d, e, f, g, h])
    }

    /// The key of an extension's folder. It opens the extension's socket and nothing else.
    pub(crate) fn extension_key(&self, id: KeyId) -> [u8; LENGTH] {
        self.derive(&[b"playwriter/v1/extension/", &id.0])
    }

    /// The key with which a relay proves itself to programs of this user.
    pub(crate) fn programs_key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.derive(&[b"playwriter/v1/cli"]))
    }

    /// Returns the token that agents show at `/mcp` and `/sessions`.
    pub(crate) fn agents_token(&self) -> Token {
        self.token(b"playwriter/v1/token/agents")
    }

    /// Returns the token that CDP clients show to a relay that runs with `--paired`.
    pub(crate) fn cdp_token(&self) -> Token {
        self.token(b"playwriter/v1/token/cdp")
    }

    fn token(&self, label: &[u8]) -> Token {
        let bytes = self.derive(&[label]);
        Token::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    fn derive(&self, info: &[&[u8]]) -> [u8; LENGTH] {
        let mut key = [0; LENGTH];
        let pseudorandom = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&self.0);
        let expanded = pseudorandom.expand(info, hkdf::HKDF_SHA256);
        // 32 bytes can always be had of SHA-256.
        if expanded.and_then(|material| material.fill(&mut key)).is_err() {
            unreachable!("HKDF-SHA256 gives up to 8160 bytes");
        }
        key
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_made_once_and_only_its_user_can_read_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".playwriter");
        assert!(Secret::read(&folder).unwrap().is_none());
        let made = Secret::read_or_make(&folder).unwrap();
        assert_eq!(Secret::read_or_make(&folder).unwrap(), made);
        assert_eq!(Secret::make(&folder).unwrap(), made, "the first of two programs wins");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(FILE))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing unfinished is left");
        assert_eq!(format!("{made:?}"), "Secret(hidden)");
    }

    #[test]
    fn anything_but_32_bytes_is_no_key() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [&[][..], &[7; 31], &[7; 33]] {
            fs::write(folder.path().join(FILE), bytes).unwrap();
            let refused = Secret::read_or_make(folder.path()).unwrap_err();
            assert!(matches!(refused, SecretError::Damaged(_)), "{refused}");
        }
    }

    #[test]
    fn every_use_has_a_key_of_its_own() {
        let secret = Secret([7; LENGTH]);
        let keys = [
            secret.extension_key(KeyId([0; 8])),
            secret.extension_key(KeyId([1; 8])),
            secret.derive(&[b"playwriter/v1/cli"]),
            secret.derive(&[b"playwriter/v1/token/agents"]),
            secret.derive(&[b"playwriter/v1/token/cdp"]),
            secret.0,
        ];
        let id = secret.new_key_id().unwrap();
        assert!(secret.knows(id) && !Secret([8; LENGTH]).knows(id));
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key));
        }
        assert_ne!(secret.agents_token(), secret.cdp_token());
    }
}
