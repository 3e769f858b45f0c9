//! The tabs under control, and the sessions below them.

use serde::Serialize;
use shared_protocol::{AttachedToTarget, SessionId, TabId, TargetId, TargetInfo};

use super::{Attempt, RequestRef, SmallMap, Unresponsive};

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
    pub(super) fn tab(tab_id: TabId) -> Self {
        Self { tab_id, session_id: None }
    }
}

#[derive(Debug)]
pub(super) struct Tabs<P> {
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
pub(super) struct Tab<P> {
    pub(super) state: TabState<P>,
    /// Who waits for the tab to be attached.
    pub(super) requested: Option<RequestedTab>,
    /// How to announce a popup that closes before it is attached.
    pub(super) popup: Option<TargetInfo<P>>,
}

#[derive(Debug)]
pub(super) enum TabState<P> {
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
pub(super) struct Attaching {
    /// The user clicked again meanwhile.
    pub(super) cancelled: bool,
    /// For a tab that was ours before: how often we tried to get it back.
    pub(super) tries: Option<u32>,
    /// Why it takes so long.
    pub(super) unresponsive: Option<Unresponsive>,
}

/// A tab that the relay asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestedTab {
    pub(super) request: RequestRef,
    /// Whether the answer itself is the announcement.
    pub(super) initial: bool,
}

/// A frame or worker below a tab.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Child<P> {
    pub(super) tab: TabId,
    /// The session that it was announced on; `None` is the tab's own.
    pub(super) parent: Option<SessionId>,
    pub(super) attached: AttachedToTarget<P>,
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
    pub(super) fn ids(&self) -> Vec<TabId> {
        self.tabs.iter().map(|(id, _)| *id).collect()
    }

    pub(super) fn get(&self, id: TabId) -> Option<&Tab<P>> {
        self.tabs.iter().find(|(tab, _)| *tab == id).map(|(_, tab)| tab)
    }

    pub(super) fn get_mut(&mut self, id: TabId) -> Option<&mut Tab<P>> {
        self.tabs.iter_mut().find(|(tab, _)| *tab == id).map(|(_, tab)| tab)
    }

    /// Takes a tab in, or moves one that is known into another state.
    pub(super) fn set_state(&mut self, id: TabId, state: TabState<P>) {
        match self.get_mut(id) {
            Some(tab) => tab.state = state,
            None => self.tabs.push((id, Tab { state, requested: None, popup: None })),
        }
    }

    /// Gives an attached tab a session of its own.
    pub(super) fn start_session(&mut self, id: TabId, info: TargetInfo<P>) -> SessionId {
        self.last_session += 1;
        let session = SessionId::new(format!("pw-tab-{}", self.last_session));
        self.set_state(id, TabState::Attached { session: session.clone(), info, crashed: false });
        session
    }

    /// Takes in a tab that an earlier worker left attached. What that one enabled is unknown, so
    /// all of it may be.
    pub(super) fn adopt(
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
    pub(super) fn adopt_child(&mut self, child: Child<P>) {
        let session_id = Some(child.attached.session_id.clone());
        self.enable_runtime(&Debuggee { tab_id: child.tab, session_id });
        self.add_child(child);
    }

    pub(super) fn is_crashed(&self, id: TabId) -> bool {
        matches!(self.get(id).map(|tab| &tab.state), Some(TabState::Attached { crashed: true, .. }))
    }

    /// Forgets all below a tab.
    pub(super) fn forget_children(&mut self, id: TabId) {
        self.children.retain(|child| child.tab != id);
        self.runtime_enabled.retain(|debuggee| debuggee.tab_id != id);
    }

    /// Forgets a tab and all below it.
    pub(super) fn remove(&mut self, id: TabId) -> Option<Tab<P>> {
        self.forget_children(id);
        let index = self.tabs.iter().position(|(tab, _)| *tab == id)?;
        Some(self.tabs.remove(index).1)
    }

    /// Notes that a tab was taken away; how often it was before, on the same page.
    pub(super) fn count_loss(&mut self, id: TabId) -> u32 {
        let losses = self.losses.get_or_default(id);
        *losses += 1;
        *losses - 1
    }

    /// A tab shows another page, on which it may fare better.
    pub(super) fn reset_losses(&mut self, id: TabId) {
        self.losses.remove(id);
    }

    pub(super) fn session(&self, id: TabId) -> Option<&SessionId> {
        match &self.get(id)?.state {
            TabState::Attached { session, .. } => Some(session),
            TabState::Waiting
            | TabState::Attaching { .. }
            | TabState::Lost { .. }
            | TabState::Restricted => None,
        }
    }

    pub(super) fn is_attached(&self, id: TabId) -> bool {
        self.session(id).is_some()
    }

    /// Every attached tab, in order.
    pub(super) fn attached_tabs(
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

    pub(super) fn find_session(&self, session: &SessionId) -> Option<Debuggee> {
        if let Some(child) = self.children.iter().find(|c| &c.attached.session_id == session) {
            return Some(Debuggee { tab_id: child.tab, session_id: Some(session.clone()) });
        }
        self.attached_tabs().find(|(_, own, _)| *own == session).map(|(tab, ..)| Debuggee::tab(tab))
    }

    pub(super) fn find_target(&self, target: &TargetId) -> Option<Debuggee> {
        self.attached_tabs()
            .find(|(.., info)| &info.target_id == target)
            .map(|(tab, ..)| Debuggee::tab(tab))
    }

    pub(super) fn children(&self) -> &[Child<P>] {
        &self.children
    }

    pub(super) fn add_child(&mut self, child: Child<P>) {
        self.children.retain(|known| known.attached.session_id != child.attached.session_id);
        self.children.push(child);
    }

    pub(super) fn remove_child(&mut self, session: &SessionId) {
        self.children.retain(|child| &child.attached.session_id != session);
        self.runtime_enabled.retain(|debuggee| debuggee.session_id.as_ref() != Some(session));
    }

    /// Notes that Runtime is on; whether it was on before.
    pub(super) fn enable_runtime(&mut self, debuggee: &Debuggee) -> bool {
        let was_enabled = self.runtime_enabled.contains(debuggee);
        if !was_enabled {
            self.runtime_enabled.push(debuggee.clone());
        }
        was_enabled
    }

    pub(super) fn disable_runtime(&mut self, debuggee: &Debuggee) {
        self.runtime_enabled.retain(|enabled| enabled != debuggee);
    }

    pub(super) fn last_session(&self) -> u32 {
        self.last_session
    }

    pub(super) fn continue_sessions_from(&mut self, last_session: u32) {
        self.last_session = last_session;
    }
}

/// Commands that Chrome has not answered yet, and the tab that each runs in.
#[derive(Debug, Default)]
pub(super) struct InFlight(SmallMap<RequestRef, Running>);

#[derive(Debug)]
struct Running {
    debuggee: Debuggee,
    asks_frame_tree: bool,
}

impl InFlight {
    pub(super) fn add(&mut self, request: RequestRef, debuggee: Debuggee, method: &str) {
        let asks_frame_tree = method == "Page.getFrameTree";
        self.0.insert(request, Running { debuggee, asks_frame_tree });
    }

    /// Whether somebody still waits for the answer.
    pub(super) fn done(&mut self, request: RequestRef) -> bool {
        self.0.remove(request).is_some()
    }

    /// Whether somebody waits for the answer.
    pub(super) fn has(&self, request: RequestRef) -> bool {
        self.0.get(request).is_some()
    }

    pub(super) fn runs_in(&self, tab: TabId) -> bool {
        self.0.iter().any(|(_, running)| running.debuggee.tab_id == tab)
    }

    /// Whether this is somebody's question for frames.
    pub(super) fn is_frame_tree(&self, request: RequestRef) -> bool {
        self.0.get(request).is_some_and(|running| running.asks_frame_tree)
    }

    /// Whether somebody waits for the frames of exactly this.
    pub(super) fn asks_frame_tree(&self, debuggee: &Debuggee) -> bool {
        self.0.iter().any(|(_, running)| running.asks_frame_tree && running.debuggee == *debuggee)
    }

    /// Forgets what an earlier relay asked for.
    pub(super) fn keep(&mut self, attempt: Attempt) {
        self.0.retain(|request, _| request.attempt == attempt);
    }

    pub(super) fn of_tab(&mut self, tab: TabId) -> Vec<RequestRef> {
        self.0.retain(|_, running| running.debuggee.tab_id != tab)
    }
}
