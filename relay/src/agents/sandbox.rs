//! The sandbox: the Node.js process that runs the code of one agent session.
//!
//! Here are how it is started and with what, the pipes by which the relay talks to it, and the files
//! that it needs: Node.js, Playwright and our own scripts. What a session keeps between two calls is
//! in `agents/session.rs`.

pub(super) mod environment;
pub(super) mod launcher;
pub(super) mod node;
pub(super) mod playwright;
pub(super) mod process;

mod command;
mod pipe;
mod protocol;
mod scripts;
