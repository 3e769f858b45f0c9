//! The places where tabs open, and the windows that requests are about.

use shared_protocol::TabId;

use super::WindowId;

/// The place where a tab opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the window that the user used last.
    Anywhere,
    /// In the window of this tab.
    Beside(TabId),
    /// In the separate window, or in a new separate window if the user has closed that one.
    SeparateWindow(WindowId),
    /// In a new separate window.
    NewSeparateWindow,
    /// In a new window that the client asked for. It is treated like a window of the user's.
    ClientWindow(Bounds),
}

/// The position and size of a window. Chrome chooses the absent ones, or leaves them as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Bounds {
    pub left: Option<i64>,
    pub top: Option<i64>,
    pub width: Option<i64>,
    pub height: Option<i64>,
}

/// A window that a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowRef {
    /// The window of this tab.
    OfTab(TabId),
    /// The window with this id.
    Id(WindowId),
}
