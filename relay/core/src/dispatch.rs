//! Which method handles a command of a client or an event of an extension. These are the only places
//! that look at a CDP method to choose a handler. Nothing is remembered here.

pub(crate) mod browser_commands;
pub(crate) mod client_commands;
pub(crate) mod extension_events;
pub(crate) mod target_commands;
