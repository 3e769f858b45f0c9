//! The icon, badge and tooltip of one tab.

/// The icon, badge and tooltip of one tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolbarState {
    /// The icon.
    pub icon: Icon,
    /// A few letters on the icon, or none.
    pub badge: &'static str,
    /// The tooltip.
    pub title: String,
}

/// The icon in the toolbar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// The tab is not controlled.
    Black,
    /// The tab is to be controlled, and is not yet.
    Grey,
    /// The tab is controlled.
    Green,
}
