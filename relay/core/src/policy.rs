//! The policy: the user's limits for clients.

/// The user's settings that say what clients may do beyond driving tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// True if tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// True if a client that finds no tab gets one.
    pub opens_first_tab: bool,
    /// True if clients may bring tabs to the front.
    pub may_focus: bool,
    /// True if clients see and clear the cookies and caches of the whole profile.
    pub whole_profile: bool,
    /// The permissions that agents may give to pages.
    pub agents_may: AgentsMay,
}

/// The permissions for the user's devices that agents may give to pages. Without this limit, a page
/// that talks an agent into something could listen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentsMay {
    /// True if pages may use the camera.
    pub camera: bool,
    /// True if pages may use the microphone.
    pub microphone: bool,
    /// True if pages may read the clipboard.
    pub clipboard_read: bool,
}

impl AgentsMay {
    /// Returns the names that `--agents-may` uses.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let Self { camera, microphone, clipboard_read } = self;
        let all =
            [(camera, "camera"), (microphone, "microphone"), (clipboard_read, "clipboard-read")];
        all.into_iter().filter_map(|(is_allowed, name)| is_allowed.then_some(name))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            separate_window: false,
            opens_first_tab: true,
            may_focus: false,
            whole_profile: false,
            agents_may: AgentsMay::default(),
        }
    }
}
