//! What survives the worker's death. Chrome ends a worker whenever it likes; the debugger stays
//! attached, and the next worker takes over where this one left.

use serde::{Deserialize, Serialize};
use shared_protocol::{AttachedToTarget, Payload, PermissionName, SessionId, TabId, TargetInfo};

use super::groups::GroupId;
use super::hidden_tabs::StoredTabUse;
use super::tabs::{Child, TabState};
use super::windows::Windows;
use super::{Effect, Input, Worker};

/// Everything that the next worker has to know, as it lies in `chrome.storage.session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
pub struct Snapshot<P> {
    /// So that no session's name is used twice.
    last_session: u32,
    /// The attached tabs, in order.
    pub tabs: Vec<StoredTab<P>>,
    /// Tabs that wait for a relay.
    waiting: Vec<TabId>,
    /// Tabs that are to be taken back, or were just being taken.
    pub lost: Vec<TabId>,
    uses: Vec<StoredTabUse>,
    children: Vec<StoredChild<P>>,
    groups: Vec<GroupId>,
    grouped_tabs: Vec<TabId>,
    windows: Windows,
    /// Settings that are to be given back.
    permissions: Vec<PermissionName>,
    /// Downloads that the relay was told of.
    downloads: Vec<i64>,
    /// What tabs are to be told about their children from the start.
    auto_attach: Option<P>,
}

/// An attached tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
pub struct StoredTab<P> {
    /// The tab.
    pub tab_id: TabId,
    session_id: SessionId,
    #[serde(default)]
    crashed: bool,
    /// What it showed; better known by asking again.
    pub target_info: TargetInfo<P>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Payload"))]
struct StoredChild<P> {
    tab_id: TabId,
    parent: Option<SessionId>,
    attached: AttachedToTarget<P>,
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
            windows: Windows::default(),
            permissions: Vec::new(),
            downloads: Vec::new(),
            auto_attach: None,
        }
    }
}

impl<P: Payload> Worker<P> {
    /// Keeps an input for after the start; gives it back if the worker has started.
    pub(super) fn keep_for_later(&mut self, input: Input<P>) -> Option<Input<P>> {
        match (&mut self.backlog, input) {
            (None, input) | (Some(_), input @ Input::Started { .. }) => Some(input),
            (Some(backlog), input) => {
                backlog.push(input);
                None
            }
        }
    }

    pub(super) fn restore(&mut self, snapshot: Snapshot<P>, effects: &mut Vec<Effect<P>>) {
        self.tabs.continue_sessions_from(snapshot.last_session);
        self.groups.restore(snapshot.groups, snapshot.grouped_tabs);
        self.windows = snapshot.windows;
        self.auto_attach = snapshot.auto_attach;
        self.downloads.restore(snapshot.downloads);
        self.hidden_tabs.restore(snapshot.uses);
        for tab in snapshot.tabs {
            self.tabs.adopt(tab.tab_id, tab.session_id, tab.target_info, tab.crashed);
        }
        for tab in snapshot.waiting {
            self.tabs.set_state(tab, TabState::Waiting);
        }
        for tab in snapshot.lost {
            self.tabs.set_state(tab, TabState::Lost { tries: 0 });
            effects.push(Effect::CheckTab { tab });
        }
        for StoredChild { tab_id: tab, parent, attached } in snapshot.children {
            if self.tabs.is_attached(tab) {
                self.tabs.adopt_child(Child { tab, parent, attached });
            }
        }
        self.permissions.restore(snapshot.permissions, effects);
        if self.tabs.attached_tabs().next().is_some() {
            self.event_buffer.start();
        }
        if !self.permissions.is_empty() || self.tabs.attached_tabs().next().is_some() {
            // The relay may have gone together with the worker.
            self.schedule_relay_given_up(effects);
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot<P> {
        let tab = |(tab_id, session, info): (TabId, &SessionId, &TargetInfo<P>)| StoredTab {
            tab_id,
            session_id: session.clone(),
            crashed: self.tabs.is_crashed(tab_id),
            target_info: info.clone(),
        };
        let (mut waiting, mut lost) = (Vec::new(), Vec::new());
        for id in self.tabs.ids() {
            match self.tabs.get(id).map(|tab| &tab.state) {
                Some(TabState::Waiting) => waiting.push(id),
                Some(TabState::Attaching(_) | TabState::Lost { .. } | TabState::Restricted) => {
                    lost.push(id);
                }
                Some(TabState::Attached { .. }) | None => {}
            }
        }
        let child = |child: &Child<P>| StoredChild {
            tab_id: child.tab,
            parent: child.parent.clone(),
            attached: child.attached.clone(),
        };
        Snapshot {
            last_session: self.tabs.last_session(),
            tabs: self.tabs.attached_tabs().map(tab).collect(),
            waiting,
            lost,
            uses: self.hidden_tabs.stored(),
            children: self.tabs.children().iter().map(child).collect(),
            groups: self.groups.ours(),
            grouped_tabs: self.groups.members(),
            windows: self.windows.clone(),
            permissions: self.permissions.changed(),
            downloads: self.downloads.reported(),
            auto_attach: self.auto_attach.clone(),
        }
    }
}
