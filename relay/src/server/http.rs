//! Serves HTTP, path by path, and the sockets that begin as an HTTP request.
//! `routes` puts all paths together; each other file has the paths of one kind of caller. Every route
//! names the [`Access`](super::access) that it needs, and nothing here decides who gets in.

pub(crate) mod agent_sessions;
pub(crate) mod clients;
pub(crate) mod control;
pub(crate) mod devtools;
pub(crate) mod discovery;
pub(crate) mod extension;
pub(crate) mod handshake;
pub(crate) mod mcp;
pub(crate) mod protocol;
pub(crate) mod reply;
pub(crate) mod routes;
pub(crate) mod sandbox_port;
