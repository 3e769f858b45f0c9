//! The sessions of one client. Each is the client's own, though several may stand on one real
//! session of the extension.

use std::collections::BTreeMap;

use shared_protocol::SessionId;

#[derive(Debug, Default)]
pub(crate) struct Sessions(BTreeMap<SessionId, Session>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Session {
    /// Where the session was announced, and where its end will be; `None` is the socket's root.
    pub(crate) parent: Option<SessionId>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// Attached to the browser that the relay pretends to be.
    Browser(BrowserSession),
    /// Attached to a target, over the extension's session of this name.
    Target {
        real: SessionId,
        /// Whether it asked to be told of children.
        auto_attach: bool,
    },
}

/// What a client asked to be told on a browser-level session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct BrowserSession {
    /// `Target.setAutoAttach`: every tab becomes a session.
    pub(crate) auto_attach: bool,
    /// `Target.setDiscoverTargets`: every target is reported.
    pub(crate) discover: bool,
}

impl Sessions {
    /// Opens a session under a name that is `wanted`, or close to it when that is taken.
    pub(crate) fn open(&mut self, wanted: &SessionId, session: Session) -> SessionId {
        let mut id = wanted.clone();
        let mut suffix = 2;
        while self.0.contains_key(&id) {
            id = SessionId::new(format!("{wanted}.{suffix}"));
            suffix += 1;
        }
        self.0.insert(id.clone(), session);
        id
    }

    /// Closes a session and all below it; the lowest come first.
    pub(crate) fn close(&mut self, id: &SessionId) -> Vec<(SessionId, Session)> {
        let children: Vec<SessionId> = self
            .0
            .iter()
            .filter(|(_, session)| session.parent.as_ref() == Some(id))
            .map(|(child, _)| child.clone())
            .collect();
        let mut closed: Vec<_> = children.iter().flat_map(|child| self.close(child)).collect();
        closed.extend(self.0.remove_entry(id));
        closed
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<&Session> {
        self.0.get(id)
    }

    pub(crate) fn get_mut(&mut self, id: &SessionId) -> Option<&mut Session> {
        self.0.get_mut(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SessionId, &Session)> {
        self.0.iter()
    }

    /// Those of the sessions over a real one that asked to be told of its children.
    pub(crate) fn parents_over(&self, real: &SessionId) -> Vec<SessionId> {
        let asked = |session: &Session| matches!(&session.kind, Kind::Target { real: r, auto_attach: true } if r == real);
        self.0.iter().filter(|(_, session)| asked(session)).map(|(id, _)| id.clone()).collect()
    }

    /// The sessions that stand on a real one.
    pub(crate) fn over(&self, real: &SessionId) -> Vec<SessionId> {
        self.0
            .iter()
            .filter(
                |(_, session)| matches!(&session.kind, Kind::Target { real: r, .. } if r == real),
            )
            .map(|(id, _)| id.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_session_over_the_same_tab_gets_a_name_of_its_own() {
        let mut sessions = Sessions::default();
        let real = SessionId::new("pw-tab-1");
        let on_tab = Session { parent: None, kind: target(&real) };
        assert_eq!(sessions.open(&real, on_tab.clone()).as_str(), "pw-tab-1");
        assert_eq!(sessions.open(&real, on_tab.clone()).as_str(), "pw-tab-1.2");
        assert_eq!(sessions.open(&real, on_tab).as_str(), "pw-tab-1.3");
        assert_eq!(sessions.over(&real).len(), 3);
    }

    #[test]
    fn closing_a_session_closes_those_below_it_first() {
        let mut sessions = Sessions::default();
        let mut open = |name: &str, parent: Option<&str>| {
            let kind = target(&SessionId::new(name));
            sessions
                .open(&SessionId::new(name), Session { parent: parent.map(SessionId::new), kind });
        };
        open("tab", None);
        open("frame", Some("tab"));
        open("worker", Some("frame"));
        open("other", None);
        let closed: Vec<_> =
            sessions.close(&SessionId::new("tab")).into_iter().map(|(id, _)| id).collect();
        assert_eq!(closed, ["worker", "frame", "tab"].map(SessionId::new));
        assert_eq!(sessions.iter().count(), 1);
    }

    fn target(real: &SessionId) -> Kind {
        Kind::Target { real: real.clone(), auto_attach: false }
    }
}
