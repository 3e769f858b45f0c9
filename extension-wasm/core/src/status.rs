//! The state of the worker, for people who debug it.

use serde::Serialize;
use shared_protocol::{DEFAULT_PORT, Payload, SessionId, TabId, TargetId};

use crate::interface::WindowId;
use crate::state::TabState;
use crate::worker::Worker;

/// The state of the worker, for people who debug it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    connection_state: &'static str,
    pub(crate) tabs: Vec<TabStatus>,
    error_text: Option<String>,
    separate_window: bool,
    /// The key is the one that people's own code reads.
    #[serde(rename = "workerWindowId")]
    separate_window_id: Option<WindowId>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TabStatus {
    pub(crate) tab_id: TabId,
    pub(crate) state: &'static str,
    session_id: Option<SessionId>,
    target_id: Option<TargetId>,
}

impl<P: Payload> Worker<P> {
    /// Returns the port at which the worker looks for the relay.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.connection.port().unwrap_or(DEFAULT_PORT)
    }

    /// Returns true if this tab will stay in its state until something else happens.
    #[must_use]
    pub fn is_settled(&self, tab: TabId) -> bool {
        let is_settled = match self.tabs.get(tab).map(|tab| &tab.state) {
            None => self.backlog.is_none(),
            Some(TabState::Attaching(attaching)) => {
                attaching.unresponsive.is_some() && !attaching.cancelled
            }
            Some(TabState::Lost { .. }) => false,
            Some(TabState::Restricted) => true,
            Some(TabState::Waiting | TabState::Attached { .. }) => self.connection.is_settled(),
        };
        is_settled && self.toolbar.is_settled(tab) && !self.detaching.contains(tab)
    }

    /// Returns true if the relay has this tab.
    #[must_use]
    pub fn is_connected(&self, tab: TabId) -> bool {
        self.tabs.is_attached(tab) && self.connection.is_open()
    }

    /// Describes the state for people who debug it.
    #[must_use]
    pub fn status(&self) -> Status {
        let tab_status = |id: TabId| {
            let (state, session_id, target_id) = match self.tabs.get(id).map(|tab| &tab.state) {
                Some(TabState::Attached { session, info, .. }) => {
                    let state = if self.is_connected(id) { "connected" } else { "connecting" };
                    (state, Some(session.clone()), Some(info.target_id.clone()))
                }
                Some(TabState::Restricted) => ("restricted", None, None),
                Some(TabState::Attaching(_) | TabState::Waiting | TabState::Lost { .. }) => {
                    ("connecting", None, None)
                }
                None => ("idle", None, None),
            };
            TabStatus { tab_id: id, state, session_id, target_id }
        };
        Status {
            connection_state: self.connection.status_name(),
            tabs: self.tabs.ids().into_iter().map(tab_status).collect(),
            error_text: self.attach_errors.iter().next_back().map(|(_, why)| why.clone()),
            separate_window: self.windows.is_separate(),
            separate_window_id: self.windows.separate_window_id(),
        }
    }
}
