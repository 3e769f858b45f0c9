//! Tabs that do not answer: clients would wait for them for ever, so the relay hears of a tab when
//! it answers.

use shared_protocol::{Payload, TabId};

use crate::interface::{Effect, Unresponsive};
use crate::state::{Attaching, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// A tab's debugger is attached, but its page says nothing. When it does, it is taken.
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
        // It was ours for a moment, so it is taken back should Chrome take it away.
        attaching.tries.get_or_insert(0);
        if attaching.cancelled {
            return self.detach(id, effects);
        }
        self.log(format!("tab {id} does not answer: {}", reason.tooltip()), effects);
        self.show(id, effects);
    }

    /// Chrome has put another tab in the place of one; it does so to put it to sleep.
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
