//! Where tabs that a client opens go: beside the tabs it has, or into a window of their own.

use std::collections::VecDeque;

use shared_protocol::TabId;

use super::SmallSet;
use crate::interface::{Effect, Place, RequestRef, StoredWindows, WindowId};

/// The separate window, if that mode is on.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    separate_window: bool,
    separate_window_id: Option<WindowId>,
    /// The tabs that we opened in it, and may close.
    owned: SmallSet<TabId>,
    /// Tabs that wait for the window to open.
    queue: VecDeque<(RequestRef, String)>,
    /// The tab that the window is being opened with.
    opening: Option<RequestRef>,
}

impl Windows {
    pub(crate) fn stored(&self) -> StoredWindows {
        StoredWindows {
            separate_window: self.separate_window,
            separate_window_id: self.separate_window_id,
            owned: self.owned.as_slice().to_vec(),
        }
    }

    pub(crate) fn restore(&mut self, stored: StoredWindows) {
        self.separate_window = stored.separate_window;
        self.separate_window_id = stored.separate_window_id;
        self.owned.extend(stored.owned);
    }

    pub(crate) fn set_separate(&mut self, separate: bool) {
        self.separate_window = separate;
    }

    pub(crate) fn is_separate(&self) -> bool {
        self.separate_window
    }

    pub(crate) fn separate_window_id(&self) -> Option<WindowId> {
        self.separate_window_id
    }

    pub(crate) fn open_tab<P>(
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
    pub(crate) fn tab_opened<P>(
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
    pub(crate) fn owns(&self, tab: TabId) -> bool {
        self.owned.contains(tab)
    }

    /// Takes in a tab that one of them opened.
    pub(crate) fn add_owned(&mut self, tab: TabId) {
        self.owned.insert(tab);
    }

    /// Chrome has put another tab in the place of one.
    pub(crate) fn replaced(&mut self, old: TabId, new: TabId) {
        if self.owned.remove(old) {
            self.owned.insert(new);
        }
    }

    pub(crate) fn tab_removed(&mut self, tab: TabId) {
        self.owned.remove(tab);
    }

    pub(crate) fn window_removed(&mut self, window: WindowId) {
        if self.separate_window_id == Some(window) {
            self.separate_window_id = None;
            self.owned.take();
        }
    }

    /// Closes the separate window once none of its tabs is controlled: what we opened goes, and
    /// with the last tab its window. A tab that the user put there stays.
    pub(crate) fn close_if_unused<P>(
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
