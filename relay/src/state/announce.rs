//! Targets come, change and go; every client that asked is told, in Chrome's order.

use serde::{Deserialize, Serialize};
use shared_protocol::{
    AttachedToTarget, DetachedFromTarget, Extra, LogLevel, Payload as _, SessionId, TargetId,
};

use super::requests::Purpose;
use super::sessions::{Kind, Session};
use super::targets::Target;
use super::{Asker, ClientId, ConnectionId, Effect, Relay, fail, log};
use crate::cdp::{Error, Frame};
use crate::payload::{Payload, TargetInfo};

impl Relay {
    /// The extension controls another tab.
    pub(super) fn tab_attached(
        &mut self,
        connection: ConnectionId,
        attached: AttachedToTarget<Payload>,
        effects: &mut Vec<Effect>,
    ) {
        let AttachedToTarget { session_id: real, target_info: mut info, .. } = attached;
        if info.url.is_empty() || info.url == ":" {
            let text =
                format!("WARNING: Target.attachedToTarget received with empty URL for {real}");
            log(effects, LogLevel::Warn, text);
            // Playwright would wait for ever for such a page to get somewhere.
            info.url = "about:blank".to_owned();
        }
        info.attached = true;
        // Playwright ignores a page that belongs to no context.
        info.browser_context_id.get_or_insert_with(|| "default".to_owned());
        let Some(extension) = self.extensions.get(connection) else { return };
        // Another browser has started under the same name, and counts from one again; or the tab
        // was taken away and back while nobody could be told. Either way the old session is over.
        let stale: Vec<SessionId> = extension
            .targets
            .tabs()
            .filter(|tab| (tab.session == real) != (tab.info.target_id == info.target_id))
            .map(|tab| tab.session.clone())
            .collect();
        for session in stale {
            self.detached(connection, &session, effects);
        }
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let is_known = extension.targets.by_session(&real).is_some();
        let target = Target { session: real, parent: None, info };
        extension.targets.attach(target.clone());
        self.revision += 1;
        for client in self.clients.of(connection) {
            let followers = if is_known { Vec::new() } else { self.discoverers(client) };
            for session in followers {
                let info = TargetInfo { attached: false, ..target.info.clone() };
                send(effects, client, session, "Target.targetCreated", &InfoEvent::of(info));
            }
            for session in self.browser_sessions(client, |browser| browser.auto_attach) {
                self.auto_attach_tab(client, session, &target, effects);
            }
        }
    }

    /// Opens a session on a tab for a client that asked for all of them, unless it has one.
    pub(super) fn auto_attach_tab(
        &mut self,
        client: ClientId,
        parent: Option<SessionId>,
        target: &Target,
        effects: &mut Vec<Effect>,
    ) {
        let Some(state) = self.clients.get(client) else { return };
        let known = state
            .sessions
            .over(&target.session)
            .into_iter()
            .any(|id| state.sessions.get(&id).is_some_and(|session| session.parent == parent));
        if !known {
            self.open_session(client, parent, target, false, effects);
        }
    }

    /// Opens a client session over a real one and announces it on its parent.
    pub(super) fn open_session(
        &mut self,
        client: ClientId,
        parent: Option<SessionId>,
        target: &Target,
        waiting_for_debugger: bool,
        effects: &mut Vec<Effect>,
    ) -> Option<SessionId> {
        let kind = Kind::Target { real: target.session.clone(), auto_attach: false };
        let session = Session { parent: parent.clone(), kind };
        let session_id = self.clients.get_mut(client)?.sessions.open(&target.session, session);
        let attached = AttachedToTarget {
            session_id: session_id.clone(),
            target_info: target.info.clone(),
            waiting_for_debugger,
            extra: Extra::default(),
        };
        send(effects, client, parent, "Target.attachedToTarget", &attached);
        Some(session_id)
    }

    /// Chrome attached to a frame or worker below a session of ours.
    pub(super) fn child_attached(
        &mut self,
        connection: ConnectionId,
        parent: &SessionId,
        attached: AttachedToTarget<Payload>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if extension.targets.by_session(parent).is_none() {
            return;
        }
        let target = Target {
            session: attached.session_id,
            parent: Some(parent.clone()),
            info: attached.target_info,
        };
        let is_known = extension.targets.by_session(&target.session).is_some();
        extension.targets.attach(target.clone());
        if is_known {
            return;
        }
        let waiting = attached.waiting_for_debugger;
        let mut is_taken = false;
        for client in self.clients.of(connection) {
            let parents =
                self.clients.get(client).map(|client| client.sessions.parents_over(parent));
            for parent in parents.unwrap_or_default() {
                self.open_session(client, Some(parent), &target, waiting, effects);
                is_taken = true;
            }
        }
        if waiting && !is_taken {
            // Nobody is there who would let it go on.
            let resume = "Runtime.runIfWaitingForDebugger";
            self.tell_target(connection, &target.session, resume, None, effects);
        }
    }

    /// Announces the children that are there already to a session that asked for them, as Chrome
    /// does to each session of its own.
    pub(super) fn replay_children(
        &mut self,
        connection: ConnectionId,
        asker: &Asker,
        real: &SessionId,
        effects: &mut Vec<Effect>,
    ) {
        let Some(extension) = self.extensions.get(connection) else { return };
        let children: Vec<Target> = extension.targets.children_of(real).cloned().collect();
        for child in children {
            self.auto_attach_tab(asker.client, asker.session.clone(), &child, effects);
        }
    }

    /// A real session has ended, with all below it.
    pub(super) fn detached(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        effects: &mut Vec<Effect>,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        for target in extension.targets.detach(real) {
            let lost = self.requests.end(|request| {
                request.connection == connection
                    && request.session.as_ref() == Some(&target.session)
            });
            let (closing, lost): (Vec<_>, Vec<_>) =
                lost.into_iter().partition(|request| request.purpose == Purpose::CloseTarget);
            let closed = Payload::of(&Closed { success: true });
            effects.extend(closing.into_iter().map(|it| it.asker.reply(Ok(closed.clone()))));
            fail(lost, &Error::server("Target closed"), effects);
            for client in self.clients.of(connection) {
                self.close_sessions_over(client, &target, effects);
                if target.parent.is_none() {
                    for session in self.discoverers(client) {
                        let gone = TargetDestroyed { target_id: target.info.target_id.clone() };
                        send(effects, client, session, "Target.targetDestroyed", &gone);
                    }
                }
            }
        }
        self.revision += 1;
    }

    fn close_sessions_over(
        &mut self,
        client: ClientId,
        target: &Target,
        effects: &mut Vec<Effect>,
    ) {
        let Some(state) = self.clients.get_mut(client) else { return };
        for id in state.sessions.over(&target.session) {
            for (session_id, session) in state.sessions.close(&id) {
                let target_id =
                    matches!(&session.kind, Kind::Target { real, .. } if real == &target.session)
                        .then(|| target.info.target_id.clone());
                send_detached(effects, client, session.parent, session_id, target_id);
            }
        }
    }

    /// Keeps the address of a tab right, and tells those who follow it.
    pub(super) fn frame_navigated(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        params: &Payload,
        effects: &mut Vec<Effect>,
    ) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct FrameNavigated {
            frame: NavigatedFrame,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct NavigatedFrame {
            parent_id: Option<String>,
            url: String,
        }

        let Ok(FrameNavigated { frame }) = params.read() else { return };
        let extension = self.extensions.get(connection);
        let Some(target) = extension.and_then(|e| e.targets.by_session(real)) else { return };
        if frame.parent_id.is_some() || target.info.url == frame.url {
            return;
        }
        let info = TargetInfo { url: frame.url, ..target.info.clone() };
        self.info_changed(connection, InfoEvent::of(info), effects);
    }

    /// Keeps what is known of a tab, and tells those who follow it.
    pub(super) fn info_changed(
        &mut self,
        connection: ConnectionId,
        changed: InfoEvent,
        effects: &mut Vec<Effect>,
    ) {
        let info = changed.target_info;
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let Some(target) = extension.targets.by_target_id_mut(&info.target_id) else { return };
        target.info.url.clone_from(&info.url);
        target.info.title.clone_from(&info.title);
        let info = target.info.clone();
        self.revision += 1;
        for client in self.clients.of(connection) {
            for session in self.discoverers(client) {
                let event = InfoEvent::of(info.clone());
                send(effects, client, session, "Target.targetInfoChanged", &event);
            }
        }
    }

    fn discoverers(&self, client: ClientId) -> Vec<Option<SessionId>> {
        self.browser_sessions(client, |browser| browser.discover)
    }

    fn browser_sessions(
        &self,
        client: ClientId,
        asked: impl Fn(&super::BrowserSession) -> bool,
    ) -> Vec<Option<SessionId>> {
        self.clients.get(client).map(|client| client.browser_sessions(asked)).unwrap_or_default()
    }
}

/// Parameters of the events that carry nothing but a target.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InfoEvent {
    target_info: TargetInfo,
}

impl InfoEvent {
    pub(super) fn of(target_info: TargetInfo) -> Self {
        Self { target_info }
    }
}

#[derive(Serialize)]
struct Closed {
    success: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetDestroyed {
    target_id: TargetId,
}

pub(super) fn send<T: Serialize>(
    effects: &mut Vec<Effect>,
    client: ClientId,
    session: Option<SessionId>,
    method: &str,
    params: &T,
) {
    let params = Some(Payload::of(params));
    let frame = Frame::Event { session, method: method.to_owned(), params };
    effects.push(Effect::SendToClient { client, frame });
}

pub(super) fn send_detached(
    effects: &mut Vec<Effect>,
    client: ClientId,
    parent: Option<SessionId>,
    session_id: SessionId,
    target_id: Option<TargetId>,
) {
    let extra = Extra::<Payload>::default();
    let detached = DetachedFromTarget { session_id, target_id, extra };
    send(effects, client, parent, "Target.detachedFromTarget", &detached);
}
