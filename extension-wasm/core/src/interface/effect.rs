//! What the machine wants done.

use std::time::Duration;

use shared_protocol::{
    CookieFunction, ExtensionHello, ExtensionMessage, PermissionName, PermissionRule, TabId,
    WindowState,
};

use super::{
    Attempt, Bounds, Debuggee, GroupId, PairingKey, Place, RequestRef, Snapshot, ToolbarState,
    WindowId, WindowRef,
};

/// What the shell must do now, in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effect<P> {
    /// See whether a relay listens; a failed WebSocket would be an error in the user's console.
    Probe {
        attempt: Attempt,
        port: u16,
    },
    /// See whether the relay serves another extension.
    AskStatus {
        attempt: Attempt,
        port: u16,
    },
    /// Read the key anew: it may have been replaced.
    ReadKey {
        attempt: Attempt,
    },
    /// Ask who listens, without saying who asks.
    AskHello {
        attempt: Attempt,
        port: u16,
    },
    /// With a key, nothing is said before the other side has proven itself.
    OpenSocket {
        attempt: Attempt,
        port: u16,
        hello: ExtensionHello,
        key: Option<PairingKey>,
    },
    /// Keep that there is a key, should it be gone one day.
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
    /// A released relay passes on events before an answer that comes with them: wait until it has
    /// passed the answer on.
    AwaitOldRelay {
        port: u16,
    },
    Send(ExtensionMessage<P>),
    /// Attach the debugger and ask what it is attached to.
    Attach {
        tab: TabId,
    },
    Detach {
        tab: TabId,
    },
    /// Ask again what a tab shows; no answer is no news.
    ReadTargetInfo {
        tab: TabId,
    },
    /// See whether a tab is still there.
    CheckTab {
        tab: TabId,
    },
    /// As [`Effect::CheckTab`], after a while.
    ReattachLater {
        tab: TabId,
        wait: Duration,
    },
    /// Without a ticket, nobody wants the answer.
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
    /// The one thing that takes the user's focus.
    ActivateTab {
        request: RequestRef,
        tab: TabId,
    },
    /// Forget what was set of these, then set the rules. Without a ticket, nobody asked.
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
    /// Put a tab into that of these groups which is in its window, or into a new one.
    Group {
        tab: TabId,
        groups: Vec<GroupId>,
    },
    /// Take a tab out of its group if it is one of these, which fails while the user drags it.
    TryUngroup {
        tab: TabId,
        groups: Vec<GroupId>,
    },
    /// See which group a tab is in. By the time of the answer, what it did has been told.
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
    /// See before long whether a screenshot still waits for a frame.
    ForceFrameLater {
        tab: TabId,
        request: RequestRef,
        /// How often it was drawn for already.
        forced: u32,
    },
    ShowToolbar {
        tab: TabId,
        state: ToolbarState,
    },
    /// Show what concerns all tabs; `None` when it is over.
    ShowProblem {
        text: Option<String>,
    },
    Persist(Snapshot<P>),
}
