//! Identifiers: connection attempts, requests, debuggees, tab groups and windows.

use serde::{Deserialize, Serialize};
use shared_protocol::{RequestId, SessionId, TabId};

/// One attempt to connect. Events of an earlier attempt are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(pub u32);

/// A request of the relay. Request ids start anew with each connection, so the attempt is part of
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestRef {
    pub(crate) attempt: Attempt,
    pub(crate) id: RequestId,
}

/// A tab or a child session of a tab, as `chrome.debugger` names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Debuggee {
    /// The tab.
    pub tab_id: TabId,
    /// The child's session; absent for the tab itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

impl Debuggee {
    pub(crate) fn tab(tab_id: TabId) -> Self {
        Self { tab_id, session_id: None }
    }
}

/// The id of a tab group in `chrome.tabGroups`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(pub i32);

/// The id of a window in `chrome.windows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WindowId(pub i32);
