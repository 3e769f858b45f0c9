//! The commands that a tab's debugger does not know and a browser would: the relay answers them.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;
use shared_protocol::{AttachedToTarget, CloseCode, Extra, Payload as _, SessionId, TargetId};

use super::announce::{InfoEvent, send, send_detached};
use super::sessions::{BrowserSession, Kind, Session};
use super::{Asker, ClientId, Effect, Relay};
use crate::browser_version::BrowserVersion;
use crate::cdp::{Command, Error};
use crate::payload::{Payload, TargetInfo};

const NO_CONTEXTS: &str = "Browser contexts are not supported: this endpoint drives the user's \
                           existing browser profile; use the default context.";

/// Whether a command on a target's session is the relay's to answer.
pub(super) fn serves_on_target(method: &str) -> bool {
    method.starts_with("Browser.")
        || matches!(
            method,
            "Target.activateTarget"
                | "Target.attachToBrowserTarget"
                | "Target.attachToTarget"
                | "Target.closeTarget"
                | "Target.createBrowserContext"
                | "Target.createTarget"
                | "Target.detachFromTarget"
                | "Target.disposeBrowserContext"
                | "Target.getBrowserContexts"
                | "Target.getTargets"
                | "Target.setDiscoverTargets"
        )
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneTarget {
    target_id: TargetId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneSession {
    session_id: SessionId,
}

impl Relay {
    pub(super) fn browser_command(
        &mut self,
        client: ClientId,
        command: Command,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        match command.method.as_str() {
            "Target.createTarget" => {
                self.forward_command(client, command, None, now, effects);
            }
            "Target.closeTarget" => self.close_target(client, command, now, effects),
            "Browser.close" => {
                effects.push(Asker::new(client, &command).reply(Ok(Payload::empty_object())));
                self.close_client(client, CloseCode::Normal, "Browser.close", effects);
            }
            _ => {
                let outcome = self.answer(client, &command, effects);
                effects.push(Asker::new(client, &command).reply(outcome));
            }
        }
    }

    /// Answers without asking anyone. Events that belong before the answer go out first.
    fn answer(
        &mut self,
        client: ClientId,
        command: &Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Payload, Error> {
        let session = command.session.as_ref();
        match command.method.as_str() {
            "Browser.getVersion" => {
                Ok(Payload::of(&BrowserVersion::of(self.user_agent(client)).cdp()))
            }
            // The browser keeps its own download folder; downloads are not reported to clients.
            "Browser.setDownloadBehavior" | "Runtime.runIfWaitingForDebugger" => {
                Ok(Payload::empty_object())
            }
            "Target.setAutoAttach" => self.set_auto_attach(client, session, command, effects),
            "Target.setDiscoverTargets" => {
                self.set_discover_targets(client, session, command, effects)
            }
            "Target.getTargets" => {
                let infos = self.tab_infos(client);
                Ok(Payload::of(&json!({ "targetInfos": infos })))
            }
            "Target.getTargetInfo" => self.target_info(client, command),
            "Target.attachToTarget" => self.attach_to_target(client, session, command, effects),
            "Target.attachToBrowserTarget" => {
                self.attach_to_browser_target(client, session, effects)
            }
            "Target.detachFromTarget" => self.detach_from_target(client, command, effects),
            "Target.getBrowserContexts" => Ok(Payload::of(&json!({ "browserContextIds": [] }))),
            "Target.createBrowserContext" => Err(Error::server(NO_CONTEXTS)),
            method => Err(Error::unknown_method(method)),
        }
    }

    fn set_auto_attach(
        &mut self,
        client: ClientId,
        session: Option<&SessionId>,
        command: &Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct SetAutoAttach {
            auto_attach: bool,
            #[serde(default)]
            flatten: bool,
        }

        let wanted: SetAutoAttach = params(command)?;
        if wanted.auto_attach && !wanted.flatten {
            let message = "Only flatten protocol is supported with browser level auto-attach";
            return Err(Error::new(-32602, message));
        }
        self.browser_session(client, session)?.auto_attach = wanted.auto_attach;
        if wanted.auto_attach {
            let tabs: Vec<_> = self
                .extension_of(client)
                .map(|extension| extension.targets.tabs().cloned().collect())
                .unwrap_or_default();
            for tab in tabs {
                self.auto_attach_tab(client, session.cloned(), &tab, effects);
            }
        }
        Ok(Payload::empty_object())
    }

    fn set_discover_targets(
        &mut self,
        client: ClientId,
        session: Option<&SessionId>,
        command: &Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        struct SetDiscoverTargets {
            discover: bool,
        }

        let wanted: SetDiscoverTargets = params(command)?;
        self.browser_session(client, session)?.discover = wanted.discover;
        if wanted.discover {
            for info in self.tab_infos(client) {
                let event = InfoEvent::of(info);
                send(effects, client, session.cloned(), "Target.targetCreated", &event);
            }
        }
        Ok(Payload::empty_object())
    }

    fn target_info(&self, client: ClientId, command: &Command) -> Result<Payload, Error> {
        let wanted = match &command.params {
            Some(_) => params::<OneTarget>(command).ok().map(|wanted| wanted.target_id),
            None => None,
        };
        let info = match wanted {
            None => self.browser_info(),
            Some(id) if id == self.browser_id => self.browser_info(),
            Some(id) => self
                .extension_of(client)
                .and_then(|extension| extension.targets.by_target_id(&id))
                .map(|target| target.info.clone())
                .ok_or_else(no_such_target)?,
        };
        Ok(Payload::of(&InfoEvent::of(info)))
    }

    fn attach_to_target(
        &mut self,
        client: ClientId,
        session: Option<&SessionId>,
        command: &Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Payload, Error> {
        let OneTarget { target_id } = params(command)?;
        if target_id == self.browser_id {
            return self.attach_to_browser_target(client, session, effects);
        }
        let target = self
            .extension_of(client)
            .and_then(|extension| extension.targets.by_target_id(&target_id))
            .cloned()
            .ok_or_else(no_such_target)?;
        let opened = self
            .open_session(client, session.cloned(), &target, false, effects)
            .ok_or_else(Error::unknown_session)?;
        Ok(Payload::of(&SessionReply { session_id: opened }))
    }

    fn attach_to_browser_target(
        &mut self,
        client: ClientId,
        parent: Option<&SessionId>,
        effects: &mut Vec<Effect>,
    ) -> Result<Payload, Error> {
        let kind = Kind::Browser(BrowserSession::default());
        let session = Session { parent: parent.cloned(), kind };
        let state = self.clients.get_mut(client).ok_or_else(Error::unknown_session)?;
        let session_id = state.sessions.open(&SessionId::new("browser"), session);
        let attached = AttachedToTarget {
            session_id: session_id.clone(),
            target_info: self.browser_info(),
            waiting_for_debugger: false,
            extra: Extra::default(),
        };
        send(effects, client, parent.cloned(), "Target.attachedToTarget", &attached);
        Ok(Payload::of(&SessionReply { session_id }))
    }

    fn detach_from_target(
        &mut self,
        client: ClientId,
        command: &Command,
        effects: &mut Vec<Effect>,
    ) -> Result<Payload, Error> {
        let OneSession { session_id } = params(command)?;
        let state = self.clients.get_mut(client).ok_or_else(Error::unknown_session)?;
        let is_child = state
            .sessions
            .get(&session_id)
            .is_some_and(|session| session.parent == command.session);
        if !is_child {
            return Err(Error::new(-32602, "No session with given id"));
        }
        for (session_id, session) in state.sessions.close(&session_id) {
            send_detached(effects, client, session.parent, session_id, None);
        }
        Ok(Payload::empty_object())
    }

    /// A target closes itself best: only its own session may close it without asking the page.
    fn close_target(
        &mut self,
        client: ClientId,
        command: Command,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let target = params::<OneTarget>(&command).and_then(|wanted| {
            self.extension_of(client)
                .and_then(|extension| extension.targets.by_target_id(&wanted.target_id))
                .map(|target| target.session.clone())
                .ok_or_else(no_such_target)
        });
        match target {
            Ok(real) => self.forward_command(client, command, Some(real), now, effects),
            Err(error) => effects.push(Asker::new(client, &command).reply(Err(error))),
        }
    }

    fn browser_session(
        &mut self,
        client: ClientId,
        session: Option<&SessionId>,
    ) -> Result<&mut BrowserSession, Error> {
        self.clients
            .get_mut(client)
            .and_then(|client| client.browser_session(session))
            .ok_or_else(|| Error::server("Not allowed"))
    }

    fn browser_info(&self) -> TargetInfo {
        TargetInfo {
            target_id: self.browser_id.clone(),
            kind: "browser".to_owned(),
            title: String::new(),
            url: String::new(),
            attached: true,
            opener_id: None,
            can_access_opener: false,
            browser_context_id: None,
            extra: Extra::default(),
        }
    }

    fn tab_infos(&self, client: ClientId) -> Vec<TargetInfo> {
        self.extension_of(client)
            .map(|extension| extension.targets.tabs().map(|tab| tab.info.clone()).collect())
            .unwrap_or_default()
    }

    fn user_agent(&self, client: ClientId) -> Option<&str> {
        self.extension_of(client).map(|extension| extension.user_agent.as_str())
    }

    fn extension_of(&self, client: ClientId) -> Option<&super::Extension> {
        self.extensions.get(self.clients.get(client)?.connection)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionReply {
    session_id: SessionId,
}

fn params<T: serde::de::DeserializeOwned>(command: &Command) -> Result<T, Error> {
    match &command.params {
        Some(params) => params.read(),
        None => Payload::empty_object().read(),
    }
    .map_err(|error| Error::invalid_params(error.to_string()))
}

fn no_such_target() -> Error {
    Error::new(-32602, "No target with given id found")
}
