//! The one classification of CDP events: what the relay learns from an event, whether later sessions hear
//! it again, and which sessions receive it.

use super::logged::Logged;

/// What the relay has to know of the events of one name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) followed: Followed,
    pub(crate) recorded: Recorded,
    /// Whether Chrome sends it once, to the first who enables its domain, so that it is recorded only
    /// while the domain is on.
    pub(crate) is_sent_once: bool,
    pub(crate) audience: Audience,
}

/// What the relay does on an event, before sessions receive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// Nothing.
    Not,
    /// It goes to nobody: no client depends on it, and it floods.
    Dropped,
    TargetAttached,
    TargetInfoChanged,
    TargetDetached,
    /// What Chrome tells a page's own session of other targets, the relay has told already.
    OtherTarget,
    Paused,
    FrameNavigated,
    NavigationBegan,
    DownloadBegan,
    DownloadProgressed,
    DialogOpened,
    DialogClosed,
    RequestPaused,
    Crashed,
    StoppedLoading,
    Reloaded,
}

/// What the relay keeps of an event for sessions that come later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// Nothing.
    Not,
    ContextCreated,
    ContextDestroyed,
    ContextsCleared,
    Resumed,
    WorkerScriptLoaded,
    /// The event, which is sent again.
    Replayed,
    StyleSheetRemoved,
}

/// Which of a target's sessions receive an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Those that have enabled its domain.
    Domain,
    All,
    /// Those that have added the binding that it names.
    Binding,
    Lifecycle,
    Screencast,
    /// Those that override this setting.
    Overriding(&'static str),
    /// Those that trace, at the end.
    TraceEnd,
    /// Those that trace.
    Trace,
}

/// A row of the table. The columns that it leaves out are those of its domain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    followed: Option<Followed>,
    recorded: Option<Recorded>,
    is_sent_once: Option<bool>,
    audience: Option<Audience>,
    pub(super) logged: Option<Logged>,
}

impl Event {
    /// Returns what the relay has to know of an event. Each column is that of the event's own row, else
    /// that of its domain, else the default.
    pub(crate) fn of(name: &str) -> Self {
        let domain = name.split('.').next().unwrap_or_default();
        let own = Self::row(name).copied().unwrap_or(ROW);
        let all = DOMAINS.iter().find(|(known, _)| *known == domain).map_or(ROW, |(_, row)| *row);
        Self {
            followed: own.followed.or(all.followed).unwrap_or(Followed::Not),
            recorded: own.recorded.unwrap_or(Recorded::Not),
            is_sent_once: own.is_sent_once.or(all.is_sent_once).unwrap_or(false),
            audience: own.audience.or(all.audience).unwrap_or(Audience::Domain),
        }
    }

    /// Returns the event's own row.
    pub(super) fn row(name: &str) -> Option<&'static Row> {
        let at = EVENTS.binary_search_by(|(event, _)| (*event).cmp(name)).ok()?;
        Some(&EVENTS[at].1)
    }
}

const ROW: Row =
    Row { followed: None, recorded: None, is_sent_once: None, audience: None, logged: None };

const SENT_ONCE: Row = Row { is_sent_once: Some(true), ..ROW };

const TYPED_IN_REQUEST: Logged = Logged::Without(&["request.postData", "request.postDataEntries"]);

const fn followed(followed: Followed) -> Row {
    Row { followed: Some(followed), ..ROW }
}

const fn recorded(recorded: Recorded) -> Row {
    Row { recorded: Some(recorded), ..ROW }
}

const fn to(audience: Audience) -> Row {
    Row { audience: Some(audience), ..ROW }
}

impl Row {
    const fn logged(self, logged: Logged) -> Self {
        Self { logged: Some(logged), ..self }
    }
}

/// Sorted by name.
static EVENTS: [(&str, Row); 37] = [
    ("Audits.issueAdded", recorded(Recorded::Replayed)),
    ("CSS.styleSheetAdded", recorded(Recorded::Replayed)),
    ("CSS.styleSheetRemoved", recorded(Recorded::StyleSheetRemoved)),
    ("Debugger.paused", followed(Followed::Paused)),
    ("Debugger.resumed", recorded(Recorded::Resumed)),
    ("Debugger.scriptFailedToParse", recorded(Recorded::Replayed)),
    ("Debugger.scriptParsed", recorded(Recorded::Replayed)),
    ("Fetch.authRequired", followed(Followed::RequestPaused).logged(TYPED_IN_REQUEST)),
    ("Fetch.requestPaused", followed(Followed::RequestPaused).logged(TYPED_IN_REQUEST)),
    ("Input.dragIntercepted", to(Audience::Overriding("Input.setInterceptDrags"))),
    ("Inspector.targetCrashed", followed(Followed::Crashed)),
    ("Inspector.targetReloadedAfterCrash", followed(Followed::Reloaded)),
    ("Inspector.workerScriptLoaded", recorded(Recorded::WorkerScriptLoaded)),
    ("Log.entryAdded", recorded(Recorded::Replayed)),
    ("Network.dataReceived", followed(Followed::Dropped)),
    ("Network.requestWillBeSent", ROW.logged(TYPED_IN_REQUEST)),
    ("Network.resourceChangedPriority", followed(Followed::Dropped)),
    ("Network.webSocketFrameSent", ROW.logged(Logged::Without(&["response.payloadData"]))),
    ("Page.downloadProgress", followed(Followed::DownloadProgressed)),
    ("Page.downloadWillBegin", followed(Followed::DownloadBegan)),
    ("Page.fileChooserOpened", to(Audience::Overriding("Page.setInterceptFileChooserDialog"))),
    ("Page.frameNavigated", followed(Followed::FrameNavigated)),
    ("Page.frameStartedNavigating", followed(Followed::NavigationBegan)),
    ("Page.frameStoppedLoading", followed(Followed::StoppedLoading)),
    (
        "Page.javascriptDialogClosed",
        followed(Followed::DialogClosed).logged(Logged::Without(&["userInput"])),
    ),
    ("Page.javascriptDialogOpening", followed(Followed::DialogOpened)),
    ("Page.lifecycleEvent", to(Audience::Lifecycle)),
    ("Page.screencastFrame", to(Audience::Screencast)),
    ("Page.screencastVisibilityChanged", to(Audience::Screencast)),
    ("Runtime.bindingCalled", to(Audience::Binding).logged(Logged::Without(&["payload"]))),
    ("Runtime.executionContextCreated", recorded(Recorded::ContextCreated)),
    ("Runtime.executionContextDestroyed", recorded(Recorded::ContextDestroyed)),
    ("Runtime.executionContextsCleared", recorded(Recorded::ContextsCleared)),
    ("Target.attachedToTarget", followed(Followed::TargetAttached)),
    ("Target.detachedFromTarget", followed(Followed::TargetDetached)),
    ("Target.targetInfoChanged", followed(Followed::TargetInfoChanged)),
    ("Tracing.tracingComplete", to(Audience::TraceEnd)),
];

static DOMAINS: [(&str, Row); 8] = [
    ("Audits", SENT_ONCE),
    ("CSS", SENT_ONCE),
    ("Debugger", SENT_ONCE),
    ("Inspector", to(Audience::All)),
    ("Log", SENT_ONCE),
    ("Runtime", SENT_ONCE),
    ("Target", followed(Followed::OtherTarget)),
    ("Tracing", to(Audience::Trace)),
];

#[cfg(test)]
mod tests {
    use shared_protocol::cdp_events::is_dropped;

    use super::*;

    #[test]
    fn the_table_is_sorted_and_names_each_event_once() {
        assert!(EVENTS.is_sorted_by(|(one, _), (next, _)| one < next));
    }

    #[test]
    fn the_extension_keeps_no_event_that_the_relay_drops() {
        for (name, row) in &EVENTS {
            assert_eq!(row.followed == Some(Followed::Dropped), is_dropped(name), "{name}");
        }
    }
}
