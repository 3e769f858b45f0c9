//! The one classification of CDP methods and events in the extension. The relay's own, which decides who
//! handles a command, is `relay-core`'s `cdp/method.rs`; the worker looks only at what Chrome does with a
//! tab.

use shared_protocol::cdp_events::is_dropped;

/// The commands that the worker treats in a special way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    CreateTarget,
    CloseTarget,
    AutoAttach,
    EnableRuntime,
    DisableRuntime,
    RunIfWaiting,
    AddScript,
    GetFrameTree,
    /// It depends on frames, as [`Method::UsesPage`].
    CaptureScreenshot,
    StartScreencast,
    StopScreencast,
    SetFocusEmulation,
    /// It depends on frames or on focus.
    UsesPage,
    Other,
}

impl Method {
    pub(crate) fn of(method: &str) -> Self {
        match method {
            "Target.createTarget" => Self::CreateTarget,
            "Target.closeTarget" => Self::CloseTarget,
            "Target.setAutoAttach" => Self::AutoAttach,
            "Runtime.enable" => Self::EnableRuntime,
            "Runtime.disable" => Self::DisableRuntime,
            "Runtime.runIfWaitingForDebugger" => Self::RunIfWaiting,
            "Page.addScriptToEvaluateOnNewDocument" => Self::AddScript,
            "Page.getFrameTree" => Self::GetFrameTree,
            "Page.captureScreenshot" => Self::CaptureScreenshot,
            "Page.startScreencast" => Self::StartScreencast,
            "Page.stopScreencast" => Self::StopScreencast,
            "Emulation.setFocusEmulationEnabled" => Self::SetFocusEmulation,
            "Runtime.evaluate"
            | "Runtime.callFunctionOn"
            | "Page.navigate"
            | "DOM.scrollIntoViewIfNeeded"
            | "HeadlessExperimental.beginFrame" => Self::UsesPage,
            input if input.starts_with("Input.") => Self::UsesPage,
            _ => Self::Other,
        }
    }

    /// Returns true if Chrome sends events about frames in response to a command.
    pub(crate) fn causes_frame_events(self) -> bool {
        matches!(self, Self::EnableRuntime | Self::RunIfWaiting)
    }

    /// Returns true if a command changes what the next worker needs to know of a tab's use.
    pub(crate) fn changes_stored_use(self) -> bool {
        matches!(self, Self::StartScreencast | Self::StopScreencast | Self::SetFocusEmulation)
    }
}

/// The events that the worker treats in a special way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    ChildAttached,
    ChildDetached,
    DialogOpened,
    FrameNavigated,
    /// The page has loaded, or its address has changed.
    PageChanged,
    Crashed,
    Reloaded,
    /// The relay forwards it to no client.
    Dropped,
    Other,
}

impl Event {
    pub(crate) fn of(event: &str) -> Self {
        match event {
            "Target.attachedToTarget" => Self::ChildAttached,
            "Target.detachedFromTarget" => Self::ChildDetached,
            "Page.javascriptDialogOpening" => Self::DialogOpened,
            "Page.frameNavigated" => Self::FrameNavigated,
            "Page.loadEventFired" | "Page.navigatedWithinDocument" => Self::PageChanged,
            "Inspector.targetCrashed" => Self::Crashed,
            "Inspector.targetReloadedAfterCrash" => Self::Reloaded,
            event if is_dropped(event) => Self::Dropped,
            _ => Self::Other,
        }
    }

    /// Returns false for events that need not be kept while the relay is out of reach. Targets that come
    /// and go are announced again.
    pub(crate) fn is_worth_buffering(self) -> bool {
        !matches!(self, Self::ChildAttached | Self::ChildDetached | Self::Dropped)
    }
}
