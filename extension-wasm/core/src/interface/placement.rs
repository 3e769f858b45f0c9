//! Where tabs open, and which windows are asked about.

use shared_protocol::TabId;

use super::WindowId;

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
