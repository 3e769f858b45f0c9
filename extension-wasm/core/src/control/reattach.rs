//! Takes back tabs from which Chrome has detached the debugger, with longer and longer waits.

use std::time::Duration;

use shared_protocol::{Payload, TabId};

use crate::interface::Effect;
use crate::state::{Attaching, TabState};
use crate::worker::Worker;

/// The number of times that a tab is taken back before it is given up.
pub(super) const MAX_TRIES: u32 = 5;

/// The wait before the second try. Each later wait is four times as long.
pub(super) const SECOND_TRY: Duration = Duration::from_millis(250);

impl<P: Payload> Worker<P> {
    /// Handles the end of a debugger session that we did not end.
    pub(crate) fn debugger_detached(
        &mut self,
        id: TabId,
        reason: &str,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(tab) = self.tabs.get_mut(id) else { return };
        if !matches!(tab.state, TabState::Attached { .. }) {
            if reason != "target_closed" {
                // It may have been the session of a tab that has not answered yet.
                self.give_up_lost_tabs(effects);
            }
            return;
        }
        self.log(format!("tab {id} was detached: {reason}"), effects);
        if reason != "target_closed" {
            // The user pressed Cancel, or opened something else that debugs the tab.
            self.forget(id, effects);
            return self.give_up_lost_tabs(effects);
        }
        // The tab may still exist: Chrome gives the same reason when a tab goes to a restricted
        // page.
        let tries = self.tabs.count_loss(id);
        if tries > MAX_TRIES {
            return self.forget(id, effects);
        }
        self.end_session(id, TabState::Lost { tries }, effects);
        effects.push(match tries {
            0 => Effect::CheckTab { tab: id },
            _ => Effect::ReattachLater { tab: id, wait: SECOND_TRY * 4_u32.pow(tries - 1) },
        });
        self.show(id, effects);
    }

    /// Gives up all tabs that would be taken back. The user refused one tab, and so refuses those.
    fn give_up_lost_tabs(&mut self, effects: &mut Vec<Effect<P>>) {
        for id in self.tabs.ids() {
            match self.tabs.get(id).map(|tab| &tab.state) {
                Some(
                    TabState::Lost { .. }
                    | TabState::Restricted
                    | TabState::Attaching(Attaching { tries: Some(_), .. }),
                ) => self.release(id, effects),
                Some(TabState::Waiting | TabState::Attaching(_) | TabState::Attached { .. })
                | None => {}
            }
        }
    }

    pub(crate) fn tab_checked(&mut self, id: TabId, exists: bool, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Lost { tries }) if exists => {
                let attaching = Attaching { tries: Some(*tries), ..Attaching::default() };
                self.attach(id, attaching, effects);
            }
            Some(TabState::Lost { .. }) => self.forget(id, effects),
            Some(
                TabState::Waiting
                | TabState::Attaching(_)
                | TabState::Attached { .. }
                | TabState::Restricted,
            )
            | None => {}
        }
    }

    /// Handles the navigation of a tab, at its beginning and at its end.
    pub(crate) fn tab_navigated(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Restricted) => {
                let attaching = Attaching { tries: Some(0), ..Attaching::default() };
                self.attach(id, attaching, effects);
            }
            Some(
                TabState::Waiting
                | TabState::Attaching(_)
                | TabState::Attached { .. }
                | TabState::Lost { .. },
            ) => self.show(id, effects),
            None => {
                self.attach_errors.remove(id);
            }
        }
    }
}
