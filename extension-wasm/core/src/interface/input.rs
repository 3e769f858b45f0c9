//! The inputs: what the shell tells the machine.

use shared_protocol::{
    BrowserWindow, CookieAnswers, ExtensionHello, FoundDownload, RelayMessage, SessionId, TabId,
    TargetInfo,
};

use super::{
    Attempt, GroupId, HelloAnswer, ProofFailure, RequestRef, Snapshot, StoredKey, WindowId,
};

/// Something that happened outside of the machine.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input<P> {
    /// The settings and the snapshot of an earlier worker have been read. Inputs that come before
    /// this one wait for it.
    Started {
        settings: Settings,
        hello: Box<ExtensionHello>,
        snapshot: Box<Snapshot<P>>,
    },
    SettingsChanged(Settings),
    KeyRead {
        attempt: Attempt,
        stored: StoredKey,
    },
    /// The user has pasted a pairing code, and the extension has a new key.
    KeyChanged,
    HelloAnswered {
        attempt: Attempt,
        answer: HelloAnswer,
    },
    /// The program at the relay's port has not proven itself.
    RelayUnproven {
        attempt: Attempt,
        why: ProofFailure,
    },
    Probed {
        attempt: Attempt,
        found: bool,
    },
    StatusAnswered {
        attempt: Attempt,
        is_taken: bool,
    },
    SocketOpened {
        attempt: Attempt,
    },
    SocketClosed {
        attempt: Attempt,
        code: u16,
    },
    /// The time has come to look for the relay again.
    RetryDue {
        attempt: Attempt,
    },
    /// An older relay has forwarded all replies.
    OldRelayDrained,
    /// The relay has been gone for long.
    RelayGivenUp {
        attempt: Attempt,
    },
    AlarmRang,
    RelaySent {
        attempt: Attempt,
        message: RelayMessage<P>,
    },
    RelaySentGarbage {
        attempt: Attempt,
        why: String,
    },
    IconClicked {
        tab: TabId,
    },
    ReleaseAll,
    Attached {
        tab: TabId,
        outcome: Result<TargetInfo<P>, String>,
    },
    /// The debugger is attached, but the page has not answered yet.
    TabUnresponsive {
        tab: TabId,
        reason: Unresponsive,
    },
    /// The window is given if it is the separate window.
    TabCreated {
        request: RequestRef,
        outcome: Result<(TabId, Option<WindowId>), String>,
    },
    /// Chrome forgets a tab's icon when the tab navigates.
    TabNavigated {
        tab: TabId,
    },
    TabRegrouped {
        tab: TabId,
        group: Option<GroupId>,
    },
    /// The outcome of [`Effect::TryUngroup`](super::Effect::TryUngroup); `None` if the tab has left
    /// the group by itself.
    UngroupTried {
        tab: TabId,
        is_dragged: Option<bool>,
    },
    GroupRead {
        tab: TabId,
        group: Option<GroupId>,
    },
    /// The tab has moved to another window.
    TabMoved {
        tab: TabId,
    },
    TabRemoved {
        tab: TabId,
    },
    TabReplaced {
        tab: TabId,
        by: TabId,
    },
    GroupRemoved {
        group: GroupId,
    },
    WindowRemoved {
        window: WindowId,
    },
    PopupOpened {
        tab: TabId,
        opener: TabId,
        url: String,
    },
    /// `None` if the tab stayed in a group of the user's, or could not be grouped.
    Grouped {
        group: Option<GroupId>,
    },
    Detached {
        tab: TabId,
    },
    TargetInfoRead {
        tab: TabId,
        info: TargetInfo<P>,
    },
    DebuggerEvent {
        tab: TabId,
        session: Option<SessionId>,
        method: String,
        params: P,
    },
    DebuggerDetached {
        tab: TabId,
        reason: String,
    },
    TabChecked {
        tab: TabId,
        exists: bool,
    },
    CommandDone {
        request: RequestRef,
        outcome: Result<P, String>,
    },
    WindowRead {
        request: RequestRef,
        outcome: Result<BrowserWindow<P>, String>,
    },
    DownloadSearched {
        request: RequestRef,
        outcome: Result<FoundDownload<P>, String>,
    },
    DownloadChanged,
    DownloadOverdue {
        request: RequestRef,
    },
    CookiesAnswered {
        request: RequestRef,
        answers: CookieAnswers<P>,
    },
    /// A call to Chrome that has no result is done, or has failed.
    Done {
        request: RequestRef,
        outcome: Result<(), String>,
    },
    StopRenderingDue {
        tab: TabId,
        uses: u64,
    },
    ForceFrameDue {
        tab: TabId,
        request: RequestRef,
        forced: u32,
    },
    ToolbarShown {
        tab: TabId,
    },
}

/// The settings that the user can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The relay's port, if the user has set one.
    pub port: Option<u16>,
    /// True if controlled tabs are put into a group.
    pub tab_groups: bool,
}

/// The reason why a tab does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unresponsive {
    /// Chrome has discarded the tab, and loads it again when the user looks at it.
    Discarded,
    /// The tab has another page under way, and is too busy to show it.
    Loading,
    /// The page shows a dialog, or its script runs without a pause.
    Blocked,
}
