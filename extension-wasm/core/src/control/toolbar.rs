//! Decides what the toolbar shows for each tab.

use shared_protocol::{Payload, TabId};

use crate::interface::{Effect, Icon, ToolbarState, Unresponsive};
use crate::state::{Attaching, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    pub(crate) fn show_all(&mut self, effects: &mut Vec<Effect<P>>) {
        for tab in self.tabs.ids() {
            self.show(tab, effects);
        }
    }

    /// Shows a problem with the key on all tabs, also where none is controlled.
    pub(crate) fn show_problem(&mut self, effects: &mut Vec<Effect<P>>) {
        let problem = self.connection.problem();
        let text = self.connection.port().and_then(|port| problem.text(port));
        let text = text.filter(|_| problem.is_about_key());
        if self.shown_problem != text {
            self.shown_problem.clone_from(&text);
            effects.push(Effect::ShowProblem { text });
        }
    }

    pub(crate) fn show(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        let state = self.toolbar_state(tab);
        self.toolbar.show(tab, state, effects);
    }

    /// Returns what the toolbar shows for a tab.
    pub(crate) fn toolbar_state(&self, tab: TabId) -> ToolbarState {
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

impl Unresponsive {
    pub(crate) fn tooltip(self) -> &'static str {
        match self {
            Self::Discarded => "Chrome put this tab to sleep; it is controlled when it is reloaded",
            Self::Loading => "this page does not answer; it is controlled when it has loaded",
            Self::Blocked => {
                "this page does not answer; it is controlled when its dialog is closed"
            }
        }
    }
}
