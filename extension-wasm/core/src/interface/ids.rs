//! The names of things: requests, connections, debuggees, groups and windows.

use serde::{Deserialize, Serialize};
use shared_protocol::{RequestId, SessionId, TabId};

/// Names one try to connect; what happened to an earlier one no longer matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(pub u32);

/// Names a request of the relay, and the connection it came over: ids start anew with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestRef {
    pub(crate) attempt: Attempt,
    pub(crate) id: RequestId,
}

/// A tab, or a child session of one, as `chrome.debugger` names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Debuggee {
    /// The tab.
    pub tab_id: TabId,
    /// Absent for the tab itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

impl Debuggee {
    pub(crate) fn tab(tab_id: TabId) -> Self {
        Self { tab_id, session_id: None }
    }
}

/// A tab group, by `chrome.tabGroups` id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(pub i32);

/// A window, by `chrome.windows` id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WindowId(pub i32);
