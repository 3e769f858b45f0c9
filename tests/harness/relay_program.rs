//! The relay as a program of its own, without a browser.
//!
//! Commands of `playwriter`, and relays that run them, are here. A relay beside a browser is in `stage`.

mod command;
mod flood;
mod program;
mod two_networks;

pub use command::program;
pub(crate) use command::{command, path};
pub use flood::{Flood, flood_beside_a_stalled_client};
pub use program::RelayProgram;
pub use two_networks::{may_make_networks, on_two_machines};
