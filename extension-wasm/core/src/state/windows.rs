//! The windows in which clients' tabs open: beside controlled tabs, or in the separate window.

use std::collections::VecDeque;

use shared_protocol::TabId;

use super::SmallSet;
use crate::interface::{Effect, Place, RequestRef, StoredWindows, WindowId};

/// The window mode and the separate window.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    separate_window: bool,
    separate_window_id: Option<WindowId>,
    /// The tabs that we opened in the separate window, and may close.
    owned: SmallSet<TabId>,
    /// The tabs that wait for the separate window to open.
    queue: VecDeque<(RequestRef, String)>,
    /// The request whose tab opens the separate window.
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

    /// Notes a tab that was opened, with its window if that is the separate one; `None` if it could
    /// not be opened.
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

    /// Returns true if a tab was opened in the separate window.
    pub(crate) fn owns(&self, tab: TabId) -> bool {
        self.owned.contains(tab)
    }

    /// Adds a tab that a tab in the separate window opened.
    pub(crate) fn add_owned(&mut self, tab: TabId) {
        self.owned.insert(tab);
    }

    /// Follows a tab to its new id.
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

    /// Closes our tabs in the separate window when none of them is controlled any more. The window
    /// closes with its last tab. A tab that the user put there stays.
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
