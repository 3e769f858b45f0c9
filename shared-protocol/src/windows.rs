//! What only `chrome.windows` and `chrome.tabs` know and can change.

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
        /// From the left edge of the screen.
        required "left" left: i64,
        /// From the top edge of the screen.
        required "top" top: i64,
        /// With its frame.
        required "width" width: i64,
        /// With its frame.
        required "height" height: i64,
        /// How it is shown.
        required "state" state: WindowState,
        /// What the page has of it, when asked by page.
        optional "contentWidth" content_width: Option<i64>,
        /// What the page has of it, when asked by page.
        optional "contentHeight" content_height: Option<i64>,
        /// Whether another tab is shown in it, when asked by page.
        optional "hidden" hidden: Option<bool>,
    }
}

wire_object! {
    /// Parameters of `setWindow`. What is absent stays; the window is never focused.
    pub struct WindowChange {
        /// Chrome's id of the window.
        required "windowId" window_id: i64,
        /// From the left edge of the screen.
        optional "left" left: Option<i64>,
        /// From the top edge of the screen.
        optional "top" top: Option<i64>,
        /// With its frame.
        optional "width" width: Option<i64>,
        /// With its frame.
        optional "height" height: Option<i64>,
        /// How to show it. Chrome takes bounds only for a window that is normal.
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

/// How a window is shown; CDP and `chrome.windows` have the same words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum WindowState {
    Normal,
    Minimized,
    Maximized,
    Fullscreen,
}
