//! How clients find targets and attach to them.

use serde::{Deserialize, Serialize};
use serde_json::json;
use shared_protocol::{SessionId, TargetId};

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::cdp::target_filter::Filter;
use crate::cdp::{Command, Error};
use crate::dispatch::browser_commands::OneTarget;
use crate::ids::Seat;
use crate::sessions::model::{Kind, MAX_SESSIONS, Session};
use crate::targets::announce::{InfoEvent, send_attached};
use crate::targets::children::SetAutoAttach;
use crate::turn::Turn;

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct OneSession {
    session_id: SessionId,
}

impl Relay {
    /// `Target.setAutoAttach` on a browser-level session, or on that of a tab.
    pub(crate) fn set_auto_attach(
        &mut self,
        seat: &Seat,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        let asked: SetAutoAttach = command.read_params()?;
        let flatten = asked.flatten;
        let wanted = asked.wanted();
        if wanted.is_some() && !flatten {
            let message = "Only flatten protocol is supported with browser level auto-attach";
            return Err(Error::new(-32602, message));
        }
        let is_off = wanted.is_none();
        let session = self.clients.session_mut(seat).ok_or_else(Error::unknown_session)?;
        session.auto_attach = wanted;
        let is_browser = matches!(session.kind, Kind::Browser);
        if is_off {
            self.end_automatic_children(seat, turn);
            return Ok(Payload::empty_object());
        }
        if is_browser {
            let tabs: Vec<SessionId> = self
                .extension_of(seat)
                .map(|it| it.targets.tabs().map(|tab| tab.session.clone()).collect())
                .unwrap_or_default();
            for tab in tabs {
                self.auto_attach_tab(seat, &tab, turn);
            }
        }
        self.announce_children(seat, turn);
        Ok(Payload::empty_object())
    }

    pub(crate) fn set_discover_targets(
        &mut self,
        seat: &Seat,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        struct SetDiscoverTargets {
            discover: bool,
            filter: Option<Filter>,
        }

        let wanted: SetDiscoverTargets = command.read_params()?;
        let filter = wanted.discover.then(|| wanted.filter.unwrap_or_default());
        let session = self.clients.session_mut(seat).ok_or_else(Error::unknown_session)?;
        let begins = filter.is_some() && session.discover.is_none();
        session.discover.clone_from(&filter);
        self.children_changed = true;
        if begins {
            self.hide_blocked_from(seat);
        }
        let infos = self.open_infos(seat).into_iter();
        for info in infos.filter(|info| filter.as_ref().is_some_and(|it| it.admits(&info.kind))) {
            turn.event(seat, "Target.targetCreated", &InfoEvent::of(info));
        }
        Ok(Payload::empty_object())
    }

    /// Tabs that show a dialog are told of when it closes.
    fn hide_blocked_from(&mut self, seat: &Seat) {
        let connection = self.connection_of(seat);
        let extension = connection.and_then(|connection| self.extensions.get_mut(connection));
        let targets = extension.map(|extension| extension.targets.iter_mut()).into_iter().flatten();
        for target in targets.filter(|target| target.is_blocked_for(seat.client)) {
            target.hide_from(seat);
        }
    }

    pub(crate) fn get_targets(&self, seat: &Seat, command: &Command) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        struct GetTargets {
            #[serde(default)]
            filter: Filter,
        }

        let GetTargets { filter } = command.read_params()?;
        let mut infos = self.open_infos(seat);
        infos.retain(|info| filter.admits(&info.kind));
        Ok(Payload::of(&json!({ "targetInfos": infos })))
    }

    pub(crate) fn attach_to_target(
        &mut self,
        seat: &Seat,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        let OneTarget { target_id } = command.read_params()?;
        if target_id == self.browser_id {
            return self.attach_to_browser_target(seat, turn);
        }
        let tab = self.tab_by_id(seat, &target_id);
        let opened = match tab.map(|page| page.session.clone()) {
            Some(page) => self.open_tab_session(seat, &page, false, turn),
            None => {
                let unknown = |error: Error| {
                    Error::new(error.code, format!("{}: {target_id}", error.message))
                };
                let real = self.target_by_id(seat, &target_id).map_err(unknown)?.session.clone();
                self.open_session(seat, &real, false, false, turn)
            }
        };
        let session_id = opened.ok_or_else(too_many)?;
        Ok(Payload::of(&OneSession { session_id }))
    }

    pub(crate) fn attach_to_browser_target(
        &mut self,
        seat: &Seat,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        let session = Session::new(Some(seat.session.clone()), Kind::Browser);
        let client = self.clients.get_mut(seat.client).ok_or_else(Error::unknown_session)?;
        self.sessions_named += 1;
        let name = SessionId::new(format!("browser.{}", self.sessions_named));
        let opened = client.sessions.open(&name, &mut self.sessions_named, session);
        let session_id = opened.ok_or_else(too_many)?;
        send_attached(seat, session_id.clone(), self.browser_info(), false, turn);
        Ok(Payload::of(&OneSession { session_id }))
    }

    pub(crate) fn detach_from_target(
        &mut self,
        seat: &Seat,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Detach {
            session_id: Option<SessionId>,
            /// Deprecated, but Chrome takes it.
            target_id: Option<TargetId>,
        }

        let Detach { session_id, target_id } = command.read_params()?;
        let session = session_id.or_else(|| self.session_below(seat, &target_id?));
        let session =
            session.ok_or_else(|| Error::new(-32602, "No session for given target id"))?;
        let ended = Seat { client: seat.client, session };
        let parent = self.clients.session(&ended).and_then(|session| session.parent.as_ref());
        if parent != Some(&seat.session) {
            return Err(Error::new(-32602, "No session with given id"));
        }
        self.end_session(&ended, None, turn);
        Ok(Payload::empty_object())
    }

    /// The session on a target that was announced on this one.
    fn session_below(&self, seat: &Seat, target: &TargetId) -> Option<SessionId> {
        let client = self.clients.get(seat.client)?;
        let is_on_it = |session: &Session| {
            session.parent.as_ref() == Some(&seat.session)
                && self.target_id_of(client.connection, session).as_ref() == Some(target)
        };
        client.sessions.such(is_on_it).into_iter().next()
    }
}

fn too_many() -> Error {
    Error::server(format!("{MAX_SESSIONS} sessions are open already"))
}
