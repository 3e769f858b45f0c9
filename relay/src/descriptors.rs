//! What the programs that we start find open: what we give them, and nothing that whoever started us
//! left open for its own children.

use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::path::Path;

use command_fds::{CommandFdExt, FdMapping};
use tokio::process::{Child, Command};

/// How `/proc` marks a descriptor that no other program inherits.
const CLOSED_ON_EXEC: u32 = 0o2_000_000;

/// Starts a program with these descriptors, and nothing in the place of others that it would inherit.
/// The descriptors are its own then: the end of a pipe that we kept would hide that it has ended.
pub(crate) fn spawn_with(mut command: Command, mut given: Vec<FdMapping>) -> io::Result<Child> {
    for child_fd in inherited() {
        if given.iter().all(|mapping| mapping.child_fd != child_fd) {
            given.push(FdMapping { parent_fd: File::open("/dev/null")?.into(), child_fd });
        }
    }
    command.fd_mappings(given).map_err(io::Error::other)?.spawn()
}

/// Beyond standard input, output and error. Ours are closed on exec. Only Linux tells.
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
