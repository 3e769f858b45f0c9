//! Limits the descriptors that started programs inherit: they get the ones we give them, and none
//! that our own parent left open for its children.

use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::OnceLock;

use command_fds::{CommandFdExt, FdMapping};
#[cfg(target_os = "linux")]
use rustix::process::{Pid, prlimit};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::process::{Child, Command};

/// The flag in `/proc` of a descriptor that no other program inherits.
const CLOSED_ON_EXEC: u32 = 0o2_000_000;

/// The number of files and sockets that a relay may have open, if the system allows it: browsers and
/// clients need some each, and those that a stranger holds must not be missing elsewhere.
const WANTED: u64 = if cfg!(target_os = "macos") { 10_240 } else { 65_536 };

/// The limit that this process was started with, which its children get back.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process have as many files and sockets open as it may, within reason.
pub fn raise_limit() {
    let inherited = getrlimit(Resource::Nofile);
    let Some(current) = inherited.current else { return };
    let wanted = WANTED.min(inherited.maximum.unwrap_or(u64::MAX));
    if wanted <= current {
        return;
    }
    let raised = Rlimit { current: Some(wanted), maximum: inherited.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => drop(INHERITED.set(inherited)),
        Err(error) => tracing::debug!(%error, "the limit of open files stays {current}"),
    }
}

/// Returns the number of files and sockets that this process may have open.
pub(crate) fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Starts a program with these descriptors, and nothing in the place of others that it would inherit.
/// The descriptors are its own then: the end of a pipe that we kept would hide that it has ended.
pub(crate) fn spawn_with(mut command: Command, mut given: Vec<FdMapping>) -> io::Result<Child> {
    for child_fd in inherited() {
        if given.iter().all(|mapping| mapping.child_fd != child_fd) {
            given.push(FdMapping { parent_fd: File::open("/dev/null")?.into(), child_fd });
        }
    }
    let child = command.fd_mappings(given).map_err(io::Error::other)?.spawn()?;
    give_inherited_limit(&child);
    Ok(child)
}

/// Programs that look at each descriptor that they might have, or that keep them in sets of a fixed
/// size, count on the usual limit.
#[cfg(target_os = "linux")]
fn give_inherited_limit(child: &Child) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let (Some(id), Some(inherited)) = (id, INHERITED.get()) else { return };
    // The process has ended already, or has other limits of its own.
    prlimit(Some(id), Resource::Nofile, *inherited).ok();
}

#[cfg(not(target_os = "linux"))]
fn give_inherited_limit(_: &Child) {}

/// Returns the inherited descriptors beyond standard input, output and error. Ours are closed on
/// exec. Only Linux tells.
fn inherited() -> Vec<RawFd> {
    let Ok(open) = fs::read_dir("/proc/self/fdinfo") else { return Vec::new() };
    let is_inherited = |path: &Path| {
        let text = fs::read_to_string(path).ok()?;
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
        Some(u32::from_str_radix(flags.trim(), 8).ok()? & CLOSED_ON_EXEC == 0)
    };
    open.filter_map(Result::ok)
        .filter_map(|entry| Some((entry.path(), entry.file_name().to_str()?.parse().ok()?)))
        .filter(|(path, number)| *number > 2 && is_inherited(path) == Some(true))
        .map(|(_, number)| number)
        .collect()
}
