//! The sessions of one client. Each is the client's own, though several may share one session of the
//! extension.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use shared_protocol::SessionId;

use crate::cdp::payload::TargetInfo;
use crate::cdp::target_filter::Filter;
use crate::ids::{ClientSessionId, CommandNumber, ExtensionSessionId};
use crate::requests::deferred_replies::DeferredReplies;
use crate::settings::auto_attach::AutoAttach;
use crate::settings::interception::InterceptionPatterns;
use crate::settings::overrides::Overrides;
use crate::sharing::dom_breakpoints::DomBreakpoint;
use crate::sharing::screencast::WatchedScreencast;
use crate::sharing::scripts::ShortScripts;

/// The largest number of sessions that a client may have open.
pub(crate) const MAX_SESSIONS: usize = 2000;

#[derive(Debug)]
pub(crate) struct Sessions(BTreeMap<ClientSessionId, Session>);

#[derive(Debug)]
pub(crate) struct Session {
    /// The session on which this one was announced, and on which its end will be; `None` for the
    /// browser's root session.
    pub(crate) parent: Option<ClientSessionId>,
    /// True if auto-attach opened the session, and can detach it again.
    pub(crate) automatic: bool,
    /// `Target.setDiscoverTargets`: the targets that are reported on the session.
    pub(crate) discover: Option<Filter>,
    /// `Target.setAutoAttach`: the targets below it that become sessions.
    pub(crate) auto_attach: Option<AutoAttach>,
    /// `Browser.setDownloadBehavior`
    pub(crate) downloads: Option<DownloadBehavior>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// Attached to the browser that the relay pretends to be.
    Browser,
    /// Attached to the tab around a page, which the extension's session of the page names.
    Tab { page: ExtensionSessionId },
    /// Attached to a target, over the extension's session of it.
    Target(Box<TargetSession>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DownloadBehavior {
    /// The folder for files, which are stored under their download's id; `None` leaves them to the
    /// user's browser.
    pub(crate) folder: Option<PathBuf>,
    /// True if files are named by their download's id, not as the page suggests.
    pub(crate) named_by_guid: bool,
    pub(crate) deny: bool,
    pub(crate) events: bool,
}

/// A client session over an extension's session, which others may share: what it asked for is its own.
#[derive(Debug)]
pub(crate) struct TargetSession {
    /// The extension's session.
    pub(crate) extension_session: ExtensionSessionId,
    /// The domains whose events it gets.
    pub(crate) domains: BTreeSet<String>,
    /// True if the session gets `Page.lifecycleEvent`.
    pub(crate) lifecycle: bool,
    pub(crate) bindings: BTreeSet<String>,
    /// Scripts for new documents, by the ids Chrome gave them.
    pub(crate) scripts: BTreeSet<String>,
    /// Scripts that Chrome named later than their client, by the client's names.
    pub(crate) deferred_scripts: BTreeMap<String, String>,
    /// The breakpoints, by Chrome's ids.
    pub(crate) breakpoints: BTreeSet<String>,
    /// The DOM breakpoints that the session has set.
    pub(crate) dom_breakpoints: Vec<DomBreakpoint>,
    /// The short ones of its scripts; they tell which functions it exposes.
    pub(crate) short_scripts: ShortScripts,
    pub(crate) fetch: Option<InterceptionPatterns>,
    pub(crate) overrides: Overrides,
    pub(crate) screencast: Option<WatchedScreencast>,
    pub(crate) tracing: bool,
    /// True if the target waits for this session to let it run.
    pub(crate) holds_back: bool,
    /// True if the session was opened after the worker's script had been loaded.
    pub(crate) missed_script: bool,
    /// The number of the session's last command.
    pub(crate) last_active: CommandNumber,
    /// The replies that wait for an answer of Chrome's.
    pub(crate) replies: DeferredReplies,
}

impl Session {
    pub(crate) fn new(parent: Option<ClientSessionId>, kind: Kind) -> Self {
        Self { parent, automatic: false, discover: None, auto_attach: None, downloads: None, kind }
    }

    /// Returns the extension's session below it, if it is attached to a target.
    pub(crate) fn extension_session(&self) -> Option<&ExtensionSessionId> {
        self.kind.extension_session()
    }

    /// Returns whether it follows targets of this kind.
    pub(crate) fn follows(&self, info: &TargetInfo) -> bool {
        self.discover.as_ref().is_some_and(|filter| filter.admits(&info.kind))
    }

    /// Returns whether it is attached to the browser, and to all tabs that come.
    pub(crate) fn is_browser_with_auto_attach(&self) -> bool {
        matches!(self.kind, Kind::Browser) && self.auto_attach.is_some()
    }

    /// Returns whether it is attached to the tab around this page.
    pub(crate) fn is_tab_of(&self, wanted: &ExtensionSessionId) -> bool {
        match &self.kind {
            Kind::Tab { page } => page == wanted,
            Kind::Browser | Kind::Target(_) => false,
        }
    }
}

impl Kind {
    pub(crate) fn extension_session(&self) -> Option<&ExtensionSessionId> {
        match self {
            Self::Target(session) => Some(&session.extension_session),
            Self::Browser | Self::Tab { .. } => None,
        }
    }
}

impl TargetSession {
    pub(crate) fn new(extension_session: ExtensionSessionId) -> Self {
        Self {
            extension_session,
            domains: BTreeSet::new(),
            lifecycle: false,
            bindings: BTreeSet::new(),
            scripts: BTreeSet::new(),
            deferred_scripts: BTreeMap::new(),
            breakpoints: BTreeSet::new(),
            dom_breakpoints: Vec::new(),
            short_scripts: ShortScripts::default(),
            fetch: None,
            overrides: Overrides::default(),
            screencast: None,
            tracing: false,
            holds_back: false,
            missed_script: false,
            last_active: CommandNumber::default(),
            replies: DeferredReplies::default(),
        }
    }

    /// Returns whether it gets a domain's events, or will when it is its turn.
    pub(crate) fn wants_domain(&self, domain: &str) -> bool {
        self.domains.contains(domain) || self.replies.enable(domain)
    }

    /// Returns the domains that it uses, or will.
    pub(crate) fn wanted_domains(&self) -> BTreeSet<String> {
        self.domains.iter().chain(self.replies.domains()).cloned().collect()
    }
}

impl Sessions {
    /// A client that has nothing but its socket.
    pub(crate) fn new(root: Kind) -> Self {
        Self(BTreeMap::from([(ClientSessionId::Root, Session::new(None, root))]))
    }

    /// Opens a session under a name that is `wanted`, or close to it when that is taken. The number
    /// tells apart what several clients would call the same: some keep all sessions in one place.
    /// `None` when the client has as many as it may have.
    pub(crate) fn open(
        &mut self,
        wanted: &SessionId,
        number: &mut u64,
        session: Session,
    ) -> Option<SessionId> {
        if self.0.len() >= MAX_SESSIONS {
            return None;
        }
        let mut id = wanted.clone();
        while self.0.contains_key(&ClientSessionId::Opened(id.clone())) {
            *number += 1;
            id = SessionId::new(format!("{wanted}.{number}"));
        }
        self.0.insert(ClientSessionId::Opened(id.clone()), session);
        Some(id)
    }

    /// Closes a session and all below it; the lowest come first.
    pub(crate) fn close(&mut self, id: &ClientSessionId) -> Vec<(ClientSessionId, Session)> {
        let mut below: BTreeMap<ClientSessionId, Vec<ClientSessionId>> = BTreeMap::new();
        for (child, session) in &self.0 {
            if let Some(parent) = &session.parent {
                below.entry(parent.clone()).or_default().push(child.clone());
            }
        }
        let mut order = Vec::new();
        let mut open = vec![id.clone()];
        while let Some(id) = open.pop() {
            open.extend(below.remove(&id).unwrap_or_default());
            order.push(id);
        }
        order.iter().rev().filter_map(|id| self.0.remove_entry(id)).collect()
    }

    pub(crate) fn get(&self, id: &ClientSessionId) -> Option<&Session> {
        self.0.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &ClientSessionId) -> Option<&mut Session> {
        self.0.get_mut(id)
    }

    /// Returns the socket's own comes first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ClientSessionId, &Session)> {
        self.0.iter()
    }

    pub(crate) fn any(&self, wanted: impl Fn(&Session) -> bool) -> bool {
        self.0.values().any(wanted)
    }

    /// Returns the names of the sessions for which `wanted` holds.
    pub(crate) fn matching(&self, wanted: impl Fn(&Session) -> bool) -> Vec<ClientSessionId> {
        self.0.iter().filter(|(_, session)| wanted(session)).map(|(id, _)| id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_session_over_the_same_tab_gets_a_name_of_its_own() {
        let mut sessions = Sessions::new(Kind::Browser);
        let extension_session = SessionId::new("pw-tab-1");
        let mut number = 1;
        for expected in ["pw-tab-1", "pw-tab-1.2", "pw-tab-1.3"] {
            let opened = sessions.open(&extension_session, &mut number, session(None)).unwrap();
            assert_eq!(opened.as_str(), expected);
        }
    }

    #[test]
    fn closing_a_session_closes_those_below_it_first() {
        let mut sessions = Sessions::new(Kind::Browser);
        for (name, parent) in
            [("tab", None), ("frame", Some("tab")), ("worker", Some("frame")), ("other", None)]
        {
            sessions.open(&SessionId::new(name), &mut 0, session(parent)).unwrap();
        }
        let closed: Vec<_> = sessions.close(&opened("tab")).into_iter().map(|(id, _)| id).collect();
        assert_eq!(closed, ["worker", "frame", "tab"].map(opened));
        assert_eq!(sessions.iter().count(), 2, "the socket and the other one");
    }

    #[test]
    fn a_client_has_so_many_sessions_and_no_more() {
        let mut sessions = Sessions::new(Kind::Browser);
        let mut parent = ClientSessionId::Root;
        for number in 1..MAX_SESSIONS {
            let name = SessionId::new(number.to_string());
            let below = Session::new(Some(parent), Kind::Browser);
            sessions.open(&name, &mut 0, below).unwrap();
            parent = ClientSessionId::Opened(name);
        }
        assert_eq!(sessions.open(&SessionId::new("one more"), &mut 0, session(None)), None);
        assert_eq!(sessions.close(&ClientSessionId::Root).len(), MAX_SESSIONS, "however deep");
    }

    fn opened(id: &str) -> ClientSessionId {
        ClientSessionId::Opened(SessionId::new(id))
    }

    fn session(parent: Option<&str>) -> Session {
        Session::new(parent.map(opened), Kind::Browser)
    }
}
