//! The tabs under control, and the sessions below them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use shared_protocol::{SessionId, TabId, TargetInfo};

use super::Ticket;

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

#[derive(Debug)]
pub(super) struct Tabs<P> {
    /// In the order in which they were taken under control.
    tabs: Vec<(TabId, Tab<P>)>,
    /// Children of every tab, by Chrome's session id.
    children: BTreeMap<SessionId, TabId>,
    /// Where Runtime is on.
    runtime_enabled: BTreeSet<Debuggee>,
    /// Tabs that Chrome is about to open for the relay.
    expected: Vec<Opened>,
    last_session: u32,
}

#[derive(Debug)]
pub(super) struct Tab<P> {
    pub(super) state: TabState<P>,
    /// Who waits for the tab to be attached.
    pub(super) opened: Option<Opened>,
}

#[derive(Debug)]
pub(super) enum TabState<P> {
    /// For a relay to come.
    Waiting,
    Attaching {
        /// The user clicked again meanwhile.
        cancelled: bool,
    },
    Attached {
        session: SessionId,
        info: TargetInfo<P>,
    },
}

/// A tab that the relay asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) ticket: Ticket,
    /// Whether the answer itself is the announcement.
    pub(super) initial: bool,
}

impl<P> Default for Tabs<P> {
    fn default() -> Self {
        Self {
            tabs: Vec::new(),
            children: BTreeMap::new(),
            runtime_enabled: BTreeSet::new(),
            expected: Vec::new(),
            last_session: 0,
        }
    }
}

impl<P> Tabs<P> {
    pub(super) fn ids(&self) -> Vec<TabId> {
        self.tabs.iter().map(|(id, _)| *id).collect()
    }

    pub(super) fn get(&self, id: TabId) -> Option<&Tab<P>> {
        self.tabs.iter().find(|(tab, _)| *tab == id).map(|(_, tab)| tab)
    }

    pub(super) fn get_mut(&mut self, id: TabId) -> Option<&mut Tab<P>> {
        self.tabs.iter_mut().find(|(tab, _)| *tab == id).map(|(_, tab)| tab)
    }

    pub(super) fn waiting(&mut self, id: TabId) {
        self.tabs.push((id, Tab { state: TabState::Waiting, opened: None }));
    }

    pub(super) fn attaching(&mut self, id: TabId, opened: Option<Opened>) {
        self.tabs.push((id, Tab { state: TabState::Attaching { cancelled: false }, opened }));
    }

    /// Gives an attached tab its session.
    pub(super) fn attached(&mut self, id: TabId, info: TargetInfo<P>) -> SessionId {
        self.last_session += 1;
        let session = SessionId::new(format!("pw-tab-{}", self.last_session));
        if let Some(tab) = self.get_mut(id) {
            tab.state = TabState::Attached { session: session.clone(), info };
        }
        session
    }

    /// Forgets a tab and all below it.
    pub(super) fn remove(&mut self, id: TabId) -> Option<Tab<P>> {
        self.children.retain(|_, tab| *tab != id);
        self.runtime_enabled.retain(|debuggee| debuggee.tab_id != id);
        let index = self.tabs.iter().position(|(tab, _)| *tab == id)?;
        Some(self.tabs.remove(index).1)
    }

    pub(super) fn session(&self, id: TabId) -> Option<SessionId> {
        match &self.get(id)?.state {
            TabState::Attached { session, .. } => Some(session.clone()),
            TabState::Waiting | TabState::Attaching { .. } => None,
        }
    }

    pub(super) fn debuggee(&self, session: &SessionId) -> Option<Debuggee> {
        if let Some(tab_id) = self.children.get(session) {
            return Some(Debuggee { tab_id: *tab_id, session_id: Some(session.clone()) });
        }
        self.tabs.iter().find_map(|(tab_id, tab)| match &tab.state {
            TabState::Attached { session: own, .. } if own == session => {
                Some(Debuggee { tab_id: *tab_id, session_id: None })
            }
            TabState::Attached { .. } | TabState::Attaching { .. } | TabState::Waiting => None,
        })
    }

    pub(super) fn add_child(&mut self, tab: TabId, child: SessionId) {
        self.children.insert(child, tab);
    }

    pub(super) fn remove_child(&mut self, tab_id: TabId, child: &SessionId) {
        self.children.remove(child);
        self.runtime_enabled.remove(&Debuggee { tab_id, session_id: Some(child.clone()) });
    }

    /// Notes that Runtime is on; whether it was on before.
    pub(super) fn enable_runtime(&mut self, debuggee: &Debuggee) -> bool {
        !self.runtime_enabled.insert(debuggee.clone())
    }

    pub(super) fn expect(&mut self, opened: Opened) {
        self.expected.push(opened);
    }

    pub(super) fn take_expected(&mut self, ticket: Ticket) -> Option<Opened> {
        let index = self.expected.iter().position(|opened| opened.ticket == ticket)?;
        Some(self.expected.swap_remove(index))
    }
}
