//! The key with which this extension and its relay prove themselves to each other.
//!
//! With a key, nothing is said to a relay that cannot prove itself. A key that was there and cannot be
//! read is never the same as none: otherwise a damaged disk would open the browser to anybody.

use shared_protocol::pairing::{Key, KeyId, PairingFile, RelayHello};

/// A key of this user's, and where the relay is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairingKey {
    /// Its name.
    pub kid: KeyId,
    /// The key.
    pub key: Key,
    /// Where the relay is, if the key came with a port.
    pub port: Option<u16>,
}

/// What reading the extension's own file gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairingFileRead {
    /// It is not there, or the disk refused for a moment: Chrome does not say which.
    Missing,
    /// It is there, and no file of ours.
    Damaged,
    /// It was read.
    Whole(PairingFile),
}

/// What is known of a key at one attempt to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredKey {
    /// There is none and was none, or the user has ended the pairing.
    Unpaired,
    /// There was one, and it cannot be read.
    Unreadable,
    /// There is one.
    Key(PairingKey),
}

impl StoredKey {
    /// Decides by the file, by the key that came of a code, and by whether there ever was one.
    #[must_use]
    pub fn choose(file: &PairingFileRead, given: Option<PairingKey>, was_paired: bool) -> Self {
        match (file, given) {
            (PairingFileRead::Whole(file), _) => match file.key() {
                Some((kid, key)) => Self::Key(PairingKey { kid, key: *key, port: file.port }),
                None if file.unpaired && file.v == PairingFile::V => Self::Unpaired,
                None => Self::Unreadable,
            },
            (PairingFileRead::Damaged, _) => Self::Unreadable,
            (PairingFileRead::Missing, Some(given)) => Self::Key(given),
            (PairingFileRead::Missing, None) if was_paired => Self::Unreadable,
            (PairingFileRead::Missing, None) => Self::Unpaired,
        }
    }
}

/// What answered to the question who listens at the relay's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelloAnswer {
    /// Nobody listens.
    NoAnswer,
    /// Somebody who is no relay that knows pairing: an older one, or another program.
    Other,
    /// Somebody who says to be such a relay. It may not be.
    Relay(RelayHello),
}

/// Why what listens at the relay's port was not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofFailure {
    /// It says that it does not know our key.
    UnknownKey,
    /// It has shown no proof, or a wrong one.
    NoProof,
}
