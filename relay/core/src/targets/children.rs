//! Frames and workers below a target, and the sessions that are told of them.

use std::time::Duration;

use shared_protocol::AttachedToTarget;

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::confinement::is_web;
use crate::ids::{ConnectionId, ExtensionSessionId, SessionRef, TargetRef};
use crate::sessions::attach::{OpenedBy, warn_of_empty_url};
use crate::sessions::model::{Kind, Session};
use crate::targets::model::Target;
use crate::turn::Turn;

/// The longest time for which sessions that asked for it may keep a frame or worker from running.
const MAX_WAIT_FOR_SESSIONS: Duration = Duration::from_secs(5);

impl Relay {
    /// Chrome attached to a frame or worker below a session of ours.
    pub(crate) fn child_attached(
        &mut self,
        connection: ConnectionId,
        parent: &ExtensionSessionId,
        attached: AttachedToTarget<Payload>,
        turn: &mut Turn,
    ) {
        let waiting = attached.waiting_for_debugger;
        warn_of_empty_url("Target.attachedToTarget received", &attached.target_info, turn);
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if extension.targets.by_session(parent).is_none() {
            return;
        }
        let extension_session = ExtensionSessionId::new(attached.session_id);
        if extension.targets.by_session(&extension_session).is_some() {
            let info = attached.target_info;
            let is_on_web = is_web(&info.url);
            let change = |known: &mut Target| (known.is_on_web, known.info) = (is_on_web, info);
            return self.change_target(connection.target(&extension_session), change, turn);
        }
        let mut target =
            Target::new(extension_session.clone(), Some(parent.clone()), attached.target_info);
        target.waits_until = waiting.then(|| turn.now + MAX_WAIT_FOR_SESSIONS);
        extension.targets.add(target);
        self.children_changed = true;
        self.announce_created(connection.target(&extension_session), turn);
        if self.target(connection.target(&extension_session)).is_some_and(Target::is_service_worker)
        {
            self.announce_service_worker(connection.target(&extension_session), turn);
        } else {
            let parents =
                self.target(connection.target(parent)).map(|target| target.sessions.clone());
            for parent in parents.unwrap_or_default() {
                self.announce_child(&parent, &extension_session, turn);
            }
        }
        self.resume_unless_held(connection.target(&extension_session), turn);
    }

    /// Tells a session of a child that it wants and has not been told of.
    pub(crate) fn announce_child(
        &mut self,
        parent: &SessionRef,
        extension_session: &ExtensionSessionId,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(parent) else { return };
        let wanted = self.clients.session(parent).and_then(|session| session.auto_attach.clone());
        let (Some(wanted), Some(target)) =
            (wanted, self.target(connection.target(extension_session)))
        else {
            return;
        };
        if wanted.filter.admits(&target.info.kind)
            && !self.is_announced_to(parent, extension_session)
        {
            let opened_by = OpenedBy::AutoAttach { may_wait: wanted.wait };
            self.open_session(parent, extension_session, opened_by, turn);
        }
    }

    /// Tells browser-level sessions of a service worker: Chrome tells each page of it, but it
    /// belongs to none.
    pub(crate) fn announce_service_worker(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let Some(extension) = self.extensions.get(target_ref.connection) else { return };
        let Some(worker) = extension.targets.by_session(target_ref.session) else { return };
        if !extension.targets.is_first(worker) {
            return;
        }
        for session_ref in
            self.clients.sessions(target_ref.connection, Session::is_browser_with_auto_attach)
        {
            self.announce_child(&session_ref, target_ref.session, turn);
        }
    }

    /// Tells a session of the children that are there already, as Chrome does to each of its own.
    pub(crate) fn announce_children(&mut self, session_ref: &SessionRef, turn: &mut Turn) {
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(extension) = self.extensions.get(connection) else { return };
        let children: Vec<ExtensionSessionId> =
            match self.clients.session(session_ref).map(|it| &it.kind) {
                Some(Kind::Target(session)) => extension
                    .targets
                    .children_of(&session.extension_session)
                    .filter(|child| !child.is_service_worker())
                    .map(|child| child.session.clone())
                    .collect(),
                Some(Kind::Browser) => {
                    extension.targets.service_workers().map(|it| it.session.clone()).collect()
                }
                Some(Kind::Tab { page }) => vec![page.clone()],
                None => Vec::new(),
            };
        for child in children {
            self.announce_child(session_ref, &child, turn);
        }
    }
}
