//! The effects: what the machine asks the shell to do.

use std::time::Duration;

use shared_protocol::{
    CookieFunction, ExtensionHello, ExtensionMessage, PermissionName, PermissionRule, TabId,
    WindowState,
};

use super::{
    Attempt, Bounds, Debuggee, GroupId, PairingKey, Place, RequestRef, Snapshot, ToolbarState,
    WindowId, WindowRef,
};

/// An instruction to the shell. The shell performs effects in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effect<P> {
    /// Check whether a relay listens. A WebSocket that fails would show as an error in the user's
    /// console.
    Probe {
        attempt: Attempt,
        port: u16,
    },
    /// Ask the relay whether it serves another extension.
    AskStatus {
        attempt: Attempt,
        port: u16,
    },
    /// Read the key from storage. It may have been replaced.
    ReadKey {
        attempt: Attempt,
    },
    /// Ask the relay for its hello, without sending anything about this extension.
    AskHello {
        attempt: Attempt,
        port: u16,
    },
    /// Open the socket. With a key, the relay must prove itself before anything is sent.
    OpenSocket {
        attempt: Attempt,
        port: u16,
        hello: ExtensionHello,
        key: Option<PairingKey>,
    },
    /// Remember that there is a key, in case it is lost one day.
    RememberPaired,
    CloseSocket,
    RetryLater {
        attempt: Attempt,
    },
    RetryAfter {
        attempt: Attempt,
        wait: Duration,
    },
    GiveRelayUpLater {
        attempt: Attempt,
    },
    /// Wait until a released relay has forwarded the last reply. Such a relay forwards events
    /// before a reply that came first.
    AwaitOldRelay {
        port: u16,
    },
    Send(ExtensionMessage<P>),
    /// Attach the debugger, and read the target info.
    Attach {
        tab: TabId,
    },
    Detach {
        tab: TabId,
    },
    /// Read the target info of a tab. A failure gives no input.
    ReadTargetInfo {
        tab: TabId,
    },
    /// Check whether a tab still exists.
    CheckTab {
        tab: TabId,
    },
    /// Check whether a tab still exists, after a wait.
    ReattachLater {
        tab: TabId,
        wait: Duration,
    },
    /// Run a CDP command. Without a request, the answer is dropped.
    RunCommand {
        request: Option<RequestRef>,
        debuggee: Debuggee,
        method: String,
        params: Option<P>,
    },
    CreateTab {
        request: RequestRef,
        url: String,
        place: Place,
    },
    CloseTabs {
        tabs: Vec<TabId>,
    },
    ReadWindow {
        request: RequestRef,
        window: WindowRef,
    },
    ChangeWindow {
        request: RequestRef,
        window: WindowId,
        bounds: Bounds,
        state: Option<WindowState>,
    },
    /// Take a tab to a blank page, or close it.
    LeavePage {
        request: RequestRef,
        tab: TabId,
        close: bool,
    },
    /// Bring a tab to the front. No other effect takes the user's focus.
    ActivateTab {
        request: RequestRef,
        tab: TabId,
    },
    /// Clear the content settings of these names, then set the rules. Without a request, nobody is
    /// answered.
    SetPermissions {
        request: Option<RequestRef>,
        clear: Vec<PermissionName>,
        rules: Vec<PermissionRule<P>>,
    },
    SearchDownload {
        request: RequestRef,
        url: String,
        exclude: Vec<i64>,
        max_age: Option<u64>,
    },
    DownloadOverdueLater {
        request: RequestRef,
    },
    CancelDownload {
        request: RequestRef,
        download: i64,
        remove: bool,
    },
    CallCookies {
        request: RequestRef,
        function: CookieFunction,
        details: Vec<P>,
    },
    /// Put a tab into the one of these groups that is in its window, or into a new group.
    Group {
        tab: TabId,
        groups: Vec<GroupId>,
    },
    /// Take a tab out of its group if it is one of these. Chrome refuses while the user drags the
    /// tab.
    TryUngroup {
        tab: TabId,
        groups: Vec<GroupId>,
    },
    /// Read which group a tab is in. Events that Chrome sent before the answer come first.
    ReadGroup {
        tab: TabId,
    },
    /// Take a tab out of its group if it is one of these.
    Ungroup {
        tab: TabId,
        groups: Vec<GroupId>,
    },
    StopRenderingLater {
        tab: TabId,
        uses: u64,
    },
    /// Check after a short wait whether a screenshot still waits for a frame.
    ForceFrameLater {
        tab: TabId,
        request: RequestRef,
        /// The number of frames that have been forced already.
        forced: u32,
    },
    ShowToolbar {
        tab: TabId,
        state: ToolbarState,
    },
    /// Show a problem that concerns all tabs; `None` when it is solved.
    ShowProblem {
        text: Option<String>,
    },
    Persist(Snapshot<P>),
}

impl<P> Effect<P> {
    /// Makes a command of our own, whose answer is dropped.
    pub(crate) fn own_command(debuggee: Debuggee, method: &str, params: Option<P>) -> Self {
        Self::RunCommand { request: None, debuggee, method: method.to_owned(), params }
    }
}
