//! The boundary around agents' code that the operating system keeps.
//!
//! On Linux, `playwriter worker-exec` stands between the relay's supervising shell and Node.js. It
//! applies Landlock's rules for files and ports and a filter for system calls to itself, tells the
//! relay what was enforced, and becomes Node.js. Each of the two alone has holes: Landlock knows
//! nothing of modes, processes and other protocols, and the filter nothing of paths and ports. On
//! macOS, `sandbox-exec` does the same with a profile.
//!
//! `relay/sandbox/harden.mjs` closes the same and more in JavaScript, where errors can say what to
//! do. Code that gets around it meets this.

#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod landlock;
mod network;
mod paths;
mod report;
#[cfg(target_os = "macos")]
mod seatbelt;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
pub use enter::{EnterError, enter};
pub(crate) use network::Ports;
pub use network::{AgentsNetwork, UnknownNetwork};
pub(crate) use paths::NodeFiles;
pub(crate) use report::Boundary;
#[cfg(target_os = "macos")]
pub(crate) use seatbelt::{is_available, launch};

/// The version of the protocol between relay and launcher. They may be of different versions where a
/// program uses the relay as a library.
pub(crate) const PROTOCOL: u32 = 1;

/// The descriptor on which the launcher reports what it enforced, before Node.js writes its answers
/// there.
pub(crate) const REPORT: u8 = 4;

/// The rule for running code where the system cannot enforce the boundary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Code is run, and `status` and `doctor` say what is missing.
    #[default]
    Auto,
    /// Code is not run.
    Required,
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Required => "required",
        })
    }
}

impl FromStr for SandboxMode {
    type Err = UnknownMode;

    fn from_str(said: &str) -> Result<Self, UnknownMode> {
        match said {
            "auto" => Ok(Self::Auto),
            "required" => Ok(Self::Required),
            _ => Err(UnknownMode(said.to_owned())),
        }
    }
}

/// A word that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not one of auto and required")]
pub struct UnknownMode(String);

/// All that a process may reach, for the launcher.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policy {
    pub(crate) protocol: u32,
    /// Files that may be executed, and read.
    pub(crate) execute: Vec<PathBuf>,
    /// Files and folders that may be read. Those that are missing are left out.
    pub(crate) read: Vec<PathBuf>,
    /// Devices that may be read and written.
    pub(crate) devices: Vec<PathBuf>,
    /// The folder in which files may be made, changed and removed.
    pub(crate) own: Option<PathBuf>,
    /// TCP ports that may be connected to.
    pub(crate) connect: Vec<Ports>,
    /// True if datagrams may be sent.
    pub(crate) datagrams: bool,
    /// The newest version of Landlock to use, in place of an older kernel.
    #[serde(default)]
    pub(crate) newest_landlock: Option<u8>,
}
