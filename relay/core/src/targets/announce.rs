//! Events about targets, for every client that asked for them, in Chrome's order.

use crate::Relay;
use crate::cdp::payload::TargetInfo;
use crate::cdp::target_domain::{InfoEvent, TargetCrashed, TargetDestroyed};
use crate::ids::{ConnectionId, SessionRef, TargetRef};
use crate::sessions::attach::warn_of_empty_url;
use crate::sessions::model::Session;
use crate::targets::model::Target;
use crate::turn::Turn;

impl Relay {
    /// A tab that could not be driven for a while is announced to those who have not heard of it.
    pub(crate) fn announce_tab(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        if self.target(target_ref).is_none_or(|target| target.parent.is_some()) {
            return;
        }
        for session_ref in
            self.clients.sessions(target_ref.connection, Session::is_browser_with_auto_attach)
        {
            self.auto_attach_tab(&session_ref, target_ref.session, turn);
        }
    }

    pub(crate) fn announce_changed(&self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(target) = self.target(target_ref) else { return };
        for info in [Some(target.info.clone()), target.tab_info()].into_iter().flatten() {
            self.notify_discoverers(
                target_ref.connection,
                target,
                "Target.targetInfoChanged",
                info,
                turn,
            );
        }
    }

    /// Tells those who follow targets of a new one.
    pub(crate) fn announce_created(&self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(target_ref.connection) else { return };
        let Some(target) = extension.targets.by_session(target_ref.session) else { return };
        if !extension.targets.is_first(target) {
            return;
        }
        // A tab or page is not attached to by anybody in this moment.
        let attached = target.parent.is_some();
        for info in [target.tab_info(), Some(target.info.clone())].into_iter().flatten() {
            if !self.discoverers(target_ref.connection, target, &info).is_empty() {
                warn_of_empty_url("Target.targetCreated sent", &info, turn);
            }
            let info = TargetInfo { attached, ..info };
            self.notify_discoverers(
                target_ref.connection,
                target,
                "Target.targetCreated",
                info,
                turn,
            );
        }
    }

    /// Tells one who follows targets of a tab that was kept from it.
    pub(crate) fn announce_late(
        &self,
        session_ref: &SessionRef,
        target_ref: TargetRef<'_>,
        turn: &mut Turn,
    ) {
        let discover =
            self.clients.session(session_ref).and_then(|session| session.discover.as_ref());
        let (Some(filter), Some(target)) = (discover, self.target(target_ref)) else {
            return;
        };
        if !self.sees(session_ref.client, target_ref) {
            return;
        }
        let infos = [target.tab_info(), Some(target.info.clone())].into_iter().flatten();
        for info in infos.filter(|info| filter.admits(&info.kind)) {
            turn.event(session_ref, "Target.targetCreated", &InfoEvent::of(info));
        }
    }

    /// A page or frame has crashed. Chrome tells extensions no more than that.
    pub(crate) fn announce_crash(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        if let Some(target) = self.target_mut(target_ref) {
            target.is_crashed = true;
        }
        let Some(target) = self.target(target_ref) else { return };
        let target_id = target.info.target_id.clone();
        let crashed = TargetCrashed { target_id, status: "crashed", error_code: 0 };
        for session_ref in self.discoverers(target_ref.connection, target, &target.info) {
            turn.event(&session_ref, "Target.targetCrashed", &crashed);
        }
    }

    pub(crate) fn announce_destroyed(
        &self,
        connection: ConnectionId,
        target: &Target,
        info: &TargetInfo,
        turn: &mut Turn,
    ) {
        let extension = self.extensions.get(connection);
        if extension.is_some_and(|it| it.targets.by_target_id(&info.target_id).is_some()) {
            // A service worker that another page tells of too.
            return;
        }
        let gone = TargetDestroyed { target_id: info.target_id.clone() };
        for session_ref in self.discoverers(connection, target, info) {
            turn.event(&session_ref, "Target.targetDestroyed", &gone);
        }
    }

    fn notify_discoverers(
        &self,
        connection: ConnectionId,
        target: &Target,
        method: &str,
        info: TargetInfo,
        turn: &mut Turn,
    ) {
        let sessions = self.discoverers(connection, target, &info);
        let event = InfoEvent::of(info);
        for session_ref in sessions {
            turn.event(&session_ref, method, &event);
        }
    }

    /// Returns those that follows such targets and knows of this one.
    fn discoverers(
        &self,
        connection: ConnectionId,
        target: &Target,
        info: &TargetInfo,
    ) -> Vec<SessionRef> {
        let mut sessions = self.clients.sessions(connection, |session: &Session| {
            session.discover.as_ref().is_some_and(|filter| filter.admits(&info.kind))
        });
        sessions.retain(|session_ref| !target.hidden_from.contains(session_ref));
        let extension = self.extensions.get(connection);
        if extension.is_none_or(|extension| !extension.targets.is_web(target)) {
            sessions.retain(|session_ref| !self.is_confined(session_ref.client));
        }
        sessions
    }
}
