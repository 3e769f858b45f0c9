//! What the machine is told.

use shared_protocol::{
    BrowserWindow, CookieAnswers, ExtensionHello, FoundDownload, RelayMessage, SessionId, TabId,
    TargetInfo,
};

use super::{
    Attempt, GroupId, HelloAnswer, ProofFailure, RequestRef, Snapshot, StoredKey, WindowId,
};

/// What happened outside.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input<P> {
    /// The settings, and what an earlier worker left, have been read. Whatever came before waits
    /// for this.
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
    /// The user has pasted a code, and there is a key.
    KeyChanged,
    HelloAnswered {
        attempt: Attempt,
        answer: HelloAnswer,
    },
    /// What listens was not believed.
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
    /// Time to look for the relay again.
    RetryDue {
        attempt: Attempt,
    },
    /// An older relay has passed an answer on.
    OldRelayDrained,
    /// The relay has been away for long.
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
    /// With the window, if one was opened for it.
    TabCreated {
        request: RequestRef,
        outcome: Result<(TabId, Option<WindowId>), String>,
    },
    /// Chrome forgets a tab's icon when it navigates.
    TabNavigated {
        tab: TabId,
    },
    TabRegrouped {
        tab: TabId,
        group: Option<GroupId>,
    },
    /// What came of [`Effect::TryUngroup`](super::Effect::TryUngroup).
    /// `None` if the tab has left the group by itself.
    UngroupTried {
        tab: TabId,
        is_dragged: Option<bool>,
    },
    GroupRead {
        tab: TabId,
        group: Option<GroupId>,
    },
    /// Into another window.
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
    /// What the relay asked Chrome for, and there is nothing to tell of.
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

/// What the user can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Where the relay listens, if the user has said so.
    pub port: Option<u16>,
    /// Whether controlled tabs are put into a group.
    pub tab_groups: bool,
}

/// Why a tab does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unresponsive {
    /// Chrome put it to sleep, and wakes it when somebody looks at it.
    Discarded,
    /// It shows a dialog, or is at work without a pause.
    Blocked,
}
