//! The one classification of CDP methods: who handles a command, and what else the relay has to know of
//! it. Every decision that depends on a method reads the table in `method/table.rs`.

mod table;

use shared_protocol::overrides::Override;

use super::logged::Logged;
use table::{METHODS, PATTERNS};

/// What the relay has to know of the commands of one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Method<'a> {
    name: &'a str,
    on_target: Option<OnTarget>,
    pub(crate) on_browser: OnBrowser,
    /// Whether it answers at once unless its tab is frozen. An evaluation or a navigation may rightly
    /// take for ever.
    pub(crate) is_quick: bool,
    /// Whether it runs the page's own code, which may open a dialog.
    pub(crate) runs_page: bool,
    on_refused_page: Option<OnRefusedPage>,
    pub(crate) confined: Confined,
}

/// Who handles a command on the session of a target.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OnTarget {
    /// Nobody: Chrome gets it as it is.
    Forward,
    /// It is the browser's wherever it is sent; see [`OnBrowser`].
    Browser,
    /// `settings` and `sharing/overrides.rs`: the values of all sessions are combined.
    Override(&'static Override),
    Enable,
    Disable,
    /// It makes Chrome enable the domain `DOM`.
    GetDocument,
    Lifecycle,
    AutoAttach,
    RunIfWaiting,
    EnableInterception,
    DisableInterception,
    Interception(InterceptionCommand),
    AddScript,
    RemoveScript,
    AddBinding,
    RemoveBinding,
    Breakpoint(BreakpointCommand),
    DomBreakpoint,
    Dialog,
    Screencast(ScreencastCommand),
    Fonts,
    BringToFront,
    StartTrace,
    EndTrace,
    Profile(ProfileCommand),
    Storage(StorageCommand),
    FileInput,
    Navigate,
    /// It is answered, and has no effect.
    Ignore,
}

/// Who handles a command on a session of the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnBrowser {
    /// Nobody: Chrome has no such command there.
    Unknown,
    CreateTarget,
    CloseTarget,
    ActivateTarget,
    Close,
    Window(WindowCommand),
    GrantPermissions,
    ResetPermissions,
    CancelDownload,
    /// `Tracing` and `IO`
    Stream,
    Profile(ProfileCommand),
    Storage(StorageCommand),
    Version,
    DownloadBehavior,
    AutoAttach,
    DiscoverTargets,
    Targets,
    TargetInfo,
    AttachToTarget,
    AttachToBrowser,
    DetachFromTarget,
    Contexts,
    DisposeContext,
    /// It is answered with nothing.
    Nothing,
    /// It fails, for this reason.
    Refuse(&'static str),
}

/// A command about breakpoints, or one that makes a paused page go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakpointCommand {
    Add,
    Remove,
    Pause,
    Resume,
}

/// A command about one request that `Fetch` has paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InterceptionCommand {
    /// The request goes on, perhaps changed.
    Continue,
    Authenticate,
    /// The request ends here.
    End,
    /// It leaves the request paused.
    Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreencastCommand {
    Start,
    Stop,
    Acknowledge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowCommand {
    Find,
    GetBounds,
    SetBounds,
    SetContentsSize,
}

/// A command that reaches beyond its page into the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProfileCommand {
    /// The cookies of all sites.
    GetCookies,
    /// The cookies of the sites that it names, or of the page.
    GetCookiesOfSites,
    SetCookies,
    DeleteCookies,
    ClearCookies,
    ClearDataOfOrigin,
    ClearDataOfStorageKey,
    /// All that the browser has of a kind.
    ClearBrowser,
}

/// A command of the `Storage` domain that stays within sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorageCommand {
    /// It names the sites that it is about.
    OfSites,
    /// It tells nothing of a site, or stops to tell of one.
    Harmless,
}

/// What becomes of a command that Chrome refuses because of the page that a tab shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnRefusedPage {
    Fail,
    /// It fails as an evaluation that throws.
    Throw,
    /// It is sent again from a blank page.
    Navigate,
    /// `chrome.tabs` closes the tab.
    Close,
    /// It only says how a page is to be from now on, so it waits for the next page.
    Wait,
}

/// How the command of a confined client is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confined {
    /// Not at all.
    Free,
    /// It may name a file or an address.
    Names,
    /// It adds a script for new documents, which is to run in those alone that the client may see.
    Guard,
    /// It fails if its parameters mention a name, for a reason.
    RefuseIf(&'static str, &'static str),
    /// It fails, for a reason.
    Refuse(&'static str),
}

/// A row of the table. The columns that it leaves out are those of the patterns that the name fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    on_target: Option<OnTarget>,
    on_browser: Option<OnBrowser>,
    is_quick: Option<bool>,
    runs_page: Option<bool>,
    on_refused_page: Option<OnRefusedPage>,
    confined: Option<Confined>,
    pub(super) logged: Option<Logged>,
}

/// The methods of one domain, or of all, that fit.
#[derive(Debug)]
struct Pattern {
    /// `None` for any domain.
    domain: Option<&'static str>,
    commands: Commands,
    row: Row,
}

#[derive(Debug)]
enum Commands {
    All,
    Named(&'static str),
    /// Those that begin and end like this.
    Like(&'static str, &'static str),
}

impl<'a> Method<'a> {
    /// Returns what the relay has to know of a method. Each column is that of the method's own row, else
    /// that of the first pattern that has it, else the default.
    pub(crate) fn of(name: &'a str) -> Self {
        let own = Self::row(name).copied().unwrap_or(Row::EMPTY);
        let row = PATTERNS
            .iter()
            .filter(|pattern| pattern.fits(name))
            .fold(own, |row, pattern| row.or(&pattern.row));
        Self {
            name,
            on_target: row.on_target,
            on_browser: row.on_browser.unwrap_or(OnBrowser::Unknown),
            is_quick: row.is_quick.unwrap_or(false),
            runs_page: row.runs_page.unwrap_or(false),
            on_refused_page: row.on_refused_page,
            confined: row.confined.unwrap_or(Confined::Free),
        }
    }

    /// Returns who handles a command on the session of a target.
    pub(crate) fn on_target(self) -> OnTarget {
        let of_override = || Override::of(self.name).map_or(OnTarget::Forward, OnTarget::Override);
        self.on_target.unwrap_or_else(of_override)
    }

    /// Returns what becomes of a command that Chrome refuses because of the page. An override is of
    /// the next page, too.
    pub(crate) fn on_refused_page(self) -> OnRefusedPage {
        self.on_refused_page.unwrap_or_else(|| match Override::of(self.name) {
            Some(_) => OnRefusedPage::Wait,
            None => OnRefusedPage::Fail,
        })
    }

    /// Returns the method's own row.
    pub(super) fn row(name: &str) -> Option<&'static Row> {
        let at = METHODS.binary_search_by(|(method, _)| (*method).cmp(name)).ok()?;
        Some(&METHODS[at].1)
    }
}

impl Row {
    const EMPTY: Self = Self {
        on_target: None,
        on_browser: None,
        is_quick: None,
        runs_page: None,
        on_refused_page: None,
        confined: None,
        logged: None,
    };

    const fn on_target(self, on_target: OnTarget) -> Self {
        Self { on_target: Some(on_target), ..self }
    }

    const fn on_browser(self, on_browser: OnBrowser) -> Self {
        Self { on_browser: Some(on_browser), ..self }
    }

    const fn quick(self) -> Self {
        Self { is_quick: Some(true), ..self }
    }

    const fn runs_page(self) -> Self {
        Self { runs_page: Some(true), ..self }
    }

    const fn on_refused_page(self, on_refused_page: OnRefusedPage) -> Self {
        Self { on_refused_page: Some(on_refused_page), ..self }
    }

    const fn confined(self, confined: Confined) -> Self {
        Self { confined: Some(confined), ..self }
    }

    const fn logged(self, logged: Logged) -> Self {
        Self { logged: Some(logged), ..self }
    }

    /// The columns of this row, and those of another where this row has none.
    fn or(self, other: &Self) -> Self {
        Self {
            on_target: self.on_target.or(other.on_target),
            on_browser: self.on_browser.or(other.on_browser),
            is_quick: self.is_quick.or(other.is_quick),
            runs_page: self.runs_page.or(other.runs_page),
            on_refused_page: self.on_refused_page.or(other.on_refused_page),
            confined: self.confined.or(other.confined),
            logged: self.logged.or(other.logged),
        }
    }
}

impl Pattern {
    fn fits(&self, method: &str) -> bool {
        let Some((domain, command)) = method.split_once('.') else { return false };
        self.domain.is_none_or(|own| own == domain)
            && match self.commands {
                Commands::All => true,
                Commands::Named(name) => command == name,
                Commands::Like(start, end) => command.starts_with(start) && command.ends_with(end),
            }
    }
}
