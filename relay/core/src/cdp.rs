//! The Chrome DevTools Protocol as clients speak it: flat sessions over one socket. Here are its shapes:
//! commands, frames, errors, payloads, the parameters of the `Target` domain, and the tables that
//! classify methods (`method.rs`) and events (`event.rs`). Nothing here knows
//! clients, extensions or the state of the relay.

pub mod payload;
pub mod version;

pub(crate) mod command;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod frame;
pub(crate) mod logged;
pub(crate) mod method;
pub(crate) mod target_domain;
pub(crate) mod target_filter;

pub use command::Command;
pub use error::Error;
pub use frame::Frame;
pub use logged::Logged;
