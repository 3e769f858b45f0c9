//! The instant since which the relay has had its port.

use tokio::time::Instant;

/// The moment at which a relay had its port. Connections that are older are not to it, whoever has
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
