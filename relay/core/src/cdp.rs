//! The Chrome DevTools Protocol as clients speak it: flat sessions over one socket. This folder has
//! its types: commands, frames, errors, payloads and the parameters of the `Target` domain. Nothing
//! here knows clients, extensions or the state of the relay.

pub mod payload;
pub mod version;

pub(crate) mod command;
pub(crate) mod error;
pub(crate) mod frame;
pub(crate) mod target_domain;
pub(crate) mod target_filter;

pub use command::Command;
pub use error::Error;
pub use frame::Frame;
