//! The order of changes of the toolbar.
//!
//! Chrome loads an icon's pictures before it shows them, so two changes in a row may end in either
//! order. One change is made at a time, and the last one wins.

use shared_protocol::TabId;

use crate::interface::{Effect, ToolbarState};

/// The tabs whose toolbar is being changed, each with the change that follows.
#[derive(Debug, Default)]
pub(crate) struct Toolbar(Vec<(TabId, Option<ToolbarState>)>);

impl Toolbar {
    pub(crate) fn show<P>(
        &mut self,
        tab: TabId,
        state: ToolbarState,
        effects: &mut Vec<Effect<P>>,
    ) {
        match self.0.iter_mut().find(|(shown, _)| *shown == tab) {
            Some((_, next)) => *next = Some(state),
            None => {
                self.0.push((tab, None));
                effects.push(Effect::ShowToolbar { tab, state });
            }
        }
    }

    /// Notes that a change is done, and makes the next one.
    pub(crate) fn shown<P>(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        let Some(index) = self.0.iter().position(|(shown, _)| *shown == tab) else { return };
        if let (tab, Some(next)) = self.0.swap_remove(index) {
            self.show(tab, next, effects);
        }
    }

    pub(crate) fn is_settled(&self, tab: TabId) -> bool {
        self.0.iter().all(|(shown, _)| *shown != tab)
    }
}
