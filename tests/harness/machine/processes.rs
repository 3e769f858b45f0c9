//! Processes: their end, and the memory that they take.

use std::fs;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::time::Instant;

use super::limits::TIMEOUT;

/// Kills a process.
pub(crate) fn kill(pid: u32) {
    // The process may have ended by itself.
    drop(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status());
}

/// Returns the memory that a process has, in MiB.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nobody has that much memory")]
pub fn resident_memory(process: u32) -> f64 {
    memory(process, "VmRSS:") as f64 / 1024.0
}

/// Returns a figure of the system about a process's memory, in KiB.
pub(crate) fn memory(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("the system tells about processes");
    let told = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes = told.and_then(|told| told.trim().strip_suffix(" kB"));
    kilobytes.and_then(|number| number.parse().ok()).expect("it has memory")
}

/// Waits until all processes have ended that were started with a home, and panics with the command
/// lines of those that stay: whatever started them has left them behind.
pub(crate) async fn until_none_is_left(home: &Path) {
    let home = home.to_owned();
    let waited = tokio::task::spawn_blocking(move || {
        let deadline = Instant::now() + TIMEOUT;
        let processes = processes_of(&home);
        let left = processes.into_iter().filter(|(pid, _)| !ends_before(*pid, deadline));
        left.map(|(_, command)| command).collect::<Vec<_>>()
    });
    let left = waited.await.expect("nothing here panics");
    assert!(left.is_empty(), "the test has left processes behind: {left:#?}");
}

/// Returns the processes that name a folder in their environment or command line, with the latter.
fn processes_of(home: &Path) -> Vec<(Pid, String)> {
    let processes = fs::read_dir("/proc").expect("the system tells about processes");
    let own = std::process::id().to_string();
    let names = processes.filter_map(|process| process.ok()?.file_name().into_string().ok());
    names
        .filter(|name| *name != own)
        .filter_map(|name| {
            let pid = Pid::from_raw(name.parse().ok()?)?;
            let read = |what| fs::read(format!("/proc/{name}/{what}")).unwrap_or_default();
            let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            let home = home.to_string_lossy();
            let is_of_home = command.contains(&*home)
                || String::from_utf8_lossy(&read("environ")).contains(&*home);
            is_of_home.then_some((pid, command))
        })
        .collect()
}

fn ends_before(pid: Pid, deadline: Instant) -> bool {
    // A process that cannot be opened has ended already.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let left = deadline.saturating_duration_since(Instant::now());
    let left = rustix::event::Timespec::try_from(left).expect("no test waits for so long");
    let mut ended = [PollFd::new(&process, PollFlags::IN)];
    matches!(poll(&mut ended, Some(&left)), Ok(1))
}
