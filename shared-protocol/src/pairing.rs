//! The handshake in which an extension and a relay of the same user prove themselves to each other.
//!
//! Both know a key that never goes over the wire. The extension opens its socket with a [`Knock`],
//! which tells nothing about it. The relay's first frame is a [`RelayProof`]; the extension's first
//! frame is an [`ExtensionProof`] that holds its hello. All later frames are as on any other socket.
//!
//! The signed text is made here, as bytes, so that both sides sign the same. All fields have fixed
//! lengths. The port is the one that each side knows by itself, never one that it was told: a program
//! that passes frames on to a relay at another port has no use of them. A program that had the same
//! port before the relay may still have a socket of the extension's. So the relay says for how long
//! it has listened, and the extension takes no proof on a socket that is older.

mod bytes;
mod code;

use serde::{Deserialize, Serialize};

pub use bytes::{InvalidBytes, Key, KeyId, Nonce, Proof};
pub use code::{InvalidCode, PairingCode};

/// The name of this version of the handshake.
pub const VERSION: &str = "v1";

/// The method of every frame of the handshake.
pub const METHOD: &str = "pairing";

/// The file in an extension's folder that holds its key.
pub const FILE: &str = "pairing.json";

/// The relay's answer to an extension whose key it does not know.
pub const UNKNOWN_KEY: &str = "unknown-key";

/// The longest frame of the handshake, in bytes.
pub const MAX_FRAME: usize = 4096;

const RELAY: &[u8] = b"playwriter pairing v1 relay\0";
const EXTENSION: &[u8] = b"playwriter pairing v1 extension\0";
const CODE_KEY: &[u8] = b"playwriter pairing v1 code key\0";
const CODE_ID: &[u8] = b"playwriter pairing v1 code id\0";

/// The query of the extension's socket, before anything is known of either side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knock {
    /// [`VERSION`]
    pub pairing: String,
    /// The name of the key.
    pub kid: KeyId,
    /// Fresh for this socket.
    pub nonce: Nonce,
}

/// A frame of the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairingFrame<T> {
    /// [`METHOD`]
    pub method: String,
    /// The parameters.
    pub params: T,
}

impl<T> PairingFrame<T> {
    /// A frame that says this.
    #[must_use]
    pub fn new(params: T) -> Self {
        Self { method: METHOD.to_owned(), params }
    }
}

/// The relay's first frame: it knows the key, or says that it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelayProof {
    /// Fresh for this socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
    /// The time for which the relay has listened at its port, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listening: Option<u32>,
    /// The signature over [`signed_by_relay`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// [`UNKNOWN_KEY`]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The extension's first frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtensionProof {
    /// An [`ExtensionHello`](crate::ExtensionHello) as JSON text: it is signed byte for byte.
    pub hello: String,
    /// The signature over [`signed_by_extension`].
    pub proof: Proof,
}

/// The key that a relay gives to an extension that has proven itself by a [`PairingCode`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenKey {
    /// The name of the key.
    pub kid: KeyId,
    /// The key, for this installation only.
    pub key: Key,
}

/// The content of [`FILE`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairingFile {
    /// 1
    pub v: u32,
    /// The name of the key. Without it the user has ended the pairing of this folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<KeyId>,
    /// The key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// The relay's port, unless the user has set another port in the extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// True if the user has ended the pairing: a missing or damaged file never ends one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpaired: bool,
}

impl PairingFile {
    /// The version of the file.
    pub const V: u32 = 1;

    /// A file with a key.
    #[must_use]
    pub fn with_key(kid: KeyId, key: Key, port: u16) -> Self {
        Self { v: Self::V, kid: Some(kid), key: Some(key), port: Some(port), unpaired: false }
    }

    /// A file that ends the pairing.
    #[must_use]
    pub fn unpaired() -> Self {
        Self { v: Self::V, kid: None, key: None, port: None, unpaired: true }
    }

    /// The key and its name, if the file is whole.
    #[must_use]
    pub fn key(&self) -> Option<(KeyId, &Key)> {
        Some((self.kid?, self.key.as_ref()?)).filter(|_| self.v == Self::V && !self.unpaired)
    }
}

/// The body of `GET /extension/hello`. It proves nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelayHello {
    /// [`RELAY_NAME`](crate::http::RELAY_NAME)
    pub name: String,
    /// The handshakes that it knows.
    pub pairing: Vec<String>,
    /// True if the relay takes no other extensions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

impl RelayHello {
    /// Returns `true` if the relay knows this handshake.
    #[must_use]
    pub fn pairs(&self) -> bool {
        self.name == crate::http::RELAY_NAME && self.pairing.iter().any(|known| known == VERSION)
    }
}

/// Returns the text that a relay signs with the key. `port` is the one at which it listens; the
/// extension checks it with the one to which it connected. `listening` is the time in milliseconds
/// for which it has listened.
#[must_use]
pub fn signed_by_relay(
    kid: KeyId,
    first: &Nonce,
    second: &Nonce,
    port: u16,
    listening: u32,
) -> Vec<u8> {
    let (port, listening) = (port.to_be_bytes(), listening.to_be_bytes());
    [RELAY, &kid.0, &first.0, &second.0, &port, &listening].concat()
}

/// Returns the text that an extension signs with the key, once it knows the relay. `hello` is the
/// SHA-256 of the text of its hello.
#[must_use]
pub fn signed_by_extension(
    kid: KeyId,
    first: &Nonce,
    second: &Nonce,
    port: u16,
    hello: &[u8; 32],
) -> Vec<u8> {
    [EXTENSION, &kid.0, &first.0, &second.0, &port.to_be_bytes(), hello].concat()
}

/// Returns the text that is signed with a [`PairingCode`] to get the key for its handshake.
#[must_use]
pub const fn signed_for_code_key() -> &'static [u8] {
    CODE_KEY
}

/// Returns the text that is signed with a [`PairingCode`] to get the name of that key: the first
/// bytes of the signature.
#[must_use]
pub const fn signed_for_code_id() -> &'static [u8] {
    CODE_ID
}
