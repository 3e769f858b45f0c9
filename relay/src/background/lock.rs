//! The lock with which one process starts the relay while others wait.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// The system does not tell when a lock is free without holding a thread that cannot be cancelled.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The lock. It is held until it is dropped, or until its process ends, however that ends.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Waits for it.
    pub(crate) async fn take(path: &Path) -> io::Result<Self> {
        // Never removed: a file that another still waits for would be locked by both.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_POLL_INTERVAL).await,
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}
