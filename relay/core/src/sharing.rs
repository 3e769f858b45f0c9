//! One Chrome session, many client sessions: one file for each thing that they share. Each file has
//! the same anatomy: `x_command` combines a session's request with those of the others, `x_event`
//! follows Chrome's events, `x_refused` restores the earlier value when Chrome refuses the new one,
//! and `release_x` gives up a session's share when it ends. A session's own wants are kept in the
//! session; the state that Chrome was told is in [`target_state::TargetState`].

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
