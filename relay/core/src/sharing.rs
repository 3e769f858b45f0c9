//! One Chrome session, many client sessions: one file for each thing that they share. Each file has
//! the same anatomy: `x_command` combines what a session asks for with what the others want, `x_event`
//! follows what Chrome tells, `x_refused` restores the earlier value when Chrome refuses the new one, and
//! `release_x` gives up what a session wanted when it ends. What a session wants is kept in the session
//! itself; what Chrome has been told is in [`target_state::TargetState`].

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
