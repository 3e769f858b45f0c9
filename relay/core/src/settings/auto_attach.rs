//! `Target.setAutoAttach`: which children of a target a session wants.

use serde::Deserialize;

use crate::cdp::target_filter::Filter;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AutoAttach {
    /// Whether new targets run nothing until the client lets them.
    pub(crate) wait: bool,
    pub(crate) filter: Filter,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetAutoAttach {
    auto_attach: bool,
    #[serde(default)]
    wait_for_debugger_on_start: bool,
    #[serde(default)]
    pub(crate) flatten: bool,
    filter: Option<Filter>,
}

impl SetAutoAttach {
    /// Returns what is wanted, if anything.
    pub(crate) fn wanted(self) -> Option<AutoAttach> {
        self.auto_attach.then(|| AutoAttach {
            wait: self.wait_for_debugger_on_start,
            filter: self.filter.unwrap_or_default(),
        })
    }
}

/// How Chrome attaches to the children of a target. A later value covers what an earlier one does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChildAttachment {
    #[default]
    Off,
    /// Children run at once.
    Running,
    /// Children wait until they are let run.
    Waiting,
}

impl ChildAttachment {
    pub(crate) fn is_on(self) -> bool {
        self != Self::Off
    }
}

impl AutoAttach {
    /// Returns how Chrome must attach to children for this.
    pub(crate) fn attachment(&self) -> ChildAttachment {
        if self.wait { ChildAttachment::Waiting } else { ChildAttachment::Running }
    }
}
