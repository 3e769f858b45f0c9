//! Chrome attaches once to the children of a target, for all sessions that want them.

use serde_json::json;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::Command;
use crate::cdp::payload::Payload;
use crate::ids::{SessionRef, TargetRef};
use crate::requests::deferred_replies::ReplyBody;
use crate::requests::purpose::Purpose;
use crate::sessions::model::Session;
use crate::settings::auto_attach::{AutoAttach, ChildAttachment, SetAutoAttach};
use crate::targets::model::Target;
use crate::turn::Turn;

const AUTO_ATTACH: &str = "Target.setAutoAttach";

/// The types of targets that Chrome reports to extensions only when it attaches to them.
const CHILDREN: [&str; 4] = ["iframe", "worker", "service_worker", "shared_worker"];

impl Relay {
    /// `Target.setAutoAttach` on a session over a target. Chrome attaches once, to everything.
    pub(crate) fn set_target_auto_attach(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, &command);
        let wanted = match command.read_params::<SetAutoAttach>() {
            Ok(wanted) => wanted.wanted(),
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(connection) = self.connection_of(session_ref) else { return };
        let is_off = wanted.is_none();
        let Some(session) = self.clients.session_mut(session_ref) else { return };
        session.auto_attach = wanted;
        if is_off {
            self.end_automatic_children(session_ref, turn);
        }
        let Some(target) = self.target_under(session_ref) else { return };
        let (extension_session, is) = (target.session.clone(), target.state.auto_attach);
        let should = self.auto_attach_for_all(connection.target(&extension_session));
        let is_known = !self.requests.any(|request| {
            matches!(request.purpose, Purpose::AutoAttach)
                && request.asker.is_none()
                && request.connection == connection
                && request.session.as_ref() == Some(&extension_session)
        });
        // After a failure the state of Chrome is unknown: the last `off` is forwarded to be safe.
        if should == is && is_known && (should.is_on() || !is_off) {
            if is_off {
                turn.ok(&asker);
            } else {
                self.reply_in_order(asker, ReplyBody::Children, turn);
            }
            return;
        }
        if let Some(target) = self.target_mut(connection.target(&extension_session)) {
            target.state.auto_attach = should;
        }
        let command = Command { params: Some(auto_attach_params(should)), ..command };
        self.forward(session_ref, command, &extension_session, Purpose::AutoAttach, turn);
    }

    /// Returns how Chrome must attach to children so that every session is told of what it wants.
    fn auto_attach_for_all(&self, target_ref: TargetRef<'_>) -> ChildAttachment {
        let requested = self.auto_attach_requested(target_ref);
        if requested.is_on() || !self.has_use_for_children(target_ref) {
            requested
        } else {
            ChildAttachment::Running
        }
    }

    /// Returns what the sessions over a target asked for.
    fn auto_attach_requested(&self, target_ref: TargetRef<'_>) -> ChildAttachment {
        let sessions = self.target(target_ref).map(|target| target.sessions.as_slice());
        let requested = sessions
            .unwrap_or_default()
            .iter()
            .filter_map(|session_ref| self.clients.session(session_ref)?.auto_attach.as_ref());
        requested.map(AutoAttach::attachment).max().unwrap_or_default()
    }

    /// Returns whether the children of a target are of use though nobody asked for them there.
    fn has_use_for_children(&self, target_ref: TargetRef<'_>) -> bool {
        self.is_followed(target_ref) || self.uses_children(target_ref)
    }

    /// Returns whether somebody follows targets, of which Chrome tells extensions only if it
    /// attaches.
    fn is_followed(&self, target_ref: TargetRef<'_>) -> bool {
        let Some(target) = self.target(target_ref) else { return false };
        let has_children = target.parent.is_none() || target.info.kind == "iframe";
        let follows = |session: &Session| {
            let filter = session.discover.as_ref();
            filter.is_some_and(|filter| CHILDREN.iter().any(|kind| filter.admits(kind)))
        };
        has_children
            && !target.is_crashed
            && self.clients.all_of(target_ref.connection).any(|client| client.sessions.any(follows))
    }

    /// Returns whether somebody is attached to what Chrome has attached to below a target.
    fn uses_children(&self, target_ref: TargetRef<'_>) -> bool {
        let Some(extension) = self.extensions.get(target_ref.connection) else { return false };
        let target = extension.targets.by_session(target_ref.session);
        let is_on = target.is_some_and(|target| target.state.auto_attach.is_on());
        let is_used = |child: &&Target| {
            child.sessions.iter().any(|session_ref| self.clients.session(session_ref).is_some())
        };
        is_on && extension.targets.below(target_ref.session).iter().any(is_used)
    }

    /// Brings Chrome to attach to what is wanted by those who did not ask for it on the target
    /// itself.
    pub(crate) fn apply_auto_attach(&mut self, turn: &mut Turn) {
        if !std::mem::take(&mut self.children_changed) {
            return;
        }
        let mut due = Vec::new();
        for (connection, extension) in self.extensions.iter() {
            for target in extension.targets.iter() {
                let (extension_session, is) = (&target.session, target.state.auto_attach);
                // A session that wants it has asked for it, or will.
                if !self.auto_attach_requested(connection.target(extension_session)).is_on()
                    && is != self.auto_attach_for_all(connection.target(extension_session))
                    && (is.is_on() || extension.presence.is_connected())
                {
                    due.push((connection, extension_session.clone()));
                }
            }
        }
        for (connection, extension_session) in due {
            let should = self.auto_attach_for_all(connection.target(&extension_session));
            let Some(target) = self.target_mut(connection.target(&extension_session)) else {
                continue;
            };
            target.state.auto_attach = should;
            let params = Some(auto_attach_params(should));
            if should.is_on() {
                let command = (AUTO_ATTACH, params);
                self.ask(
                    connection,
                    None,
                    Some(&extension_session),
                    command,
                    Purpose::AutoAttach,
                    turn,
                );
            } else {
                self.send_to_target(
                    connection.target(&extension_session),
                    AUTO_ATTACH,
                    params,
                    turn,
                );
            }
        }
    }

    /// Handles the failure of an auto-attach command of a session, or of the relay itself.
    pub(crate) fn auto_attach_failed(
        &mut self,
        target_ref: TargetRef<'_>,
        is_own: bool,
        turn: &mut Turn,
    ) {
        let is_requested = self.auto_attach_requested(target_ref).is_on();
        if is_own && (is_requested || self.uses_children(target_ref)) {
            // A session that wants it asked later, and has its own answer; what is used was on.
            return;
        }
        let Some(target) = self.target_mut(target_ref) else { return };
        // The state of Chrome is unknown; the next request is forwarded.
        target.state.auto_attach = ChildAttachment::Off;
        if is_own {
            self.send_to_target(
                target_ref,
                AUTO_ATTACH,
                Some(auto_attach_params(ChildAttachment::Off)),
                turn,
            );
        }
    }

    /// A session has ended: Chrome attaches to no more than the others want.
    pub(crate) fn release_children(&mut self, target_ref: TargetRef<'_>, turn: &mut Turn) {
        let should = self.auto_attach_for_all(target_ref);
        let Some(target) = self.target_mut(target_ref) else { return };
        // After a failure the state of Chrome is unknown: it is told to be safe.
        if target.state.auto_attach != should || !should.is_on() {
            target.state.auto_attach = should;
            let params = Some(auto_attach_params(should));
            self.send_to_target(target_ref, AUTO_ATTACH, params, turn);
        }
    }
}

fn auto_attach_params(wanted: ChildAttachment) -> Payload {
    Payload::of(&json!({
        "autoAttach": wanted.is_on(),
        "waitForDebuggerOnStart": wanted == ChildAttachment::Waiting,
        "flatten": true,
    }))
}
