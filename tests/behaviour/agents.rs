//! Agents: code that official MCP clients and the command line run in agent sessions.
//!
//! Tests here call tools and look at their answers. Code that attacks its surroundings is in
//! [`super::intruders`].

pub(super) mod answers;
mod calls;
pub(super) mod confinement;
mod interruptions;
mod official_clients;
mod relay_access;
mod sessions;
mod values;
