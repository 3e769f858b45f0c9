//! The trust between the relay, its extensions and programs of its user: the user's secret, the
//! tokens and keys that are derived from it, and the proofs that somebody has one.
//!
//! Everything here computes, or reads and writes small files in the user's folder. Sockets, requests
//! and the decision who gets in are not here: they are in `server/access`.

pub mod pairing;
pub(crate) mod proof;
pub(crate) mod secret;
pub(crate) mod token;

pub use token::Token;
