//! What the toolbar shows for each tab.
//!
//! Chrome loads an icon's pictures before it shows them, so two changes in a row may land in either
//! order. One change at a time, and the last one wanted wins.

use shared_protocol::TabId;

use super::Effect;

/// What the toolbar shows for one tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The picture.
    pub icon: Icon,
    /// A few letters on the picture, or none.
    pub badge: &'static str,
    /// The words, when the mouse rests on it.
    pub title: String,
}

/// The picture in the toolbar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Not controlled.
    Black,
    /// On its way to being controlled.
    Grey,
    /// Controlled.
    Green,
}

/// The changes under way, and for each the one that must follow it.
#[derive(Debug, Default)]
pub(super) struct Looks(Vec<(TabId, Option<Look>)>);

impl Looks {
    pub(super) fn want<P>(&mut self, tab: TabId, look: Look, effects: &mut Vec<Effect<P>>) {
        match self.0.iter_mut().find(|(shown, _)| *shown == tab) {
            Some((_, next)) => *next = Some(look),
            None => {
                self.0.push((tab, None));
                effects.push(Effect::Show { tab, look });
            }
        }
    }

    /// A change is done; the next one may go.
    pub(super) fn shown<P>(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        let Some(index) = self.0.iter().position(|(shown, _)| *shown == tab) else { return };
        if let (tab, Some(next)) = self.0.swap_remove(index) {
            self.want(tab, next, effects);
        }
    }

    pub(super) fn is_settled(&self, tab: TabId) -> bool {
        self.0.iter().all(|(shown, _)| *shown != tab)
    }
}
