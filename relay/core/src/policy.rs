//! What the user lets clients do.

/// What the user lets clients do beyond driving tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Whether tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// Whether a client that finds no tab gets one.
    pub opens_first_tab: bool,
    /// Whether clients may bring tabs to the front.
    pub may_focus: bool,
    /// Whether clients see and clear the cookies and caches of the whole profile.
    pub whole_profile: bool,
    /// What agents may let pages do.
    pub agents_may: AgentsMay,
}

/// What agents may let pages do with the user's devices. Without it, a page that talks an agent into
/// something could listen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentsMay {
    /// See.
    pub camera: bool,
    /// Listen.
    pub microphone: bool,
    /// Read what the user has copied.
    pub clipboard_read: bool,
}

impl AgentsMay {
    /// As `--agents-may` names them.
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
