//! Attaching: clients find targets and open sessions on them.

use serde::{Deserialize, Serialize};
use shared_protocol::{AttachedToTarget, Extra, LogLevel, SessionId, TargetId};

use crate::Relay;
use crate::cdp::payload::{Payload, TargetInfo};
use crate::cdp::target_domain::OneTarget;
use crate::cdp::{Command, Error};
use crate::ids::{ClientSessionId, ExtensionSessionId, SessionRef};
use crate::sessions::model::{Kind, MAX_SESSIONS, Session, TargetSession};
use crate::turn::Turn;

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct OneSession {
    session_id: SessionId,
}

/// The reason for which a session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenedBy {
    /// The client attached to the target by its id.
    Client,
    /// `Target.setAutoAttach`, which can take it away again. The target may have to wait for it.
    AutoAttach { may_wait: bool },
}

impl Relay {
    pub(crate) fn attach_to_target(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        let OneTarget { target_id } = command.read_params()?;
        if target_id == self.browser_id {
            return self.attach_to_browser_target(session_ref, turn);
        }
        let tab = self.tab_by_id(session_ref, &target_id);
        let opened = match tab.map(|page| page.session.clone()) {
            Some(page) => self.open_tab_session(session_ref, &page, OpenedBy::Client, turn),
            None => {
                let unknown = |error: Error| {
                    Error::new(error.code, format!("{}: {target_id}", error.message))
                };
                let extension_session =
                    self.target_by_id(session_ref, &target_id).map_err(unknown)?.session.clone();
                self.open_session(session_ref, &extension_session, OpenedBy::Client, turn)
            }
        };
        let session_id = opened.ok_or_else(too_many_sessions)?;
        Ok(Payload::of(&OneSession { session_id }))
    }

    pub(crate) fn attach_to_browser_target(
        &mut self,
        session_ref: &SessionRef,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        let session = Session::new(Some(session_ref.session.clone()), Kind::Browser);
        let client = self.clients.get_mut(session_ref.client).ok_or_else(Error::unknown_session)?;
        self.sessions_named += 1;
        let name = SessionId::new(format!("browser.{}", self.sessions_named));
        let opened = client.sessions.open(&name, &mut self.sessions_named, session);
        let session_id = opened.ok_or_else(too_many_sessions)?;
        send_attached(session_ref, session_id.clone(), self.browser_info(), false, turn);
        Ok(Payload::of(&OneSession { session_id }))
    }

    pub(crate) fn detach_from_target(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Detach {
            session_id: Option<SessionId>,
            /// The target, in a deprecated form of the command that Chrome still accepts.
            target_id: Option<TargetId>,
        }

        let Detach { session_id, target_id } = command.read_params()?;
        let session = session_id
            .map(ClientSessionId::Opened)
            .or_else(|| self.session_below(session_ref, &target_id?));
        let session =
            session.ok_or_else(|| Error::new(-32602, "No session for given target id"))?;
        let ended = SessionRef { client: session_ref.client, session };
        let parent = self.clients.session(&ended).and_then(|session| session.parent.as_ref());
        if parent != Some(&session_ref.session) {
            return Err(Error::new(-32602, "No session with given id"));
        }
        self.end_session(&ended, None, turn);
        Ok(Payload::empty_object())
    }

    /// Opens a session on the tab around a page, unless auto-attach has opened one before.
    pub(crate) fn open_tab_session(
        &mut self,
        parent: &SessionRef,
        page: &ExtensionSessionId,
        opened_by: OpenedBy,
        turn: &mut Turn,
    ) -> Option<SessionId> {
        let connection = self.connection_of(parent)?;
        if !self.sees(parent.client, connection.target(page)) {
            return None;
        }
        let info = self.target(connection.target(page))?.tab_info()?;
        let client = self.clients.get_mut(parent.client)?;
        let is_known = client.sessions.iter().any(|(_, session)| {
            session.automatic
                && session.parent.as_ref() == Some(&parent.session)
                && session.is_tab_of(page)
        });
        if opened_by != OpenedBy::Client && is_known {
            return None;
        }
        let kind = Kind::Tab { page: page.clone() };
        let mut session = Session::new(Some(parent.session.clone()), kind);
        session.automatic = opened_by != OpenedBy::Client;
        let name = SessionId::new(format!("tab-of-{page}"));
        let session_id = client.sessions.open(&name, &mut self.sessions_named, session)?;
        send_attached(parent, session_id.clone(), info, false, turn);
        Some(session_id)
    }

    /// Opens a client session over a real one and announces it on its parent.
    pub(crate) fn open_session(
        &mut self,
        parent: &SessionRef,
        extension_session: &ExtensionSessionId,
        opened_by: OpenedBy,
        turn: &mut Turn,
    ) -> Option<SessionId> {
        let connection = self.connection_of(parent)?;
        if !self.sees(parent.client, connection.target(extension_session)) {
            return None;
        }
        let target = self.target(connection.target(extension_session))?;
        let waits =
            opened_by == (OpenedBy::AutoAttach { may_wait: true }) && target.waits_until.is_some();
        let info = target.info.clone();
        let mut session = TargetSession::new(extension_session.clone());
        session.holds_back = waits;
        session.missed_script = target.state.worker_loaded.is_some();
        let mut session =
            Session::new(Some(parent.session.clone()), Kind::Target(Box::new(session)));
        session.automatic = opened_by != OpenedBy::Client;
        let client = self.clients.get_mut(parent.client)?;
        let session_id =
            client.sessions.open(extension_session.on_wire(), &mut self.sessions_named, session)?;
        let session_ref = SessionRef {
            client: parent.client,
            session: ClientSessionId::Opened(session_id.clone()),
        };
        self.target_mut(connection.target(extension_session))?.sessions.push(session_ref);
        send_attached(parent, session_id.clone(), info, waits, turn);
        Some(session_id)
    }

    /// Returns the session on a target that was announced on this one.
    fn session_below(
        &self,
        session_ref: &SessionRef,
        target: &TargetId,
    ) -> Option<ClientSessionId> {
        let client = self.clients.get(session_ref.client)?;
        let is_on_it = |session: &Session| {
            session.parent.as_ref() == Some(&session_ref.session)
                && self.target_id_of(client.connection, session).as_ref() == Some(target)
        };
        client.sessions.matching(is_on_it).into_iter().next()
    }
}

fn too_many_sessions() -> Error {
    Error::server(format!("{MAX_SESSIONS} sessions are open already"))
}

/// Says in the log that a target is announced before it has an address, and returns whether it is.
/// Playwright waits for ever for a page like that; a frame gets its address later.
pub(crate) fn warn_of_empty_url(announced: &str, info: &TargetInfo, turn: &mut Turn) -> bool {
    let is_empty = info.url.is_empty() || info.url == ":";
    if is_empty {
        let TargetInfo { kind, target_id, .. } = info;
        let text = format!("WARNING: {announced} with empty URL ({kind} {target_id})");
        turn.log(LogLevel::Error, text);
    }
    is_empty
}

pub(crate) fn send_attached(
    parent: &SessionRef,
    session_id: SessionId,
    target_info: TargetInfo,
    waiting_for_debugger: bool,
    turn: &mut Turn,
) {
    warn_of_empty_url("Target.attachedToTarget sent", &target_info, turn);
    let extra = Extra::<Payload>::default();
    let attached = AttachedToTarget { session_id, target_info, waiting_for_debugger, extra };
    turn.event(parent, "Target.attachedToTarget", &attached);
}
