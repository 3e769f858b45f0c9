//! The subcommands, one file for each: its arguments, and its work.
//!
//! Arguments that several of them take are in `args/`. How text, JSON and the exit code come out is in
//! `output`, for all of them alike.

pub(crate) mod browser;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod ensure;
pub(crate) mod execute;
pub(crate) mod extension;
pub(crate) mod logfile;
pub(crate) mod mcp;
pub(crate) mod pair;
pub(crate) mod sandbox_exec;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod wait;
