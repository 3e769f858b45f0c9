//! The limits of agents' code.

use std::time::Duration;

/// The time for which code may run when the caller does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time for which code may run.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(300);

/// The largest number of sessions that may be open at once; each may have a process.
pub const MAX_SESSIONS: usize = 32;

/// The time for which nobody must have used a session before its sandbox is ended, and the session
/// makes room for another.
pub(super) const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The largest number of calls that may wait for their turn in one session.
pub(super) const MAX_WAITING: usize = 16;

/// The largest size of code, in bytes.
pub const MAX_CODE: usize = 1024 * 1024;

/// The largest size of a sandbox's answer, in bytes: 8 MiB of images as text, and the text.
pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The memory that JavaScript objects may take, in MiB.
pub(super) const HEAP_MIB: u64 = 512;

/// The memory that a sandbox may take in all, buffers too, in MiB.
pub(super) const DATA_MIB: u64 = 1024;

/// The largest size of a file that a sandbox writes, in MiB.
pub(super) const FILE_MIB: u64 = 1024;

/// The largest number of files and sockets that a sandbox may have open.
pub(super) const OPEN_FILES: u64 = 256;

/// The largest number of sockets that one sandbox may have open at the relay: twice as many as its
/// CDP connections, since sockets of connections that ended may not have closed yet.
pub(crate) const MAX_SOCKETS: usize = 8;

/// The time in which a sandbox must start and load Playwright.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The time in which a sandbox that waits must answer at all: earlier code may still block it.
pub(super) const RECEIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The interval at which waiting sandboxes are checked, and the time in which they must answer a
/// check. Nobody waits for that answer, and a machine may be busy.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(10);
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// The time for which code may go on after its answer is not wanted any more and it was told to stop.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// The time in which a sandbox must connect to the browser.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The time in which a sandbox must exit after it was told to.
pub(super) const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The time that `npm` may take to install Playwright.
pub(super) const INSTALL_TIMEOUT: Duration = Duration::from_secs(300);

/// Returns the longest time that a call may take for a caller outside the relay. Earlier calls in the
/// same session are not counted.
#[must_use]
pub fn longest(timeout: Duration) -> Duration {
    INSTALL_TIMEOUT + START_TIMEOUT + CONNECT_TIMEOUT + timeout
}
