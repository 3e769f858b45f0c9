//! The command `playwriter worker-exec`: enters the boundary, reports it, and becomes another
//! program.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::Serialize;

use super::{Boundary, PROTOCOL, Policy, REPORT, landlock};

/// The reason why the program was not started.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// The argument is not from a relay.
    #[error("worker-exec is started by the relay only: {0}")]
    Unreadable(serde_json::Error),
    /// The relay that gave it is of another version.
    #[error(
        "this launcher speaks version {PROTOCOL}, and the relay version {0}\n\nhint: use a `playwriter` of the version of the relay's library as ExecutorOptions::launcher"
    )]
    OtherProtocol(u32),
    /// Privileges cannot be given up.
    #[error("privileges cannot be given up: {0}")]
    Privileges(Errno),
    /// The report of what was enforced cannot be delivered.
    #[error("the report of the boundary cannot be written: {0}")]
    Report(io::Error),
    /// The program cannot be executed.
    #[error("{program} cannot be executed: {error}")]
    Program {
        /// The program.
        program: String,
        /// The cause.
        error: io::Error,
    },
}

/// The first line that a relay reads.
#[derive(Serialize)]
#[serde(tag = "type", rename = "confined")]
struct Confined<'a> {
    boundary: &'a Boundary,
}

/// Enters the boundary and becomes a program. Without one, it is written to `out` what was enforced.
///
/// What the system cannot enforce is reported, and not an error: the relay decides.
///
/// # Errors
///
/// Says why the program was not started.
pub fn enter(
    policy: &str,
    program: &[OsString],
    out: &mut impl Write,
) -> Result<Option<Infallible>, EnterError> {
    let policy: Policy = serde_json::from_str(policy).map_err(EnterError::Unreadable)?;
    if policy.protocol != PROTOCOL {
        return Err(EnterError::OtherProtocol(policy.protocol));
    }
    // No file can be opened later.
    let report = match program {
        [] => None,
        _ => Some(
            File::options()
                .write(true)
                .open(format!("/proc/self/fd/{REPORT}"))
                .map_err(EnterError::Report)?,
        ),
    };
    let boundary = apply(&policy)?;
    let mut line = serde_json::to_string(&Confined { boundary: &boundary })
        .map_err(|error| EnterError::Report(error.into()))?;
    line.push('\n');
    let ([name, arguments @ ..], Some(mut report)) = (program, report) else {
        out.write_all(line.as_bytes()).map_err(EnterError::Report)?;
        return Ok(None);
    };
    report.write_all(line.as_bytes()).map_err(EnterError::Report)?;
    drop(report);
    let error = Command::new(name).args(arguments).exec();
    Err(EnterError::Program { program: name.to_string_lossy().into_owned(), error })
}

/// Applies all that the system has to this thread, which is the only one.
fn apply(policy: &Policy) -> Result<Boundary, EnterError> {
    let mut boundary = Boundary::default();
    let rules = landlock::prepare(policy);
    rustix::thread::set_no_new_privs(true).map_err(EnterError::Privileges)?;
    match rules.and_then(|rules| rules.map(landlock::Rules::apply).transpose()) {
        Ok(version) => boundary.landlock = version.unwrap_or(0),
        Err(error) => boundary.problems.push(error.to_string()),
    }
    drop_capabilities().map_err(EnterError::Privileges)?;
    match filter_calls(policy) {
        Ok(()) => boundary.seccomp = true,
        Err(error) => boundary.problems.push(error),
    }
    Ok(boundary)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn filter_calls(policy: &Policy) -> Result<(), String> {
    crate::boundary::seccomp::apply(policy.datagrams)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn filter_calls(_policy: &Policy) -> Result<(), String> {
    Err(format!("there is no list of system calls for {}", std::env::consts::ARCH))
}

/// Gives up what root has beyond its files. Without new privileges, executing a program does not give
/// it back.
fn drop_capabilities() -> Result<(), Errno> {
    let held = rustix::thread::capabilities(None)?;
    let none = CapabilitySet::empty();
    let nothing = CapabilitySets { effective: none, permitted: none, inheritable: none };
    if held == nothing {
        return Ok(());
    }
    rustix::thread::set_capabilities(None, nothing)
}
