//! The state that outlives the worker. It is stored in `chrome.storage.session`.

use serde::{Deserialize, Serialize};
use shared_protocol::{AttachedToTarget, Payload, PermissionName, SessionId, TabId, TargetInfo};

use super::{GroupId, WindowId};

/// Everything that the next worker needs. Its field names are the keys in `chrome.storage.session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
pub struct Snapshot<P> {
    /// The number of the last session, so that no session id is used twice.
    pub(crate) last_session: u32,
    /// The attached tabs, in order.
    pub tabs: Vec<StoredTab<P>>,
    /// The tabs that wait for a relay.
    pub(crate) waiting: Vec<TabId>,
    /// The tabs that are to be taken back, or were just being attached.
    pub lost: Vec<TabId>,
    pub(crate) uses: Vec<StoredTabUse>,
    pub(crate) children: Vec<StoredChild<P>>,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) grouped_tabs: Vec<TabId>,
    pub(crate) windows: StoredWindows,
    /// The content settings that are not the user's own.
    pub(crate) permissions: Vec<PermissionName>,
    /// The downloads that the relay knows.
    pub(crate) downloads: Vec<i64>,
    /// The parameters of `Target.setAutoAttach` for every tab.
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
    /// The last known target info. The shell reads it again.
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

/// The part of a tab's use that the next worker needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredTabUse {
    pub(crate) tab_id: TabId,
    pub(crate) client_casts: bool,
    pub(crate) client_focuses: bool,
}

/// The window mode and the separate window.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoredWindows {
    pub(crate) separate_window: bool,
    #[serde(rename = "workerWindowId")]
    pub(crate) separate_window_id: Option<WindowId>,
    pub(crate) owned: Vec<TabId>,
}
