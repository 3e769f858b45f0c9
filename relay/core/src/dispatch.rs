//! Which method handles a command or an event.

pub(crate) mod browser_commands;
pub(crate) mod client_commands;
pub(crate) mod extension_events;
pub(crate) mod target_commands;
