//! What both sides know of CDP events.

/// Returns whether the relay forwards an event to no client, so that the extension need not keep it. No
/// client depends on such an event, and it floods.
#[must_use]
pub fn is_dropped(event: &str) -> bool {
    matches!(event, "Network.dataReceived" | "Network.resourceChangedPriority")
}
