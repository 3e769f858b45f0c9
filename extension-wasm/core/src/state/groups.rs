//! The tab group around controlled tabs.
//!
//! The group shows the user which tabs are controlled. Dragging a tab into it or out of it counts
//! as a click. Only groups that we made are changed.
//!
//! Any extension can put any tab into any group, without a permission, and Chrome does not say who
//! did it. But Chrome lets no extension move a tab while the user drags it. So a tab that we cannot
//! ungroup was dragged in by the user, and a tab that we can ungroup was not.

use std::collections::VecDeque;

use shared_protocol::TabId;

use super::SmallSet;
use crate::interface::{Effect, GroupId};

#[derive(Debug)]
pub(crate) struct Groups {
    enabled: bool,
    /// The groups that we made, one for each window.
    ours: SmallSet<GroupId>,
    /// The tabs that we put into our groups.
    members: SmallSet<TabId>,
    /// The tabs to be grouped, one at a time: two calls at once would make two groups.
    queue: VecDeque<TabId>,
    grouping: Option<TabId>,
    /// True if the tab that is being grouped was released since.
    is_released: bool,
    /// Tabs that changed their group while we were grouping one. We may have done that, and the
    /// group may be ours.
    unclassified: SmallSet<TabId>,
    /// Tabs that have just moved to another window, which takes them out of their group.
    moved: SmallSet<TabId>,
}

/// The meaning of a change of a tab's group.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GroupChange {
    /// The tab is in our group, and is not controlled.
    Joined,
    /// The tab is controlled, and has left our group. Chrome says so before it says that the tab
    /// moved to another window, so the tab's group has to be read again.
    Left,
    Irrelevant,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            enabled: true,
            ours: SmallSet::default(),
            members: SmallSet::default(),
            queue: VecDeque::new(),
            grouping: None,
            is_released: false,
            unclassified: SmallSet::default(),
            moved: SmallSet::default(),
        }
    }
}

impl Groups {
    pub(crate) fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    pub(crate) fn ours(&self) -> Vec<GroupId> {
        self.ours.as_slice().to_vec()
    }

    pub(crate) fn members(&self) -> Vec<TabId> {
        self.members.as_slice().to_vec()
    }

    pub(crate) fn restore(&mut self, ours: Vec<GroupId>, members: Vec<TabId>) {
        self.ours.extend(ours);
        self.members.extend(members);
    }

    pub(crate) fn add<P>(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        if self.enabled {
            self.queue.push_back(tab);
            self.group_next(effects);
        }
    }

    /// Notes the group that a tab was put into; `None` if it stayed where the user had it.
    pub(crate) fn grouped<P>(&mut self, group: Option<GroupId>, effects: &mut Vec<Effect<P>>) {
        let tab = self.grouping.take();
        self.ours.extend(group);
        match (tab, std::mem::take(&mut self.is_released)) {
            (Some(tab), true) => effects.push(Effect::Ungroup { tab, groups: self.ours() }),
            (tab, _) if group.is_some() => self.members.extend(tab),
            (_, _) => {}
        }
        self.group_next(effects);
        let unclassified = self.unclassified.take();
        effects.extend(unclassified.into_iter().map(|tab| Effect::ReadGroup { tab }));
    }

    pub(crate) fn remove<P>(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.queue.retain(|queued| *queued != tab);
        self.moved.remove(tab);
        self.unclassified.remove(tab);
        self.is_released |= self.grouping == Some(tab);
        if self.members.remove(tab) {
            effects.push(Effect::Ungroup { tab, groups: self.ours() });
        }
    }

    /// Follows a tab to its new id.
    pub(crate) fn replaced(&mut self, old: TabId, new: TabId) {
        if self.members.remove(old) {
            self.members.insert(new);
        }
    }

    pub(crate) fn moved(&mut self, tab: TabId) {
        self.moved.insert(tab);
    }

    pub(crate) fn classify(
        &mut self,
        tab: TabId,
        group: Option<GroupId>,
        is_controlled: bool,
    ) -> GroupChange {
        match (is_controlled, self.is_ours(group)) {
            // We put the tab into the group, and it was released since.
            (false, true) if self.grouping == Some(tab) => GroupChange::Irrelevant,
            (false, true) => GroupChange::Joined,
            (true, false) if self.grouping.is_some() || self.queue.contains(&tab) => {
                self.unclassified.insert(tab);
                GroupChange::Irrelevant
            }
            (true, false) if self.enabled && self.members.contains(tab) => GroupChange::Left,
            (true, true) => {
                self.members.insert(tab);
                self.moved.remove(tab);
                GroupChange::Irrelevant
            }
            // The group may be the one that we are making, whose id comes last of all.
            (false, false) if self.grouping.is_some() && group.is_some() => {
                self.unclassified.insert(tab);
                GroupChange::Irrelevant
            }
            (true, false) | (false, false) => GroupChange::Irrelevant,
        }
    }

    /// Groups a tab again that has left its group because it moved to another window. Returns true
    /// if it has.
    pub(crate) fn regroup_moved_tab<P>(
        &mut self,
        tab: TabId,
        effects: &mut Vec<Effect<P>>,
    ) -> bool {
        let moved = self.moved.remove(tab);
        if moved {
            self.add(tab, effects);
        }
        moved
    }

    fn is_ours(&self, group: Option<GroupId>) -> bool {
        self.enabled && group.is_some_and(|group| self.ours.contains(group))
    }

    pub(crate) fn group_removed(&mut self, group: GroupId) {
        self.ours.remove(group);
    }

    fn group_next<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        if self.grouping.is_some() {
            return;
        }
        if let Some(tab) = self.queue.pop_front() {
            self.grouping = Some(tab);
            effects.push(Effect::Group { tab, groups: self.ours() });
        }
    }
}
