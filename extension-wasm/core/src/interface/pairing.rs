//! The key with which this extension and its relay prove themselves to each other.
//!
//! An extension that has a key sends nothing to a relay that cannot prove itself. A key that cannot
//! be read is not the same as no key: otherwise a damaged disk would open the browser to any
//! program.

use shared_protocol::pairing::{Key, KeyId, PairingFile, RelayHello};

/// A key of this user, and the port of the relay that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairingKey {
    /// The name of the key.
    pub kid: KeyId,
    /// The key itself.
    pub key: Key,
    /// The relay's port, if it is stored with the key.
    pub port: Option<u16>,
}

/// The outcome of reading `pairing.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairingFileRead {
    /// The file does not exist, or could not be read for a moment: Chrome does not say which.
    Missing,
    /// The file exists, but is not one of ours.
    Damaged,
    /// The file was read.
    Whole(PairingFile),
}

/// The key that an attempt to connect uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredKey {
    /// There was never a key, or the user has ended the pairing.
    Unpaired,
    /// There was a key, and it cannot be read.
    Unreadable,
    /// There is a key.
    Key(PairingKey),
}

impl StoredKey {
    /// Chooses by the file, by the key that came from a pairing code, and by whether there ever was
    /// a key.
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

/// The answer to the question who listens at the relay's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelloAnswer {
    /// No program listens.
    NoAnswer,
    /// A program that does not know pairing: an older relay, or something else.
    Other,
    /// A program that says that it is a relay with pairing. It has not proven that.
    Relay(RelayHello),
}

/// The reason why a relay counts as unproven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofFailure {
    /// The relay says that it does not know our key.
    UnknownKey,
    /// The relay has sent no proof, or a wrong one.
    NoProof,
}
