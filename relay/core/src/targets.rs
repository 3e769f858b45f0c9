//! The targets of one extension, as Chrome has them: tabs, and the children of tabs.

use std::time::Instant;

use shared_protocol::{SessionId, TargetId};

use super::confinement::is_web;
use super::restricted::Restriction;
use super::sessions::Seat;
use super::shared::Shared;
use crate::payload::TargetInfo;

/// Targets in the order in which they were attached.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

/// One real CDP session of an extension, and what it is attached to.
#[derive(Debug)]
pub(crate) struct Target {
    /// The extension's name for the session.
    pub(crate) session: SessionId,
    /// `None` for a tab.
    pub(crate) parent: Option<SessionId>,
    pub(crate) info: TargetInfo,
    /// The origin that a client takes it to, until something has been loaded.
    pub(crate) heading: Option<String>,
    /// Whether what it has loaded is from the web.
    pub(crate) is_on_web: bool,
    /// Whether it has begun to load a file, and has not shown it yet.
    pub(crate) goes_to_file: bool,
    /// The tab around a page, which only some clients look at.
    pub(crate) tab: Option<TargetId>,
    /// Whether it answers nothing because it has crashed.
    pub(crate) is_crashed: bool,
    /// Until when it may be kept from running, if it is.
    pub(crate) waits_until: Option<Instant>,
    /// Until when a page that comes into it is closed as well, if it was told to close.
    pub(crate) closes_until: Option<Instant>,
    /// Whether it shows a page for which Chrome takes no commands, as far as is known.
    pub(crate) restriction: Option<Restriction>,
    /// Whether a client takes it from such a page to another. One that came into the middle of that
    /// would be asked about requests whose beginning it has not heard of.
    pub(crate) is_departing: bool,
    /// Who follows targets and has not been told of this one, which would answer nothing.
    pub(crate) hidden_from: Vec<Seat>,
    /// The client sessions that stand on it, oldest first.
    pub(crate) seats: Vec<Seat>,
    pub(crate) shared: Shared,
}

impl Target {
    pub(crate) fn new(session: SessionId, parent: Option<SessionId>, info: TargetInfo) -> Self {
        Self {
            session,
            parent,
            heading: None,
            is_on_web: is_web(&info.url),
            goes_to_file: false,
            info,
            tab: None,
            is_crashed: false,
            waits_until: None,
            closes_until: None,
            restriction: None,
            is_departing: false,
            hidden_from: Vec::new(),
            seats: Vec::new(),
            shared: Shared::default(),
        }
    }

    /// Whether what comes into it in this moment is closed.
    pub(crate) fn is_closing(&self, now: Instant) -> bool {
        self.closes_until.is_some_and(|until| now < until)
    }

    pub(crate) fn is_worker(&self) -> bool {
        ["worker", "worklet"].iter().any(|kind| self.info.kind.ends_with(kind))
    }

    pub(crate) fn is_service_worker(&self) -> bool {
        self.info.kind == "service_worker"
    }
}

impl Targets {
    /// Adds a target whose session is new.
    pub(crate) fn add(&mut self, target: Target) {
        self.0.push(target);
    }

    /// Removes a session and all below it; what was attached last comes first.
    pub(crate) fn detach(&mut self, session: &SessionId) -> Vec<Target> {
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

    pub(crate) fn by_session(&self, session: &SessionId) -> Option<&Target> {
        self.0.iter().find(|target| &target.session == session)
    }

    pub(crate) fn by_session_mut(&mut self, session: &SessionId) -> Option<&mut Target> {
        self.0.iter_mut().find(|target| &target.session == session)
    }

    pub(crate) fn by_target_id(&self, id: &TargetId) -> Option<&Target> {
        self.0.iter().find(|target| &target.info.target_id == id)
    }

    /// The page in a tab that is known to clients by this id.
    pub(crate) fn by_tab_id(&self, id: &TargetId) -> Option<&Target> {
        self.0.iter().find(|target| target.tab.as_ref() == Some(id))
    }

    /// The page that a frame is in, however deep; itself, if it is one.
    pub(crate) fn page_around(&self, session: &SessionId) -> Option<&Target> {
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
        parent: &'a SessionId,
    ) -> impl Iterator<Item = &'a Target> {
        self.0.iter().filter(move |target| target.parent.as_ref() == Some(parent))
    }

    /// The children of a session, and theirs.
    pub(crate) fn below<'a>(&'a self, session: &'a SessionId) -> Vec<&'a Target> {
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

    /// The pages that a user put under control, oldest first.
    pub(crate) fn tabs(&self) -> impl Iterator<Item = &Target> {
        self.0.iter().filter(|target| target.parent.is_none())
    }

    /// The pages that can be asked something.
    pub(crate) fn living_tabs(&self) -> impl Iterator<Item = &Target> {
        self.tabs().filter(|tab| !tab.is_crashed && tab.restriction.is_none())
    }

    /// Service workers, each once, however many pages Chrome told of them.
    pub(crate) fn service_workers(&self) -> impl Iterator<Item = &Target> {
        self.0.iter().filter(|target| target.is_service_worker() && self.is_first(target))
    }

    /// Whether no older session is attached to the same target.
    pub(crate) fn is_first(&self, target: &Target) -> bool {
        self.by_target_id(&target.info.target_id)
            .is_some_and(|first| first.session == target.session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::Extra;

    #[test]
    fn detaching_a_tab_takes_its_children_with_it_and_they_go_first() {
        let mut targets = Targets::default();
        targets.add(target("tab-1", None, "page"));
        targets.add(target("tab-2", None, "page"));
        targets.add(target("frame", Some("tab-1"), "iframe"));
        targets.add(target("worker-in-frame", Some("frame"), "worker"));
        let gone: Vec<_> =
            targets.detach(&SessionId::new("tab-1")).into_iter().map(|t| t.session).collect();
        assert_eq!(gone, ["worker-in-frame", "frame", "tab-1"].map(SessionId::new));
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
        let seen: Vec<_> = targets.service_workers().map(|t| t.session.as_str()).collect();
        assert_eq!(seen, ["of 1"]);
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
        Target::new(SessionId::new(session), parent.map(SessionId::new), info)
    }
}
