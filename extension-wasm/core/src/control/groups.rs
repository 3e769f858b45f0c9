//! Dragging a tab into the group takes it under control; dragging it out releases it.

use shared_protocol::{Payload, TabId};

use crate::interface::{Effect, GroupId};
use crate::state::GroupChange;
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    pub(crate) fn tab_regrouped(
        &mut self,
        tab: TabId,
        group: Option<GroupId>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let is_controlled = self.tabs.get(tab).is_some();
        match self.groups.classify(tab, group, is_controlled) {
            GroupChange::Joined => {
                effects.push(Effect::TryUngroup { tab, groups: self.groups.ours() });
            }
            GroupChange::Left => effects.push(Effect::ReadGroup { tab }),
            GroupChange::Irrelevant => {}
        }
    }

    /// Handles the attempt to ungroup a tab that has joined our group. Chrome refuses it while the
    /// user drags the tab.
    pub(crate) fn ungroup_tried(
        &mut self,
        tab: TabId,
        is_dragged: Option<bool>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match is_dragged {
            // The tab was taken under control in another way.
            _ if self.tabs.get(tab).is_some() => {}
            Some(true) => self.icon_clicked(tab, effects),
            Some(false) => {
                self.grouped_by_others.insert(tab);
                self.show(tab, effects);
            }
            None => {}
        }
    }

    /// Handles the answer to which group a tab is in.
    pub(crate) fn group_read(
        &mut self,
        tab: TabId,
        group: Option<GroupId>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let is_controlled = self.tabs.get(tab).is_some();
        match self.groups.classify(tab, group, is_controlled) {
            GroupChange::Left if self.groups.regroup_moved_tab(tab, effects) => {}
            GroupChange::Left => self.release(tab, effects),
            GroupChange::Joined => {
                effects.push(Effect::TryUngroup { tab, groups: self.groups.ours() });
            }
            GroupChange::Irrelevant => {}
        }
    }
}
