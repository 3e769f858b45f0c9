//! How much agents' code may take.

use std::time::Duration;

/// How long code may run when the caller does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long code may run at most.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(300);

/// How many sessions may be open at once; each may have a process.
pub const MAX_SESSIONS: usize = 32;

/// How long nobody must have used a session before its sandbox is ended, and it makes room for another.
pub(super) const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// How many calls may wait for their turn in one session.
pub(super) const MAX_WAITING: usize = 16;

/// How long code may be, in bytes.
pub const MAX_CODE: usize = 1024 * 1024;

/// How long an answer of a sandbox may be, in bytes: 8 MiB of images as text, and the text.
pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// What JavaScript objects may take, in MiB.
pub(super) const HEAP_MIB: u64 = 512;

/// What a sandbox may take in all, buffers too, in MiB.
pub(super) const DATA_MIB: u64 = 1024;

/// How long a file may be that a sandbox writes, in MiB.
pub(super) const FILE_MIB: u64 = 1024;

/// How many files and sockets a sandbox may have open.
pub(super) const OPEN_FILES: u64 = 256;

/// How many sockets one sandbox may have open at the relay: twice as many as the CDP connections that
/// it may have, since those that ended may not have closed yet.
pub(crate) const MAX_SOCKETS: usize = 8;

/// How long a sandbox may take to start and to load Playwright.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a sandbox that waits may take to answer at all: what earlier code left behind may block it.
pub(super) const RECEIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often sandboxes that wait are looked at, and how long they may take to answer then. Nobody waits
/// for that, and a machine may be busy.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(10);
pub(super) const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long code may go on after nobody wants its answer any more, and it has been told.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a sandbox may take to connect to the browser.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a sandbox may take to be gone after it was told to.
pub(super) const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long `npm` may take to install Playwright.
pub(super) const INSTALL_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a call may take in all, for whoever waits for it from outside: those before it in its
/// session are not counted.
#[must_use]
pub fn longest(timeout: Duration) -> Duration {
    INSTALL_TIMEOUT + START_TIMEOUT + CONNECT_TIMEOUT + timeout
}
