//! What survives the worker's death, as it lies in `chrome.storage.session`.

use serde::{Deserialize, Serialize};
use shared_protocol::{AttachedToTarget, Payload, PermissionName, SessionId, TabId, TargetInfo};

use super::{GroupId, WindowId};

/// Everything that the next worker has to know, as it lies in `chrome.storage.session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
pub struct Snapshot<P> {
    /// So that no session's name is used twice.
    pub(crate) last_session: u32,
    /// The attached tabs, in order.
    pub tabs: Vec<StoredTab<P>>,
    /// Tabs that wait for a relay.
    pub(crate) waiting: Vec<TabId>,
    /// Tabs that are to be taken back, or were just being taken.
    pub lost: Vec<TabId>,
    pub(crate) uses: Vec<StoredTabUse>,
    pub(crate) children: Vec<StoredChild<P>>,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) grouped_tabs: Vec<TabId>,
    pub(crate) windows: StoredWindows,
    /// Settings that are to be given back.
    pub(crate) permissions: Vec<PermissionName>,
    /// Downloads that the relay was told of.
    pub(crate) downloads: Vec<i64>,
    /// What tabs are to be told about their children from the start.
    pub(crate) auto_attach: Option<P>,
}

/// An attached tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
pub struct StoredTab<P> {
    /// The tab.
    pub tab_id: TabId,
    pub(crate) session_id: SessionId,
    #[serde(default)]
    pub(crate) crashed: bool,
    /// What it showed; better known by asking again.
    pub target_info: TargetInfo<P>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
pub(crate) struct StoredChild<P> {
    pub(crate) tab_id: TabId,
    pub(crate) parent: Option<SessionId>,
    pub(crate) attached: AttachedToTarget<P>,
}

impl<P> Default for Snapshot<P> {
    fn default() -> Self {
        Self {
            last_session: 0,
            tabs: Vec::new(),
            waiting: Vec::new(),
            lost: Vec::new(),
            uses: Vec::new(),
            children: Vec::new(),
            groups: Vec::new(),
            grouped_tabs: Vec::new(),
            windows: StoredWindows::default(),
            permissions: Vec::new(),
            downloads: Vec::new(),
            auto_attach: None,
        }
    }
}

/// What of a use the next worker has to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredTabUse {
    pub(crate) tab_id: TabId,
    pub(crate) client_casts: bool,
    pub(crate) client_focuses: bool,
}

/// The separate window, if that mode is on.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoredWindows {
    pub(crate) separate_window: bool,
    #[serde(rename = "workerWindowId")]
    pub(crate) separate_window_id: Option<WindowId>,
    pub(crate) owned: Vec<TabId>,
}
