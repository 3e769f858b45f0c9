//! What the toolbar shows for one tab.

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
