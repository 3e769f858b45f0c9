//! The extension as a pure machine: inputs go in, effects come out. It runs natively in tests.
//!
//! Nothing here calls `chrome.*`, opens a socket or reads a clock. Every asynchronous effect ends
//! in exactly one input, also when it fails.
//!
//! The modules below are in reading order, from the bottom up. Each imports only modules above it
//! in this list, and calls only their methods.

mod interface;
mod methods;
mod state;

mod messages;
mod worker;

mod control;

mod commands;

mod chrome_requests;

mod relay;

mod takeover;

mod handle;
mod status;

pub use control::is_restricted_page;
pub use interface::{
    Attempt, Bounds, Debuggee, Effect, GroupId, HelloAnswer, Icon, Input, PairingFileRead,
    PairingKey, Place, ProofFailure, RequestRef, Settings, Snapshot, StoredKey, StoredTab,
    ToolbarState, Unresponsive, WindowId, WindowRef,
};
pub use status::Status;
pub use worker::Worker;

#[cfg(test)]
mod tests;
