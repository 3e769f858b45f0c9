//! One Chrome session for many client sessions.

pub(crate) mod breakpoints;
pub(crate) mod dialogs;
pub(crate) mod dom_breakpoints;
pub(crate) mod domains;
pub(crate) mod interception;
pub(crate) mod overrides;
pub(crate) mod screencast;
pub(crate) mod scripts;
pub(crate) mod target_state;
pub(crate) mod tracing;
