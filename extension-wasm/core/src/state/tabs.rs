//! The tabs under control, and the sessions below them.

use shared_protocol::{AttachedToTarget, SessionId, TabId, TargetId, TargetInfo};

use super::SmallMap;
use crate::interface::{Debuggee, RequestRef, Unresponsive};

#[derive(Debug)]
pub(crate) struct Tabs<P> {
    /// In the order in which they were taken under control.
    tabs: Vec<(TabId, Tab<P>)>,
    /// Children of every tab, in the order in which they came.
    children: Vec<Child<P>>,
    /// Where Runtime is on.
    runtime_enabled: Vec<Debuggee>,
    last_session: u32,
    /// How often a tab was taken away since it last navigated.
    losses: SmallMap<TabId, u32>,
}

#[derive(Debug)]
pub(crate) struct Tab<P> {
    pub(crate) state: TabState<P>,
    /// Who waits for the tab to be attached.
    pub(crate) requested: Option<RequestedTab>,
    /// How to announce a popup that closes before it is attached.
    pub(crate) popup: Option<TargetInfo<P>>,
}

#[derive(Debug)]
pub(crate) enum TabState<P> {
    /// For a relay to come.
    Waiting,
    Attaching(Attaching),
    Attached {
        session: SessionId,
        info: TargetInfo<P>,
        /// Its renderer died; nothing will answer until the tab is reloaded.
        crashed: bool,
    },
    /// The debugger was taken away, and we try to get it back.
    Lost {
        /// How often we tried.
        tries: u32,
    },
    /// The tab shows a page that Chrome keeps to itself, and is ours again when it leaves it.
    Restricted,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Attaching {
    /// The user clicked again meanwhile.
    pub(crate) cancelled: bool,
    /// For a tab that was ours before: how often we tried to get it back.
    pub(crate) tries: Option<u32>,
    /// Why it takes so long.
    pub(crate) unresponsive: Option<Unresponsive>,
}

/// A tab that the relay asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestedTab {
    pub(crate) request: RequestRef,
    /// Whether the answer itself is the announcement.
    pub(crate) initial: bool,
}

/// A frame or worker below a tab.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Child<P> {
    pub(crate) tab: TabId,
    /// The session that it was announced on; `None` is the tab's own.
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

    /// Takes a tab in, or moves one that is known into another state.
    pub(crate) fn set_state(&mut self, id: TabId, state: TabState<P>) {
        match self.get_mut(id) {
            Some(tab) => tab.state = state,
            None => self.tabs.push((id, Tab { state, requested: None, popup: None })),
        }
    }

    /// Gives an attached tab a session of its own.
    pub(crate) fn start_session(&mut self, id: TabId, info: TargetInfo<P>) -> SessionId {
        self.last_session += 1;
        let session = SessionId::new(format!("pw-tab-{}", self.last_session));
        self.set_state(id, TabState::Attached { session: session.clone(), info, crashed: false });
        session
    }

    /// Takes in a tab that an earlier worker left attached. What that one enabled is unknown, so
    /// all of it may be.
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

    /// As [`Tabs::adopt`], for a child.
    pub(crate) fn adopt_child(&mut self, child: Child<P>) {
        let session_id = Some(child.attached.session_id.clone());
        self.enable_runtime(&Debuggee { tab_id: child.tab, session_id });
        self.add_child(child);
    }

    pub(crate) fn is_crashed(&self, id: TabId) -> bool {
        matches!(self.get(id).map(|tab| &tab.state), Some(TabState::Attached { crashed: true, .. }))
    }

    /// Forgets all below a tab.
    pub(crate) fn forget_children(&mut self, id: TabId) {
        self.children.retain(|child| child.tab != id);
        self.runtime_enabled.retain(|debuggee| debuggee.tab_id != id);
    }

    /// Forgets a tab and all below it.
    pub(crate) fn remove(&mut self, id: TabId) -> Option<Tab<P>> {
        self.forget_children(id);
        let index = self.tabs.iter().position(|(tab, _)| *tab == id)?;
        Some(self.tabs.remove(index).1)
    }

    /// Notes that a tab was taken away; how often it was before, on the same page.
    pub(crate) fn count_loss(&mut self, id: TabId) -> u32 {
        let losses = self.losses.get_or_default(id);
        *losses += 1;
        *losses - 1
    }

    /// A tab shows another page, on which it may fare better.
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

    /// Every attached tab, in order.
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

    /// Notes that Runtime is on; whether it was on before.
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
