//! The tabs under control, their sessions and their children.

use shared_protocol::{AttachedToTarget, SessionId, TabId, TargetId, TargetInfo};

use super::SmallMap;
use crate::interface::{Debuggee, RequestRef, Unresponsive};

#[derive(Debug)]
pub(crate) struct Tabs<P> {
    /// The tabs, in the order in which they were taken under control.
    tabs: Vec<(TabId, Tab<P>)>,
    /// The children of all tabs, in the order in which they came.
    children: Vec<Child<P>>,
    /// The debuggees on which Runtime is enabled.
    runtime_enabled: Vec<Debuggee>,
    last_session: u32,
    /// The number of times that Chrome detached the debugger from a tab since the tab navigated.
    losses: SmallMap<TabId, u32>,
}

#[derive(Debug)]
pub(crate) struct Tab<P> {
    pub(crate) state: TabState<P>,
    /// The request of the relay that waits for this tab.
    pub(crate) requested: Option<RequestedTab>,
    /// The target info with which a popup is announced that closes before it is attached.
    pub(crate) popup: Option<TargetInfo<P>>,
}

#[derive(Debug)]
pub(crate) enum TabState<P> {
    /// The tab waits for a relay.
    Waiting,
    Attaching(Attaching),
    Attached {
        session: SessionId,
        info: TargetInfo<P>,
        /// True if the renderer has died. Nothing answers until the tab is reloaded.
        crashed: bool,
    },
    /// Chrome has detached the debugger, and the tab is to be taken back.
    Lost {
        /// The number of tries so far.
        tries: u32,
    },
    /// The tab shows a page that Chrome protects. It is attached again when it leaves that page.
    Restricted,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Attaching {
    /// True if the user has clicked again since.
    pub(crate) cancelled: bool,
    /// The number of times that the tab was taken back, if it was ours before.
    pub(crate) tries: Option<u32>,
    /// The reason why the tab does not answer.
    pub(crate) unresponsive: Option<Unresponsive>,
}

/// A tab that the relay asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestedTab {
    pub(crate) request: RequestRef,
    /// True if the reply itself announces the tab.
    pub(crate) initial: bool,
}

/// A frame or worker target below a tab.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Child<P> {
    pub(crate) tab: TabId,
    /// The session that announced the child; `None` for the tab's own.
    pub(crate) parent: Option<SessionId>,
    pub(crate) attached: AttachedToTarget<P>,
}

impl<P> Default for Tabs<P> {
    fn default() -> Self {
        Self {
            tabs: Vec::new(),
            children: Vec::new(),
            runtime_enabled: Vec::new(),
            last_session: 0,
            losses: SmallMap::default(),
        }
    }
}

impl<P> Tabs<P> {
    pub(crate) fn ids(&self) -> Vec<TabId> {
        self.tabs.iter().map(|(id, _)| *id).collect()
    }

    pub(crate) fn get(&self, id: TabId) -> Option<&Tab<P>> {
        self.tabs.iter().find(|(tab, _)| *tab == id).map(|(_, tab)| tab)
    }

    pub(crate) fn get_mut(&mut self, id: TabId) -> Option<&mut Tab<P>> {
        self.tabs.iter_mut().find(|(tab, _)| *tab == id).map(|(_, tab)| tab)
    }

    /// Adds a tab, or sets the state of a known one.
    pub(crate) fn set_state(&mut self, id: TabId, state: TabState<P>) {
        match self.get_mut(id) {
            Some(tab) => tab.state = state,
            None => self.tabs.push((id, Tab { state, requested: None, popup: None })),
        }
    }

    /// Marks a tab as attached, and returns its new session.
    pub(crate) fn start_session(&mut self, id: TabId, info: TargetInfo<P>) -> SessionId {
        self.last_session += 1;
        let session = SessionId::new(format!("pw-tab-{}", self.last_session));
        self.set_state(id, TabState::Attached { session: session.clone(), info, crashed: false });
        session
    }

    /// Adds a tab that an earlier worker left attached. Its domains are unknown, so Runtime counts
    /// as enabled.
    pub(crate) fn adopt(
        &mut self,
        id: TabId,
        session: SessionId,
        info: TargetInfo<P>,
        crashed: bool,
    ) {
        self.set_state(id, TabState::Attached { session, info, crashed });
        self.enable_runtime(&Debuggee::tab(id));
    }

    /// Adds a child that an earlier worker left attached, as [`Tabs::adopt`] does with a tab.
    pub(crate) fn adopt_child(&mut self, child: Child<P>) {
        let session_id = Some(child.attached.session_id.clone());
        self.enable_runtime(&Debuggee { tab_id: child.tab, session_id });
        self.add_child(child);
    }

    pub(crate) fn is_crashed(&self, id: TabId) -> bool {
        matches!(self.get(id).map(|tab| &tab.state), Some(TabState::Attached { crashed: true, .. }))
    }

    /// Forgets the children of a tab.
    pub(crate) fn forget_children(&mut self, id: TabId) {
        self.children.retain(|child| child.tab != id);
        self.runtime_enabled.retain(|debuggee| debuggee.tab_id != id);
    }

    /// Removes a tab and its children.
    pub(crate) fn remove(&mut self, id: TabId) -> Option<Tab<P>> {
        self.forget_children(id);
        let index = self.tabs.iter().position(|(tab, _)| *tab == id)?;
        Some(self.tabs.remove(index).1)
    }

    /// Counts a detached debugger. Returns how often that had happened before on the same page.
    pub(crate) fn count_loss(&mut self, id: TabId) -> u32 {
        let losses = self.losses.get_or_default(id);
        *losses += 1;
        *losses - 1
    }

    /// Forgets how often the debugger was detached. Another page may be better.
    pub(crate) fn reset_losses(&mut self, id: TabId) {
        self.losses.remove(id);
    }

    pub(crate) fn session(&self, id: TabId) -> Option<&SessionId> {
        match &self.get(id)?.state {
            TabState::Attached { session, .. } => Some(session),
            TabState::Waiting
            | TabState::Attaching { .. }
            | TabState::Lost { .. }
            | TabState::Restricted => None,
        }
    }

    pub(crate) fn is_attached(&self, id: TabId) -> bool {
        self.session(id).is_some()
    }

    /// Returns the attached tabs, in order.
    pub(crate) fn attached_tabs(
        &self,
    ) -> impl Iterator<Item = (TabId, &SessionId, &TargetInfo<P>)> {
        self.tabs.iter().filter_map(|(id, tab)| match &tab.state {
            TabState::Attached { session, info, .. } => Some((*id, session, info)),
            TabState::Waiting
            | TabState::Attaching { .. }
            | TabState::Lost { .. }
            | TabState::Restricted => None,
        })
    }

    pub(crate) fn find_session(&self, session: &SessionId) -> Option<Debuggee> {
        if let Some(child) = self.children.iter().find(|c| &c.attached.session_id == session) {
            return Some(Debuggee { tab_id: child.tab, session_id: Some(session.clone()) });
        }
        self.attached_tabs().find(|(_, own, _)| *own == session).map(|(tab, ..)| Debuggee::tab(tab))
    }

    pub(crate) fn find_target(&self, target: &TargetId) -> Option<Debuggee> {
        self.attached_tabs()
            .find(|(.., info)| &info.target_id == target)
            .map(|(tab, ..)| Debuggee::tab(tab))
    }

    pub(crate) fn children(&self) -> &[Child<P>] {
        &self.children
    }

    pub(crate) fn add_child(&mut self, child: Child<P>) {
        self.children.retain(|known| known.attached.session_id != child.attached.session_id);
        self.children.push(child);
    }

    pub(crate) fn remove_child(&mut self, session: &SessionId) {
        self.children.retain(|child| &child.attached.session_id != session);
        self.runtime_enabled.retain(|debuggee| debuggee.session_id.as_ref() != Some(session));
    }

    /// Notes that Runtime is enabled. Returns true if it was enabled before.
    pub(crate) fn enable_runtime(&mut self, debuggee: &Debuggee) -> bool {
        let was_enabled = self.runtime_enabled.contains(debuggee);
        if !was_enabled {
            self.runtime_enabled.push(debuggee.clone());
        }
        was_enabled
    }

    pub(crate) fn disable_runtime(&mut self, debuggee: &Debuggee) {
        self.runtime_enabled.retain(|enabled| enabled != debuggee);
    }

    pub(crate) fn last_session(&self) -> u32 {
        self.last_session
    }

    pub(crate) fn continue_sessions_from(&mut self, last_session: u32) {
        self.last_session = last_session;
    }
}
