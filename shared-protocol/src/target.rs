//! The few CDP shapes that both sides read. Everything else of CDP is only passed on.

use crate::ids::{SessionId, TargetId};

wire_object! {
    /// CDP's `Target.TargetInfo`.
    pub struct TargetInfo {
        /// The main frame's id, for a page.
        required "targetId" target_id: TargetId,
        /// `page`, `iframe`, `worker`, `service_worker`, …
        required "type" kind: String,
        /// Empty until the document has one.
        default "title" title: String,
        /// The address that it shows. Clients break on an empty one, so every announcement has to
        /// fill it in.
        default "url" url: String,
        /// True if a debugger is attached.
        default "attached" attached: bool,
        /// The target that opened this one.
        optional "openerId" opener_id: Option<TargetId>,
        /// True if the page can reach its opener. Some clients drop an announcement that lacks the
        /// field.
        default "canAccessOpener" can_access_opener: bool,
        /// The profile's context; clients ignore pages that have none.
        optional "browserContextId" browser_context_id: Option<String>,
    }
}

wire_object! {
    /// Parameters of `Target.attachedToTarget`.
    pub struct AttachedToTarget {
        /// The new session.
        required "sessionId" session_id: SessionId,
        /// The target to which the session is attached.
        required "targetInfo" target_info: TargetInfo<P>,
        /// True if the target runs nothing until it is told to.
        default "waitingForDebugger" waiting_for_debugger: bool,
    }
}

wire_object! {
    /// Parameters of `Target.detachedFromTarget`.
    pub struct DetachedFromTarget {
        /// The session that ended.
        required "sessionId" session_id: SessionId,
        /// Deprecated in CDP, but Playwright finds its page by it.
        optional "targetId" target_id: Option<TargetId>,
    }
}
