//! A code that the user pastes once into an extension that has no file with a key.

use std::fmt;
use std::str::FromStr;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The number of letters of a code.
const LENGTH: usize = 26;

/// 128 random bits: nobody who sees a proof can try all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PairingCode(pub [u8; 16]);

/// A text that is no pairing code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCode;

impl fmt::Display for InvalidCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a code has {LENGTH} letters, as `playwriter pair` prints them")
    }
}

impl std::error::Error for InvalidCode {}

impl fmt::Display for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        for letter in 0..LENGTH {
            // The last letter has three bits of the code.
            let index = match 123_u32.checked_sub(5 * letter as u32) {
                Some(shift) => bits >> shift,
                None => bits << 2,
            };
            fmt::Write::write_char(f, char::from(ALPHABET[(index & 31) as usize]))?;
        }
        Ok(())
    }
}

impl fmt::Debug for PairingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairingCode(hidden)")
    }
}

impl FromStr for PairingCode {
    type Err = InvalidCode;

    /// Reads small letters, spaces and hyphens, too.
    fn from_str(text: &str) -> Result<Self, InvalidCode> {
        let letters: Vec<u8> = text
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'-')
            .map(|byte| byte.to_ascii_uppercase())
            .collect();
        if letters.len() != LENGTH {
            return Err(InvalidCode);
        }
        let mut bits = 0_u128;
        for (at, letter) in letters.iter().enumerate() {
            let value = ALPHABET.iter().position(|it| it == letter).ok_or(InvalidCode)? as u128;
            if at + 1 < LENGTH {
                bits = bits << 5 | value;
            } else if value & 3 == 0 {
                bits = bits << 3 | value >> 2;
            } else {
                return Err(InvalidCode);
            }
        }
        Ok(Self(bits.to_be_bytes()))
    }
}
