//! The connected clients and extensions.

pub(crate) mod clients;
pub(crate) mod extensions;
pub(crate) mod features;
pub(crate) mod heartbeat;
pub(crate) mod joining;
pub(crate) mod messages;
pub(crate) mod reconnect;
