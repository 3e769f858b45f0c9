//! Where tabs that a client opens go: beside the tabs it has, or into a window of their own.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use shared_protocol::TabId;

use super::{Effect, RequestRef, SmallSet};

/// A window, by `chrome.windows` id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WindowId(pub i32);

/// Where to open a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where the user is.
    Anywhere,
    /// In the window of this tab.
    Beside(TabId),
    /// In this window, or in a new one of its own if it has been closed.
    SeparateWindow(WindowId),
    /// In a new window of its own.
    NewSeparateWindow,
    /// In a new window that the client asked for, which is as good as the user's.
    ClientWindow(Bounds),
}

/// Where a window is and how large; what is absent is for Chrome to choose, or stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Bounds {
    pub left: Option<i64>,
    pub top: Option<i64>,
    pub width: Option<i64>,
    pub height: Option<i64>,
}

/// Which window is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowRef {
    /// The one that a tab is in.
    OfTab(TabId),
    /// The one of this id.
    Id(WindowId),
}

/// The separate window, if that mode is on.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Windows {
    separate_window: bool,
    #[serde(rename = "workerWindowId")]
    separate_window_id: Option<WindowId>,
    /// The tabs that we opened in it, and may close.
    owned: SmallSet<TabId>,
    /// Tabs that wait for the window to open.
    #[serde(skip)]
    queue: VecDeque<(RequestRef, String)>,
    /// The tab that the window is being opened with.
    #[serde(skip)]
    opening: Option<RequestRef>,
}

impl Windows {
    pub(super) fn set_separate(&mut self, separate: bool) {
        self.separate_window = separate;
    }

    pub(super) fn is_separate(&self) -> bool {
        self.separate_window
    }

    pub(super) fn separate_window_id(&self) -> Option<WindowId> {
        self.separate_window_id
    }

    pub(super) fn open_tab<P>(
        &mut self,
        request: RequestRef,
        url: String,
        separate: bool,
        beside: Option<TabId>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let place = match (separate, self.separate_window_id, beside) {
            (false, _, Some(tab)) => Place::Beside(tab),
            (false, _, None) => Place::Anywhere,
            (true, Some(window), _) => Place::SeparateWindow(window),
            (true, None, _) if self.opening.is_some() => {
                return self.queue.push_back((request, url));
            }
            (true, None, _) => {
                self.opening = Some(request);
                Place::NewSeparateWindow
            }
        };
        effects.push(Effect::CreateTab { request, url, place });
    }

    /// A tab has been opened, or not; with the window, if that is to be ours.
    pub(super) fn tab_opened<P>(
        &mut self,
        request: RequestRef,
        opened_tab: Option<(TabId, WindowId)>,
        effects: &mut Vec<Effect<P>>,
    ) {
        if self.opening == Some(request) {
            self.opening = None;
        }
        if let Some((tab, window)) = opened_tab {
            self.separate_window_id = Some(window);
            self.owned.insert(tab);
        }
        for (request, url) in std::mem::take(&mut self.queue) {
            self.open_tab(request, url, true, None, effects);
        }
    }

    /// Whether a tab was opened in the separate window.
    pub(super) fn owns(&self, tab: TabId) -> bool {
        self.owned.contains(tab)
    }

    /// Takes in a tab that one of them opened.
    pub(super) fn add_owned(&mut self, tab: TabId) {
        self.owned.insert(tab);
    }

    /// Chrome has put another tab in the place of one.
    pub(super) fn replaced(&mut self, old: TabId, new: TabId) {
        if self.owned.remove(old) {
            self.owned.insert(new);
        }
    }

    pub(super) fn tab_removed(&mut self, tab: TabId) {
        self.owned.remove(tab);
    }

    pub(super) fn window_removed(&mut self, window: WindowId) {
        if self.separate_window_id == Some(window) {
            self.separate_window_id = None;
            self.owned.take();
        }
    }

    /// Closes the separate window once none of its tabs is controlled: what we opened goes, and
    /// with the last tab its window. A tab that the user put there stays.
    pub(super) fn close_if_unused<P>(
        &mut self,
        is_controlled: impl Fn(TabId) -> bool,
        effects: &mut Vec<Effect<P>>,
    ) {
        let owned = self.owned.as_slice();
        if owned.is_empty() || owned.iter().any(|tab| is_controlled(*tab)) {
            return;
        }
        self.separate_window_id = None;
        let tabs = self.owned.take();
        effects.push(Effect::CloseTabs { tabs });
    }
}
