//! Requests about windows, which only `chrome.windows` and `chrome.tabs` can answer and carry out.

use serde::{Deserialize, Serialize};

use crate::ids::TargetId;

wire_object! {
    /// Parameters of `getWindow`: the window of a page, or one by its id.
    pub struct WindowQuery {
        /// The page whose window is meant.
        optional "targetId" target_id: Option<TargetId>,
        /// The window itself, when no page is named.
        optional "windowId" window_id: Option<i64>,
    }
}

wire_object! {
    /// The answer to `getWindow`.
    pub struct BrowserWindow {
        /// Chrome's id of the window.
        required "windowId" window_id: i64,
        /// The distance from the left edge of the screen.
        required "left" left: i64,
        /// The distance from the top edge of the screen.
        required "top" top: i64,
        /// The width with the window's frame.
        required "width" width: i64,
        /// The height with the window's frame.
        required "height" height: i64,
        /// The way in which the window is shown.
        required "state" state: WindowState,
        /// The width that the page has, when asked by page.
        optional "contentWidth" content_width: Option<i64>,
        /// The height that the page has, when asked by page.
        optional "contentHeight" content_height: Option<i64>,
        /// True if the window shows another tab, when asked by page.
        optional "hidden" hidden: Option<bool>,
    }
}

wire_object! {
    /// Parameters of `setWindow`. What is absent stays; the window is never focused.
    pub struct WindowChange {
        /// Chrome's id of the window.
        required "windowId" window_id: i64,
        /// The distance from the left edge of the screen.
        optional "left" left: Option<i64>,
        /// The distance from the top edge of the screen.
        optional "top" top: Option<i64>,
        /// The width with the window's frame.
        optional "width" width: Option<i64>,
        /// The height with the window's frame.
        optional "height" height: Option<i64>,
        /// The way in which to show the window. Chrome takes bounds only for a window that is normal.
        optional "state" state: Option<WindowState>,
    }
}

wire_object! {
    /// Parameters of `activateTab`, `blankTab` and `closeTab`.
    pub struct TabQuery {
        /// The tab's page.
        required "targetId" target_id: TargetId,
    }
}

/// The way in which a window is shown; CDP and `chrome.windows` have the same words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum WindowState {
    Normal,
    Minimized,
    Maximized,
    Fullscreen,
}
