//! What the toolbar shows for each tab.
//!
//! Chrome loads an icon's pictures before it shows them, so two changes in a row may land in either
//! order. One change at a time, and the last one wanted wins.

use shared_protocol::{Payload, TabId};

use super::tabs::{Attaching, TabState};
use super::{Effect, Worker};

/// What the toolbar shows for one tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolbarState {
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
pub(super) struct Toolbar(Vec<(TabId, Option<ToolbarState>)>);

impl Toolbar {
    pub(super) fn show<P>(
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

    /// A change is done; the next one may go.
    pub(super) fn shown<P>(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        let Some(index) = self.0.iter().position(|(shown, _)| *shown == tab) else { return };
        if let (tab, Some(next)) = self.0.swap_remove(index) {
            self.show(tab, next, effects);
        }
    }

    pub(super) fn is_settled(&self, tab: TabId) -> bool {
        self.0.iter().all(|(shown, _)| *shown != tab)
    }
}

impl<P: Payload> Worker<P> {
    /// What the toolbar is to show for a tab now.
    pub(super) fn toolbar_state(&self, tab: TabId) -> ToolbarState {
        let is_open = self.connection.is_open();
        let controlled = self.connection.notice().map_or_else(
            || "this tab is controlled; click to release it".to_owned(),
            |notice| format!("this tab is controlled, but {notice}"),
        );
        let (badge, problem) = match self.connection.problem() {
            problem if problem.is_about_key() => ("!", problem),
            problem => ("", problem),
        };
        let problem = self.connection.port().and_then(|port| problem.text(port));
        let (icon, badge, title) =
            match (self.tabs.get(tab).map(|tab| &tab.state), self.attach_errors.get(tab)) {
                (None, Some(why)) => {
                    let title = format!("Playwriter cannot control this page: {why}");
                    return ToolbarState { icon: Icon::Black, badge: "!", title };
                }
                (None, None) if self.grouped_by_others.contains(tab) => (
                    Icon::Black,
                    "?",
                    "click to control this tab; something other than your mouse put it into the \
                     group",
                ),
                (None, None) => (Icon::Black, "", "click to control this tab"),
                (Some(TabState::Restricted), _) => (
                    Icon::Grey,
                    "!",
                    "Chrome protects this page; the tab is controlled when it leaves it",
                ),
                (Some(TabState::Attached { crashed: true, .. }), _) => {
                    (Icon::Grey, "!", "this page has crashed; reload it to go on")
                }
                (Some(TabState::Attached { .. }), _) if self.connection.relay_is_older() => (
                    Icon::Green,
                    "",
                    "this tab is controlled, but the relay is too old for downloads, permissions \
                     and separate windows: update the relay",
                ),
                (Some(TabState::Attached { .. }), _) if is_open => {
                    (Icon::Green, "", controlled.as_str())
                }
                (Some(_), _) if self.connection.is_displaced() => (
                    Icon::Grey,
                    "",
                    "another browser window's Playwriter is connected to the relay",
                ),
                (Some(_), _) if problem.is_some() => {
                    (Icon::Grey, badge, problem.as_deref().unwrap_or_default())
                }
                (Some(_), _) if self.connection.is_settled() && !is_open => {
                    (Icon::Grey, "", "no relay is running; start one with `playwriter serve`")
                }
                (Some(TabState::Attaching(Attaching { unresponsive: Some(reason), .. })), _) => {
                    (Icon::Grey, "!", reason.tooltip())
                }
                (Some(_), _) => (Icon::Grey, "", "connecting"),
            };
        ToolbarState { icon, badge, title: format!("Playwriter: {title}") }
    }
}
