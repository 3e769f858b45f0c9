//! The instant since which the relay has had its port.

use tokio::time::Instant;

/// The instant at which a relay had its port. Older connections are not to this relay, whoever has
/// them now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since(Instant);

impl Since {
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    /// Returns how long ago that was.
    pub(crate) fn milliseconds(self) -> u32 {
        u32::try_from(self.0.elapsed().as_millis()).unwrap_or(u32::MAX)
    }
}
