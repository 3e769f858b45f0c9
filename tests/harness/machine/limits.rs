//! Limits of time.

use std::time::Duration;

/// The limit of everything that takes no time unless it never happens.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The limit of hundreds of megabytes, on a machine that has other things to do.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_secs(600);
