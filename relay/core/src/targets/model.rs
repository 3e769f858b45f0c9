//! The targets of one extension, as Chrome has them: tabs, and the children of tabs.

use std::time::Instant;

use shared_protocol::{Extra, TargetId};

use crate::cdp::payload::TargetInfo;
use crate::confinement::is_web;
use crate::ids::{ClientId, ExtensionSessionId, SessionRef};
use crate::sharing::target_state::TargetState;
use crate::targets::restricted::Restriction;

/// Targets in the order in which they were attached.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

/// One session of an extension, and the target to which it is attached.
#[derive(Debug)]
pub(crate) struct Target {
    /// The extension's name for the session.
    pub(crate) session: ExtensionSessionId,
    /// `None` for a tab.
    pub(crate) parent: Option<ExtensionSessionId>,
    pub(crate) info: TargetInfo,
    /// The origin that a client takes it to, until something has been loaded.
    pub(crate) destination: Option<String>,
    /// True if the document that the target has loaded is from the web.
    pub(crate) is_on_web: bool,
    /// Whether it has begun to load a file, and has not shown the file yet.
    pub(crate) goes_to_file: bool,
    /// The tab around a page, which only some clients look at.
    pub(crate) tab: Option<TargetId>,
    /// True if the target answers nothing because it has crashed.
    pub(crate) is_crashed: bool,
    /// The instant until which the target may be kept from running, if it is.
    pub(crate) waits_until: Option<Instant>,
    /// The instant until which a page that comes into the target is closed as well, if the target was
    /// told to close.
    pub(crate) closes_until: Option<Instant>,
    /// The restriction, if the target is known to show a page for which Chrome takes no commands.
    pub(crate) restriction: Option<Restriction>,
    /// True while a client navigates the target from such a page to another. A client that attached
    /// in the middle of that would be asked about requests whose beginning it has not heard of.
    pub(crate) is_leaving_page: bool,
    /// Sessions that follow targets and have not been told of this one, which would answer nothing.
    pub(crate) hidden_from: Vec<SessionRef>,
    /// The client sessions over it, oldest first.
    pub(crate) sessions: Vec<SessionRef>,
    pub(crate) state: TargetState,
}

impl Target {
    pub(crate) fn new(
        session: ExtensionSessionId,
        parent: Option<ExtensionSessionId>,
        info: TargetInfo,
    ) -> Self {
        Self {
            session,
            parent,
            destination: None,
            is_on_web: is_web(&info.url),
            goes_to_file: false,
            info,
            tab: None,
            is_crashed: false,
            waits_until: None,
            closes_until: None,
            restriction: None,
            is_leaving_page: false,
            hidden_from: Vec::new(),
            sessions: Vec::new(),
            state: TargetState::default(),
        }
    }

    /// Returns whether what comes into it in this moment is closed.
    pub(crate) fn is_closing(&self, now: Instant) -> bool {
        self.closes_until.is_some_and(|until| now < until)
    }

    /// Returns whether it shows the web, by what it has loaded and by what the user is told: an address
    /// that was typed is told before anything of it has come.
    pub(crate) fn shows_web(&self) -> bool {
        self.is_on_web && !self.goes_to_file && is_web(&self.info.url)
    }

    /// Returns whether it is a worker target of any kind, or a worklet.
    pub(crate) fn is_worker(&self) -> bool {
        ["worker", "worklet"].iter().any(|kind| self.info.kind.ends_with(kind))
    }

    pub(crate) fn is_service_worker(&self) -> bool {
        self.info.kind == "service_worker"
    }

    /// Returns the tab around a page, as a target.
    pub(crate) fn tab_info(&self) -> Option<TargetInfo> {
        let (target_id, kind) = (self.tab.clone()?, "tab".to_owned());
        Some(TargetInfo {
            target_id,
            kind,
            opener_id: None,
            extra: Extra::default(),
            ..self.info.clone()
        })
    }

    /// Returns whether a page opened it.
    pub(crate) fn is_popup(&self) -> bool {
        self.parent.is_none() && self.info.opener_id.is_some()
    }

    /// Returns whether a client had better not look at it: it answers nothing and is not the
    /// client's yet.
    pub(crate) fn is_blocked_for(&self, client: ClientId) -> bool {
        self.is_unresponsive()
            && !self.sessions.iter().any(|session_ref| session_ref.client == client)
    }

    /// Forgets a client from whom it was kept.
    pub(crate) fn unhide_from(&mut self, client: ClientId) {
        self.hidden_from.retain(|session_ref| session_ref.client != client);
    }

    /// Keeps one who begins to follow targets from it until it answers.
    pub(crate) fn hide_from(&mut self, session_ref: &SessionRef) {
        if self.is_unresponsive() && !self.hidden_from.contains(session_ref) {
            self.hidden_from.push(session_ref.clone());
        }
    }

    /// Returns whether it answers nothing for now.
    pub(crate) fn is_unresponsive(&self) -> bool {
        self.state.dialog.is_some() || self.restriction.is_some() || self.is_leaving_page
    }
}

impl Targets {
    /// Returns whether a target and all around it show the web.
    pub(crate) fn is_web(&self, target: &Target) -> bool {
        let mut target = target;
        loop {
            if !target.shows_web() {
                return false;
            }
            match target.parent.as_ref().and_then(|parent| self.by_session(parent)) {
                Some(parent) => target = parent,
                None => return true,
            }
        }
    }

    /// Adds a target whose session is new.
    pub(crate) fn add(&mut self, target: Target) {
        self.0.push(target);
    }

    /// Removes a session and all below it; what was attached last comes first.
    pub(crate) fn detach(&mut self, session: &ExtensionSessionId) -> Vec<Target> {
        let mut gone = vec![session.clone()];
        for target in &self.0 {
            if target.parent.as_ref().is_some_and(|parent| gone.contains(parent)) {
                gone.push(target.session.clone());
            }
        }
        let mut removed: Vec<Target> =
            self.0.extract_if(.., |target| gone.contains(&target.session)).collect();
        removed.reverse();
        removed
    }

    pub(crate) fn by_session(&self, session: &ExtensionSessionId) -> Option<&Target> {
        self.0.iter().find(|target| &target.session == session)
    }

    pub(crate) fn by_session_mut(&mut self, session: &ExtensionSessionId) -> Option<&mut Target> {
        self.0.iter_mut().find(|target| &target.session == session)
    }

    pub(crate) fn by_target_id(&self, id: &TargetId) -> Option<&Target> {
        self.0.iter().find(|target| &target.info.target_id == id)
    }

    /// Returns the page in a tab that is known to clients by this id.
    pub(crate) fn by_tab_id(&self, id: &TargetId) -> Option<&Target> {
        self.0.iter().find(|target| target.tab.as_ref() == Some(id))
    }

    /// Returns the page that a frame is in, however deep; itself, if it is one.
    pub(crate) fn page_around(&self, session: &ExtensionSessionId) -> Option<&Target> {
        let mut target = self.by_session(session)?;
        while let Some(parent) = &target.parent {
            if target.info.kind != "iframe" {
                return None;
            }
            target = self.by_session(parent)?;
        }
        Some(target)
    }

    pub(crate) fn children_of<'a>(
        &'a self,
        parent: &'a ExtensionSessionId,
    ) -> impl Iterator<Item = &'a Target> {
        self.0.iter().filter(move |target| target.parent.as_ref() == Some(parent))
    }

    /// Returns the children of a session, and theirs.
    pub(crate) fn below<'a>(&'a self, session: &'a ExtensionSessionId) -> Vec<&'a Target> {
        let mut below: Vec<&Target> = self.children_of(session).collect();
        let mut next = 0;
        while let Some(child) = below.get(next) {
            below.extend(self.children_of(&child.session));
            next += 1;
        }
        below
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Target> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        self.0.iter_mut()
    }

    /// Returns the pages that a user put under control, oldest first.
    pub(crate) fn tabs(&self) -> impl Iterator<Item = &Target> {
        self.0.iter().filter(|target| target.parent.is_none())
    }

    /// Returns the pages that can be asked something.
    pub(crate) fn living_tabs(&self) -> impl Iterator<Item = &Target> {
        self.tabs().filter(|tab| !tab.is_crashed && tab.restriction.is_none())
    }

    /// Service workers, each once, however many pages Chrome told of them.
    pub(crate) fn service_workers(&self) -> impl Iterator<Item = &Target> {
        self.0.iter().filter(|target| target.is_service_worker() && self.is_first(target))
    }

    /// Returns whether no older session is attached to the same target.
    pub(crate) fn is_first(&self, target: &Target) -> bool {
        self.by_target_id(&target.info.target_id)
            .is_some_and(|first| first.session == target.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{Extra, SessionId};

    #[test]
    fn detaching_a_tab_takes_its_children_with_it_and_they_go_first() {
        let mut targets = Targets::default();
        targets.add(target("tab-1", None, "page"));
        targets.add(target("tab-2", None, "page"));
        targets.add(target("frame", Some("tab-1"), "iframe"));
        targets.add(target("worker-in-frame", Some("frame"), "worker"));
        let gone: Vec<_> = targets.detach(&id("tab-1")).into_iter().map(|t| t.session).collect();
        assert_eq!(gone, ["worker-in-frame", "frame", "tab-1"].map(id));
        assert_eq!(targets.tabs().count(), 1);
    }

    #[test]
    fn a_service_worker_of_two_pages_is_one() {
        let mut targets = Targets::default();
        for (session, parent) in [("of 1", "tab-1"), ("of 2", "tab-2")] {
            let mut worker = target(session, Some(parent), "service_worker");
            worker.info.target_id = TargetId::new("W");
            targets.add(worker);
        }
        let seen: Vec<_> =
            targets.service_workers().map(|t| t.session.on_wire().as_str()).collect();
        assert_eq!(seen, ["of 1"]);
    }

    fn id(text: &str) -> ExtensionSessionId {
        ExtensionSessionId::new(SessionId::new(text))
    }

    fn target(session: &str, parent: Option<&str>, kind: &str) -> Target {
        let info = TargetInfo {
            target_id: TargetId::new(format!("target of {session}")),
            kind: kind.to_owned(),
            title: String::new(),
            url: "about:blank".to_owned(),
            attached: true,
            opener_id: None,
            can_access_opener: false,
            browser_context_id: None,
            extra: Extra::default(),
        };
        Target::new(id(session), parent.map(id), info)
    }
}
