//! What the answer to a request is for.

use crate::cdp::Command;
use crate::cdp::method::Method;
use crate::ids::{CommandNumber, SessionRef};
use crate::requests::data_urls;
use crate::requests::rollback::Rollback;

/// What the relay does with the answer to a request, beyond passing it on.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// Nothing.
    Forward,
    /// It says whether Chrome takes a setting; if not, the earlier value is restored.
    ChangeSetting(Rollback),
    /// It ends something that runs the page's own code, which may open a dialog.
    RunsPage { opens_data: bool },
    /// It comes after the children that are there already.
    AutoAttach,
    /// It says whether the asker's trace runs.
    StartTrace,
    /// It says whether the dialog is answered.
    AnswerDialog,
    /// The end of its target is its success.
    CloseTarget,
    /// It comes from a page that took the place of one that was to close, and is to close as well.
    CloseAgain,
    /// It says whether a domain is on, also for those who asked meanwhile.
    Enable { domain: String, attempt: CommandNumber },
    /// It names a script that belongs to the asker.
    AddScript,
    /// It names a breakpoint that belongs to the asker.
    AddBreakpoint,
    /// It is the first tab, for clients that found none.
    InitialTab,
    /// As [`Purpose::InitialTab`], of an extension that announces it like any other tab.
    FirstTab,
    /// It is part of the cookies that a client may see.
    Cookies(CookieQuestion),
    /// As [`Purpose::Cookies`], in the words of `chrome.cookies`.
    CookieCalls(CookieCall),
    /// It describes a window in Chrome's words.
    Window(WindowStep),
    /// It says where a downloaded file is.
    Download(DownloadSearch),
    /// It says whether a file input is one for a folder.
    FileInput(Command),
    /// It says whether Chrome takes commands for the page that a tab shows. The last one counts.
    CheckRestricted { number: u64 },
    /// It is of a command that waited for that. A script belongs to a session that knows it by
    /// another name.
    DeferredCommand { script: Option<(SessionRef, String)> },
    /// It is of a navigation that is sent when the tab has left such a page.
    BlankPage,
}

impl Purpose {
    /// Returns what a command that is passed on as it is means.
    pub(crate) fn of(command: &Command) -> Self {
        if !Method::of(&command.method).runs_page {
            return Self::Forward;
        }
        Self::RunsPage { opens_data: data_urls::is_wanted_by(command) }
    }

    /// Returns whether the answer matters even when nobody waits for it any more.
    pub(crate) fn outlives_its_asker(&self) -> bool {
        match self {
            Self::Enable { .. }
            | Self::AddScript
            | Self::AddBreakpoint
            | Self::StartTrace
            | Self::CloseAgain
            | Self::CheckRestricted { .. }
            | Self::DeferredCommand { .. }
            | Self::InitialTab
            | Self::FirstTab => true,
            Self::Forward
            | Self::ChangeSetting(_)
            | Self::RunsPage { .. }
            | Self::AutoAttach
            | Self::AnswerDialog
            | Self::CloseTarget
            | Self::BlankPage
            | Self::FileInput(_)
            | Self::Cookies(_)
            | Self::CookieCalls(_)
            | Self::Window(_)
            | Self::Download(_) => false,
        }
    }
}

/// What is to be made of an answer about a window.
#[derive(Debug)]
pub(crate) enum WindowStep {
    /// `Browser.getWindowForTarget`
    Found,
    /// `Browser.getWindowBounds`
    Bounds,
    /// `Browser.setContentsSize`: the page is to be so large.
    Resize { width: Option<i64>, height: Option<i64> },
    /// `DOM.setFileInputFiles`, for a folder: its page is to be shown.
    Folder(Command),
    /// It was changed.
    Changed,
}

/// Why the extension was asked for a download.
#[derive(Debug, Clone)]
pub(crate) struct DownloadSearch {
    pub(crate) guid: String,
    pub(crate) reason: SearchReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchReason {
    /// Only to know which of Chrome's it is.
    Name,
    Copy,
    Cancel,
    Remove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CookieQueryId(pub(crate) u64);

/// Which part of a job a tab, or the extension, is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CookieQuestion {
    /// What the tab sees; without a tab, what the whole profile has.
    Visible(CookieQueryId),
    /// What is at the addresses where the client has set cookies.
    Own(CookieQueryId),
    /// What is at the addresses that the client asks about.
    Limit(CookieQueryId),
    /// To clear some.
    Cleared(CookieQueryId),
    /// To set some.
    Set(CookieQueryId),
}

impl CookieQuestion {
    pub(crate) fn job(self) -> CookieQueryId {
        match self {
            Self::Visible(job)
            | Self::Own(job)
            | Self::Limit(job)
            | Self::Cleared(job)
            | Self::Set(job) => job,
        }
    }
}

/// What the extension was asked for.
#[derive(Debug)]
pub(crate) struct CookieCall {
    pub(crate) question: CookieQuestion,
    /// The cookies that it was to set or to clear.
    pub(crate) names: Vec<String>,
}
