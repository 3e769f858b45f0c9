//! The relay as a program of its own, without a browser.
//!
//! What runs `playwriter` with one command line is here; what a test does with it beside a browser is
//! in `stage`.

mod command;
mod flood;
mod program;
mod two_networks;

pub use command::program;
pub(crate) use command::{command, path};
pub use flood::{Flood, flood_beside_a_stalled_client};
pub use program::RelayProgram;
pub use two_networks::{may_make_networks, on_two_machines};
