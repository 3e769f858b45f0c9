//! The proof with which a relay shows programs of its user that it has their secret.
//!
//! The program sends a nonce. The relay signs it together with the address at which the program
//! reached it, and the time for which it has been there. So nobody can pass the question on to a
//! relay elsewhere, nor to one that came after the program had connected. The label keeps the proof
//! apart from those that extensions and relays give each other.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use ring::hmac;

use super::secret::Secret;

const LABEL: &[u8] = b"playwriter pairing v1 cli\0";

const LENGTH: usize = 32;

/// A number that is used once. It is written as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nonce([u8; LENGTH]);

impl Nonce {
    /// Returns one that nobody can foresee.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).ok().map(|()| Self(bytes))
    }

    /// Reads the nonce in a query, if there is one.
    pub(crate) fn in_query(query: &str) -> Option<Self> {
        query.split('&').find_map(|part| part.strip_prefix("nonce=")).and_then(read).map(Self)
    }

    pub(crate) fn as_query(&self) -> String {
        format!("nonce={}", written(&self.0))
    }

    /// Signs it for a program that reached the relay at an address.
    pub(crate) fn prove(&self, secret: &Secret, address: SocketAddr, listening: u32) -> String {
        let proof = hmac::sign(&secret.programs_key(), &self.message(address, listening));
        written(proof.as_ref())
    }

    /// Returns `true` if the proof shows that the program that has listened at an address for so many
    /// milliseconds has the secret.
    pub(crate) fn is_proven(
        &self,
        proof: &str,
        secret: &Secret,
        address: SocketAddr,
        listening: u32,
    ) -> bool {
        read(proof).is_some_and(|proof| {
            let message = self.message(address, listening);
            hmac::verify(&secret.programs_key(), &message, &proof).is_ok()
        })
    }

    fn message(&self, address: SocketAddr, listening: u32) -> Vec<u8> {
        let mapped: Ipv6Addr = match address.ip() {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let (port, listening) = (address.port().to_be_bytes(), listening.to_be_bytes());
        [LABEL, &self.0, &mapped.octets(), &port, &listening].concat()
    }
}

fn written(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(text: &str) -> Option<[u8; LENGTH]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * LENGTH || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; LENGTH];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_one_nonce_one_address_one_time_and_one_secret() {
        let folder = tempfile::tempdir().unwrap();
        let secret = Secret::read_or_make(folder.path()).unwrap();
        let other = Secret::of_process().unwrap();
        let here: SocketAddr = "127.0.0.1:19988".parse().unwrap();
        let nonce = Nonce::random().unwrap();
        assert_eq!(Nonce::in_query(&format!("a=b&{}", nonce.as_query())), Some(nonce));
        let proof = nonce.prove(&secret, here, 7);
        assert!(nonce.is_proven(&proof, &secret, here, 7));
        assert!(nonce.is_proven(&proof, &secret, "[::ffff:127.0.0.1]:19988".parse().unwrap(), 7));
        assert!(!nonce.is_proven(&proof, &secret, "127.0.0.1:19989".parse().unwrap(), 7));
        assert!(!nonce.is_proven(&proof, &secret, "[::1]:19988".parse().unwrap(), 7));
        assert!(!nonce.is_proven(&proof, &other, here, 7));
        assert!(!nonce.is_proven(&proof, &secret, here, 8));
        assert!(!Nonce::random().unwrap().is_proven(&proof, &secret, here, 7));
    }

    #[test]
    fn what_is_no_nonce_is_not_taken_for_one() {
        for query in ["", "nonce=", "nonce=00", &format!("nonce={}", "é".repeat(32)), "once=1"] {
            assert_eq!(Nonce::in_query(query), None, "{query}");
        }
        assert_eq!(read(&"+1".repeat(32)), None);
    }
}
