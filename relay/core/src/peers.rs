//! The connected clients and extensions: who may connect, which extension serves a client, what an
//! extension understands, and what happens while an extension is away. CDP commands and events pass
//! through to `dispatch`.

pub mod choice;

pub(crate) mod clients;
pub(crate) mod extensions;
pub(crate) mod features;
pub(crate) mod heartbeat;
pub(crate) mod joining;
pub(crate) mod messages;
pub(crate) mod reconnect;
