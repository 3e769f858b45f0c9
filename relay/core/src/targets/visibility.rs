//! The targets that a confined client sees: those that show the web. When a tab shows anything else,
//! in whatever way, the sessions of confined clients over it end before they hear of the new
//! document. Other clients see every tab.

use serde::Deserialize;
use shared_protocol::{Payload as _, TargetId};

use crate::Relay;
use crate::cdp::payload::{Payload, TargetInfo};
use crate::cdp::target_domain::{InfoEvent, TargetDestroyed};
use crate::ids::{ClientId, ConnectionId, ExtensionSessionId, SessionRef, TargetRef};
use crate::sessions::model::Session;
use crate::targets::model::{Target, Targets};
use crate::turn::Turn;

impl Relay {
    /// Returns whether a client may know of a target.
    pub(crate) fn sees(&self, client: ClientId, target_ref: TargetRef<'_>) -> bool {
        !self.is_confined(client) || self.shows_web(target_ref)
    }

    pub(crate) fn is_confined(&self, client: ClientId) -> bool {
        self.clients.get(client).is_some_and(|client| client.confinement.is_some())
    }

    /// Returns whether the code of a session needs a guard: the session is of a confined client, over a
    /// page or a frame. A worker target is one script for as long as it lives, and has no document.
    pub(crate) fn needs_guard(&self, session_ref: &SessionRef) -> bool {
        self.is_confined(session_ref.client)
            && !self.target_under(session_ref).is_some_and(Target::is_worker)
    }

    pub(crate) fn shows_web(&self, target_ref: TargetRef<'_>) -> bool {
        let extension = self.extensions.get(target_ref.connection);
        extension.is_some_and(|it| {
            it.targets.by_session(target_ref.session).is_some_and(|t| it.targets.is_web(t))
        })
    }

    /// Changes what is known of a target. If it is not on the web from then on, it is gone for confined
    /// clients; if it is again, it is new to them.
    pub(crate) fn change_target(
        &mut self,
        target_ref: TargetRef<'_>,
        change: impl FnOnce(&mut Target),
        turn: &mut Turn,
    ) {
        let was_web = self.shows_web(target_ref);
        let Some(target) = self.target_mut(target_ref) else { return };
        change(target);
        self.tabs_changed = true;
        match (was_web, self.shows_web(target_ref)) {
            (true, false) => self.hide_from_confined(target_ref, turn),
            (false, true) => self.show_to_confined(target_ref, turn),
            (true, true) | (false, false) => {}
        }
    }

    /// `Page.frameStartedNavigating`. Commands to a tab that goes to a file could arrive in the file, so the
    /// tab is gone for confined clients as soon as it sets out.
    pub(crate) fn navigation_began(
        &mut self,
        target_ref: TargetRef<'_>,
        params: &Payload,
        turn: &mut Turn,
    ) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Began {
            frame_id: TargetId,
            url: String,
        }

        let Ok(Began { frame_id, url }) = params.read() else { return };
        let goes_to_file = ["file:", "view-source:"].iter().any(|kind| url.starts_with(kind));
        let is_main = |target: &&mut Target| target.info.target_id == frame_id;
        let target = self.target_mut(target_ref).filter(is_main);
        if target.is_some_and(|target| target.goes_to_file != goes_to_file) {
            let change = |target: &mut Target| target.goes_to_file = goes_to_file;
            self.change_target(target_ref, change, turn);
        }
    }

    /// Shows a tab again whose file Chrome downloads: nothing of such a file is shown.
    pub(crate) fn navigation_became_download(
        &mut self,
        target_ref: TargetRef<'_>,
        turn: &mut Turn,
    ) {
        if self.target(target_ref).is_some_and(|target| target.goes_to_file) {
            self.change_target(target_ref, |target| target.goes_to_file = false, turn);
        }
    }

    fn hide_from_confined(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(target_ref.connection) else { return };
        if !self.clients.all_of(target_ref.connection).any(|client| client.confinement.is_some()) {
            return;
        }
        let targets = &extension.targets;
        // The clients have not heard of the others.
        let below =
            targets.below(target_ref.session).into_iter().rev().filter(|target| target.shows_web());
        let is_confined = |session_ref: &SessionRef| self.is_confined(session_ref.client);
        let gone: Vec<Gone> = below
            .chain(targets.by_session(target_ref.session))
            .map(|target| Gone::of(target, targets, is_confined))
            .collect();
        for Gone { extension_session, page, tab, sessions } in gone {
            for session_ref in sessions {
                self.end_session(&session_ref, page.as_ref().map(|page| &page.target_id), turn);
            }
            self.end_tracing_of_confined(target_ref.connection.target(&extension_session), turn);
            for session_ref in self
                .confined(target_ref.connection, |session| session.is_tab_of(&extension_session))
            {
                self.end_session(&session_ref, tab.as_ref().map(|tab| &tab.target_id), turn);
            }
            for info in page.iter().chain(&tab) {
                let destroyed = TargetDestroyed { target_id: info.target_id.clone() };
                for session_ref in
                    self.confined(target_ref.connection, |session| session.follows(info))
                {
                    turn.event(&session_ref, "Target.targetDestroyed", &destroyed);
                }
            }
        }
    }

    fn show_to_confined(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(target_ref.connection) else { return };
        let Some(target) = extension.targets.by_session(target_ref.session) else { return };
        let below = extension.targets.below(target_ref.session).into_iter();
        let workers: Vec<ExtensionSessionId> = below
            .filter(|target| target.is_service_worker())
            .map(|target| target.session.clone())
            .collect();
        for info in [target.tab_info(), Some(target.info.clone())].into_iter().flatten() {
            for session_ref in
                self.confined(target_ref.connection, |session| session.follows(&info))
            {
                turn.event(&session_ref, "Target.targetCreated", &InfoEvent::of(info.clone()));
            }
        }
        match target.parent.clone() {
            None => {
                for session_ref in
                    self.confined(target_ref.connection, Session::is_browser_with_auto_attach)
                {
                    self.auto_attach_tab(&session_ref, target_ref.session, turn);
                }
            }
            Some(parent) => {
                let sessions = self
                    .target(target_ref.connection.target(&parent))
                    .map(|parent| parent.sessions.clone());
                for session_ref in sessions.unwrap_or_default() {
                    self.announce_child(&session_ref, target_ref.session, turn);
                }
            }
        }
        for worker in workers {
            self.announce_service_worker(target_ref.connection.target(&worker), turn);
        }
    }

    /// Returns the sessions of confined clients for which `wanted` holds.
    fn confined(
        &self,
        connection: ConnectionId,
        wanted: impl Fn(&Session) -> bool,
    ) -> Vec<SessionRef> {
        let mut sessions = self.clients.sessions(connection, wanted);
        sessions.retain(|session_ref| self.is_confined(session_ref.client));
        sessions
    }
}

/// A target that confined clients had.
struct Gone {
    extension_session: ExtensionSessionId,
    /// `None` for a service worker that another page still tells of.
    page: Option<TargetInfo>,
    tab: Option<TargetInfo>,
    sessions: Vec<SessionRef>,
}

impl Gone {
    fn of(target: &Target, all: &Targets, is_confined: impl Fn(&SessionRef) -> bool) -> Self {
        let is_other =
            |other: &Target| other.info.target_id == target.info.target_id && all.is_web(other);
        Self {
            extension_session: target.session.clone(),
            page: (!all.iter().any(is_other)).then(|| target.info.clone()),
            tab: target.tab_info(),
            sessions: target
                .sessions
                .iter()
                .filter(|session_ref| is_confined(session_ref))
                .cloned()
                .collect(),
        }
    }
}
