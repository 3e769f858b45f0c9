//! Extensions and relays of different ages, each with each: ours, and the releases in
//! `tests/compatibility/released`.
//!
//! Real programs run here. Recordings of what they said are in `transcripts`.

mod extension;
mod pair;
mod relay;
mod released;
mod scene;

pub(crate) use extension::{RELEASED_ID, extension};
pub use pair::{Maker, Pair, SCENARIOS, Trust};
pub use scene::Scene;
