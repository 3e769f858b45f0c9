//! Tabs that do not answer. A client would wait for such a tab for ever, so the relay hears of it
//! only when it answers.

use shared_protocol::{Payload, TabId};

use crate::interface::{Effect, Unresponsive};
use crate::state::{Attaching, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// Marks a tab whose debugger is attached, but whose page does not answer. The tab is announced
    /// when the page answers.
    pub(crate) fn tab_unresponsive(
        &mut self,
        id: TabId,
        reason: Unresponsive,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(TabState::Attaching(attaching)) = self.tabs.get_mut(id).map(|tab| &mut tab.state)
        else {
            return;
        };
        attaching.unresponsive = Some(reason);
        // The tab was ours for a moment. If Chrome detaches the debugger, the tab is taken back.
        attaching.tries.get_or_insert(0);
        if attaching.cancelled {
            return self.detach(id, effects);
        }
        self.log(format!("tab {id} does not answer: {}", reason.tooltip()), effects);
        if reason == Unresponsive::Blocked {
            self.close_earlier_dialog(id, effects);
        }
        self.show(id, effects);
    }

    /// Follows a tab to its new id. Chrome gives a tab another id when it discards it.
    pub(crate) fn tab_replaced(&mut self, old: TabId, new: TabId, effects: &mut Vec<Effect<P>>) {
        let is_wanted = match self.tabs.get(old).map(|tab| &tab.state) {
            None => return,
            Some(TabState::Attaching(attaching)) => !attaching.cancelled,
            Some(
                TabState::Waiting
                | TabState::Attached { .. }
                | TabState::Lost { .. }
                | TabState::Restricted,
            ) => true,
        };
        let is_waiting =
            matches!(self.tabs.get(old).map(|tab| &tab.state), Some(TabState::Waiting));
        if is_wanted && self.tabs.get(new).is_none() {
            self.windows.replaced(old, new);
            self.groups.replaced(old, new);
            if is_waiting {
                self.tabs.set_state(new, TabState::Waiting);
                self.show(new, effects);
            } else {
                let attaching = Attaching { tries: Some(0), ..Attaching::default() };
                self.attach(new, attaching, effects);
            }
        }
        self.tab_removed(old, effects);
    }
}
