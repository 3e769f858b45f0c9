//! Tabs that do not answer: clients would wait for them for ever, so the relay hears of a tab when
//! it answers.

use shared_protocol::{Payload, TabId};

use super::tabs::{Attaching, TabState};
use super::{Effect, Worker};

/// Why a tab does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Chrome put it to sleep, and wakes it when somebody looks at it.
    Asleep,
    /// It has another page under way, and is too busy to show it.
    Loading,
    /// It shows a dialog, or is at work without a pause.
    Busy,
}

impl Silence {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Asleep => "Chrome put this tab to sleep; it is controlled when it is reloaded",
            Self::Loading => "this page does not answer; it is controlled when it has loaded",
            Self::Busy => "this page does not answer; it is controlled when its dialog is closed",
        }
    }
}

impl<P: Payload> Worker<P> {
    /// A tab's debugger is attached, but its page says nothing. When it does, it is taken.
    pub(super) fn fell_silent(
        &mut self,
        id: TabId,
        silence: Silence,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(TabState::Attaching(attaching)) = self.tabs.get_mut(id).map(|tab| &mut tab.state)
        else {
            return;
        };
        attaching.silence = Some(silence);
        // It was ours for a moment, so it is taken back should Chrome take it away.
        attaching.tries.get_or_insert(0);
        if attaching.cancelled {
            return self.detach(id, effects);
        }
        self.log(format!("tab {id} does not answer: {}", silence.words()), effects);
        if silence == Silence::Busy {
            self.close_earlier_dialog(id, effects);
        }
        self.show(id, effects);
    }

    /// Chrome has put another tab in the place of one; it does so to put it to sleep.
    pub(super) fn replaced(&mut self, old: TabId, new: TabId, effects: &mut Vec<Effect<P>>) {
        let is_wanted = match self.tabs.get(old).map(|tab| &tab.state) {
            None => return,
            Some(TabState::Attaching(attaching)) => !attaching.cancelled,
            Some(
                TabState::Waiting
                | TabState::Attached { .. }
                | TabState::Lost { .. }
                | TabState::Barred,
            ) => true,
        };
        let is_waiting =
            matches!(self.tabs.get(old).map(|tab| &tab.state), Some(TabState::Waiting));
        if is_wanted && self.tabs.get(new).is_none() {
            self.windows.replaced(old, new);
            self.grouping.replaced(old, new);
            if is_waiting {
                self.tabs.put(new, TabState::Waiting);
                self.show(new, effects);
            } else {
                let attaching = Attaching { tries: Some(0), ..Attaching::default() };
                self.attach(new, attaching, effects);
            }
        }
        self.tab_removed(old, effects);
    }
}
