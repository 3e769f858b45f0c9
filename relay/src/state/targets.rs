//! The targets of one extension, as Chrome has them: tabs, and the children of tabs.

use shared_protocol::{SessionId, TargetId};

use crate::payload::TargetInfo;

/// Targets in the order in which they were attached.
#[derive(Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

/// One real CDP session of an extension, and what it is attached to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    /// The extension's name for the session.
    pub(crate) session: SessionId,
    /// `None` for a tab.
    pub(crate) parent: Option<SessionId>,
    pub(crate) info: TargetInfo,
}

impl Targets {
    /// Adds a target, or renews one whose session is known already.
    pub(crate) fn attach(&mut self, target: Target) {
        match self.0.iter_mut().find(|known| known.session == target.session) {
            Some(known) => *known = target,
            None => self.0.push(target),
        }
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

    pub(crate) fn by_target_id_mut(&mut self, id: &TargetId) -> Option<&mut Target> {
        self.0.iter_mut().find(|target| &target.info.target_id == id)
    }

    pub(crate) fn by_target_id(&self, id: &TargetId) -> Option<&Target> {
        self.0.iter().find(|target| &target.info.target_id == id)
    }

    pub(crate) fn children_of<'a>(
        &'a self,
        parent: &'a SessionId,
    ) -> impl Iterator<Item = &'a Target> {
        self.0.iter().filter(move |target| target.parent.as_ref() == Some(parent))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Target> {
        self.0.iter()
    }

    /// The pages that a user put under control, oldest first.
    pub(crate) fn tabs(&self) -> impl Iterator<Item = &Target> {
        self.0.iter().filter(|target| target.parent.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::Extra;

    #[test]
    fn detaching_a_tab_takes_its_children_with_it_and_they_go_first() {
        let mut targets = Targets::default();
        targets.attach(target("tab-1", None));
        targets.attach(target("tab-2", None));
        targets.attach(target("frame", Some("tab-1")));
        targets.attach(target("worker-in-frame", Some("frame")));
        let gone: Vec<_> =
            targets.detach(&SessionId::new("tab-1")).into_iter().map(|t| t.session).collect();
        assert_eq!(gone, ["worker-in-frame", "frame", "tab-1"].map(SessionId::new));
        assert_eq!(targets.tabs().count(), 1);
    }

    #[test]
    fn attaching_a_known_session_again_renews_it_in_place() {
        let mut targets = Targets::default();
        targets.attach(target("tab-1", None));
        targets.attach(target("tab-2", None));
        let mut renewed = target("tab-1", None);
        renewed.info.url = "https://example.com/".to_owned();
        targets.attach(renewed.clone());
        assert_eq!(targets.tabs().next(), Some(&renewed));
        assert_eq!(targets.tabs().count(), 2);
    }

    fn target(session: &str, parent: Option<&str>) -> Target {
        Target {
            session: SessionId::new(session),
            parent: parent.map(SessionId::new),
            info: TargetInfo {
                target_id: TargetId::new(format!("target of {session}")),
                kind: "page".to_owned(),
                title: String::new(),
                url: "about:blank".to_owned(),
                attached: true,
                opener_id: None,
                can_access_opener: false,
                browser_context_id: None,
                extra: Extra::default(),
            },
        }
    }
}
