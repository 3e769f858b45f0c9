//! Peers that say exactly what a test says: clients, extensions and relays without a program behind
//! them.
//!
//! They speak over sockets only. Real programs and browsers are in the rooms above.

mod client;
mod false_relay;
mod key;
mod relay;
mod squatter;
mod tab;

pub use client::RawClient;
pub use false_relay::FalseRelay;
pub use key::RawKey;
pub use relay::RawRelay;
pub use squatter::{HeldSocket, Squat, Squatter};
pub use tab::RawTab;
