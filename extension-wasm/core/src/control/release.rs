//! Gives tabs back to the user.

use shared_protocol::{Payload, TabId};

use crate::interface::Effect;
use crate::messages::{detached, event};
use crate::state::TabState;
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// Gives a tab back to the user.
    pub(crate) fn release(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get_mut(id).map(|tab| &mut tab.state) {
            // The debugger is still being attached. When that is done, the tab is forgotten.
            Some(TabState::Attaching(attaching)) => {
                let was_cancelled = std::mem::replace(&mut attaching.cancelled, true);
                if attaching.unresponsive.is_some() && !was_cancelled {
                    // Detaching ends the attempt to attach.
                    self.detach(id, effects);
                }
                return;
            }
            Some(TabState::Attached { .. }) => self.detach(id, effects),
            Some(TabState::Waiting | TabState::Lost { .. } | TabState::Restricted) | None => {}
        }
        self.forget(id, effects);
    }

    pub(crate) fn detach(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.detaching.insert(tab);
        effects.push(Effect::Detach { tab });
    }

    /// Forgets a tab whose debugger is detached, and tells the relay.
    pub(crate) fn forget(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        if self.tabs.get(id).is_none() {
            return;
        }
        self.end_session(id, TabState::Waiting, effects);
        let gone = self.tabs.remove(id);
        if let Some(requested) = gone.and_then(|tab| tab.requested) {
            self.reply(requested.request, Err("The tab was closed".to_owned()), effects);
        }
        self.groups.remove(id, effects);
        let Self { windows, tabs, .. } = self;
        windows.close_if_unused(|tab| tabs.get(tab).is_some(), effects);
        self.is_snapshot_stale = true;
        self.show(id, effects);
    }

    /// Handles the end of a tab.
    pub(crate) fn tab_removed(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        self.windows.tab_removed(id);
        self.attach_errors.remove(id);
        self.grouped_by_others.remove(id);
        self.tabs.reset_losses(id);
        self.announce_short_popup(id, effects);
        self.forget(id, effects);
    }

    /// Ends the session of a tab, and sets the tab's next state.
    pub(crate) fn end_session(
        &mut self,
        id: TabId,
        next: TabState<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(tab) = self.tabs.get_mut(id) else { return };
        let last = std::mem::replace(&mut tab.state, next);
        self.tabs.forget_children(id);
        self.hidden_tabs.forget(id);
        self.is_snapshot_stale = true;
        if let TabState::Attached { session, info, .. } = last {
            self.send_event(event("Target.detachedFromTarget", &detached(session, info)), effects);
        }
    }
}
