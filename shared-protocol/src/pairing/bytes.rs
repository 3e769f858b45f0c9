//! Bytes of a fixed length, as base64url text on the wire.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A text that is not the base64url form of as many bytes as are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidBytes;

impl fmt::Display for InvalidBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not base64url text of the right length")
    }
}

impl std::error::Error for InvalidBytes {}

macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident, $length:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub [u8; $length]);

        impl FromStr for $name {
            type Err = InvalidBytes;

            fn from_str(text: &str) -> Result<Self, InvalidBytes> {
                let mut bytes = [0; $length];
                decode(text, &mut bytes)?;
                Ok(Self(bytes))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&encode(&self.0))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut bytes = [0; $length];
                deserializer.deserialize_str(IntoBytes(&mut bytes))?;
                Ok(Self(bytes))
            }
        }
    };
}

bytes! {
    /// The name of a key. It is no secret.
    KeyId, 8
}
bytes! {
    /// Random bytes that are used once.
    Nonce, 32
}
bytes! {
    /// A key that both sides know. It is never shown.
    Key, 32
}
bytes! {
    /// An HMAC-SHA256. Compare it with what verifies signatures in constant time, not with `==`.
    Proof, 32
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.0))
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({self})")
    }
}

impl Key {
    /// The text on the wire.
    #[must_use]
    pub fn to_text(&self) -> String {
        encode(&self.0)
    }
}

impl Proof {
    /// The text on the wire.
    #[must_use]
    pub fn to_text(&self) -> String {
        encode(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(hidden)")
    }
}

struct IntoBytes<'a>(&'a mut [u8]);

impl Visitor<'_> for IntoBytes<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes as base64url text", self.0.len())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        decode(text, self.0).map_err(E::custom)
    }
}

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for letter in 0..=chunk.len() {
            let index = bits >> (18 - 6 * letter) & 63;
            text.push(char::from(ALPHABET[index as usize]));
        }
    }
    text
}

/// Reads only the one form that [`encode`] gives.
fn decode(text: &str, bytes: &mut [u8]) -> Result<(), InvalidBytes> {
    if text.len() != (bytes.len() * 8).div_ceil(6) {
        return Err(InvalidBytes);
    }
    let mut letters = text.bytes();
    for chunk in bytes.chunks_mut(3) {
        let mut bits = 0;
        for at in 0..=chunk.len() {
            let letter = letters.next().ok_or(InvalidBytes)?;
            let value = ALPHABET.iter().position(|it| *it == letter).ok_or(InvalidBytes)?;
            bits |= u32::try_from(value).map_err(|_| InvalidBytes)? << (18 - 6 * at);
        }
        let [_, decoded @ ..] = bits.to_be_bytes();
        let length = chunk.len();
        if decoded[length..].iter().any(|rest| *rest != 0) {
            return Err(InvalidBytes);
        }
        chunk.copy_from_slice(&decoded[..length]);
    }
    Ok(())
}
