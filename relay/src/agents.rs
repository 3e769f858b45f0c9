//! Agents' code: sessions that run it, each in a sandbox process of its own, against the user's
//! browser.
//!
//! The relay never runs that code itself: whatever it does, an endless loop, an exit, a flood of
//! memory, ends its own sandbox and nothing else. The boundary that the kernel keeps around a sandbox
//! is in `boundary/`, and the HTTP and MCP routes to sessions are in `server/http` and `mcp/`.

mod api;
mod browsers;
mod executor;
mod keys;
mod limits;
mod outcome;
mod sandbox;
mod session;

#[cfg(test)]
use std::path::PathBuf;

pub(crate) use api::{Deleted, Sessions};
pub use api::{Execute, Image, NewSession, Outcome, SessionInfo, SessionName};
pub(crate) use browsers::Browsers;
pub(crate) use executor::Executor;
pub use executor::ExecutorOptions;
pub(crate) use keys::{Entry, Keys, Shown};
pub(crate) use limits::MAX_SOCKETS;
pub use limits::{DEFAULT_TIMEOUT, MAX_CODE, MAX_SESSIONS, MAX_TIMEOUT, longest};
pub(crate) use sandbox::environment::RelayPorts;
pub use sandbox::node::{OLDEST_NODE, RuntimeError, fixed_node};
pub use sandbox::playwright::Playwright;

/// A program that a test runs, written by another process: what this one writes cannot be run while
/// another test, which is just starting a program, has inherited the open file.
#[cfg(test)]
fn fake_program(folder: &std::path::Path, name: &str, text: &str) -> PathBuf {
    let (written, program) = (folder.join(format!("{name}.text")), folder.join(name));
    std::fs::write(&written, text).unwrap();
    let mut install = std::process::Command::new("install");
    let installed = install.args(["-m", "700"]).args([&written, &program]).status().unwrap();
    assert!(installed.success());
    program
}
