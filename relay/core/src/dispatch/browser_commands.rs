//! The commands that a tab's debugger does not know and a browser would: the relay answers them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use shared_protocol::{CloseCode, Extra, SessionId, TargetId};

use crate::browser::cookies::is_concerned;
use crate::cdp::payload::{Payload, RelayMessage, TargetInfo};
use crate::cdp::version::BrowserVersion;
use crate::cdp::{Command, Error};
use crate::ids::Seat;
use crate::requests::asker::Asker;
use crate::requests::pending::Request;
use crate::requests::purpose::Purpose;
use crate::requests::refusal::{self, OnRefusal};
use crate::requests::send::extension_command;
use crate::sessions::model::Kind;
use crate::targets::announce::InfoEvent;
use crate::targets::model::Target;
use crate::turn::Turn;
use crate::{Extension, Relay};

const NO_CONTEXTS: &str = "Browser contexts are not supported: this endpoint drives the user's \
                           existing browser profile; use the default context.";

const ALL_CRASHED: &str = "Every controlled tab has crashed: reload one";

const NO_TAB: &str = "No tab is attached: click the Playwriter icon on a Chrome tab, or open one \
                      with Target.createTarget";

/// How long a tab may take to open.
const OPENING: Duration = Duration::from_secs(30);

/// How long after it was told to close a tab closes whatever comes into it; what comes later, the
/// user wants to see.
const CLOSING: Duration = Duration::from_secs(5);

/// Whether a command on a target's session is the relay's to answer.
pub(crate) fn serves_on_target(method: &str) -> bool {
    method.starts_with("Browser.")
        || (method.starts_with("Target.") && method != "Target.setAutoAttach")
        || method == "Page.setDownloadBehavior"
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OneTarget {
    pub(crate) target_id: TargetId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneContext {
    browser_context_id: Option<String>,
}

impl Relay {
    /// A command on a browser-level session, or one that is the browser's wherever it is sent.
    pub(crate) fn browser_command(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        match command.method.as_str() {
            "Target.createTarget" => self.create_target(seat, command, turn),
            "Target.closeTarget" => self.close_target(seat, command, turn),
            "Target.activateTarget" => self.activate_target(seat, &command, turn),
            "Browser.close" => {
                turn.effects.push(Asker::new(seat, &command).reply(Ok(Payload::empty_object())));
                self.close_client(seat.client, CloseCode::Normal, "Browser.close", turn);
            }
            "Browser.getWindowForTarget"
            | "Browser.getWindowBounds"
            | "Browser.setWindowBounds"
            | "Browser.setContentsSize" => self.window_command(seat, &command, turn),
            "Browser.grantPermissions" | "Browser.setPermission" | "Browser.resetPermissions" => {
                self.permission_command(seat, &command, turn);
            }
            "Browser.cancelDownload" => self.cancel_download(seat, &command, turn),
            method if method.starts_with("Tracing.") || method.starts_with("IO.") => {
                self.stream_command(seat, command, turn);
            }
            method if is_concerned(method) => self.profile_command(seat, None, command, turn),
            method if method.starts_with("Storage.") => {
                match self.storage_refusal(seat, &command) {
                    Some(error) => {
                        turn.effects.push(Asker::new(seat, &command).reply(Err(error)));
                    }
                    None => self.any_tab_command(seat, command, turn),
                }
            }
            _ => {
                let outcome = self.answer(seat, &command, turn);
                turn.effects.push(Asker::new(seat, &command).reply(outcome));
            }
        }
    }

    /// Answers without asking anyone. Events that belong before the answer go out first.
    fn answer(
        &mut self,
        seat: &Seat,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        match command.method.as_str() {
            "Browser.getVersion" => {
                let version = self.extension_of(seat).map(Extension::version);
                Ok(Payload::of(&version.unwrap_or_else(|| BrowserVersion::of(None, None)).cdp()))
            }
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => {
                self.set_download_behavior(seat, command)
            }
            "Browser.crash" | "Browser.crashGpuProcess" => {
                Err(Error::server("Not allowed: this is the user's own browser"))
            }
            "Runtime.runIfWaitingForDebugger" | "Target.setRemoteLocations" => {
                Ok(Payload::empty_object())
            }
            "Security.setIgnoreCertificateErrors" => Err(Error::server(
                "Not allowed: certificates of the user's own browser are checked for the user",
            )),
            "Target.setAutoAttach" => self.set_auto_attach(seat, command, turn),
            "Target.setDiscoverTargets" => self.set_discover_targets(seat, command, turn),
            "Target.getTargets" => self.get_targets(seat, command),
            "Target.getTargetInfo" => self.target_info(seat, command),
            "Target.attachToTarget" => self.attach_to_target(seat, command, turn),
            "Target.attachToBrowserTarget" => self.attach_to_browser_target(seat, turn),
            "Target.detachFromTarget" => self.detach_from_target(seat, command, turn),
            "Target.getBrowserContexts" => Ok(Payload::of(&json!({
                "browserContextIds": [],
                "defaultBrowserContextId": self.context_of(seat),
            }))),
            "Target.createBrowserContext" => Err(Error::server(NO_CONTEXTS)),
            "Target.disposeBrowserContext" => {
                let id =
                    command.read_params::<OneContext>()?.browser_context_id.unwrap_or_default();
                Err(Error::server(format!("Failed to find context with id {id}")))
            }
            "Target.getDevToolsTarget" => Ok(Payload::empty_object()),
            "Target.openDevTools" => {
                Err(Error::server("Not allowed: DevTools are the user's to open"))
            }
            "Target.exposeDevToolsProtocol" | "Target.autoAttachRelated" => {
                Err(Error::server("Not supported"))
            }
            method => Err(Error::unknown_method(method)),
        }
    }

    fn create_target(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let asker = Asker::new(seat, &command);
        let asked = command.read_params::<OneContext>().ok().and_then(|it| it.browser_context_id);
        if let Some(id) = asked.filter(|id| !id.is_empty() && *id != self.context_of(seat)) {
            let message = format!("Failed to find browser context with id {id}");
            return turn.effects.push(asker.reply(Err(Error::server(message))));
        }
        let Some(connection) = self.connection_of(seat) else { return };
        let request = Request {
            connection,
            session: None,
            asker: Some(asker),
            purpose: Purpose::Forward,
            deadline: Some(turn.now + OPENING),
            needs: None,
            on_refusal: OnRefusal::Fails,
        };
        let command = self.with_window_wish(seat.client, command);
        let command = extension_command(command.method, None, command.params);
        self.ask_extension(request, |id| RelayMessage::Command { id, command }, turn);
    }

    /// A target closes itself best: only its own session may close it without asking the page.
    fn close_target(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let target = command
            .read_params::<OneTarget>()
            .and_then(|wanted| self.page_by_id(seat, &wanted.target_id));
        match target {
            Ok((real, target_id)) => {
                let named = Payload::of(&json!({ "targetId": target_id }));
                let command = Command { params: Some(named), ..command };
                let connection = self.connection_of(seat);
                if let Some(target) = connection.and_then(|it| self.target_mut(it, &real)) {
                    target.closes_until = Some(turn.now + CLOSING);
                }
                self.forward(seat, command, &real, Purpose::CloseTarget, turn);
            }
            Err(error) => turn.effects.push(Asker::new(seat, &command).reply(Err(error))),
        }
    }

    /// Runs a command of the whole profile in the first tab, which stands for it.
    pub(crate) fn any_tab_command(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        match self.any_tab(seat) {
            Ok(real) => {
                let command = without_context(command);
                self.forward(seat, command, &real, Purpose::Forward, turn);
            }
            Err(error) => turn.effects.push(Asker::new(seat, &command).reply(Err(error))),
        }
    }

    /// The tab that stands for the browser: the one that the client used last, else the first.
    pub(crate) fn any_tab(&self, seat: &Seat) -> Result<SessionId, Error> {
        let last_use = |tab: &&Target| {
            let own = tab.seats.iter().filter(|other| other.client == seat.client);
            own.filter_map(|own| self.virtual_of(own)).map(|on| on.last_active).max()
        };
        let tabs = self.extension_of(seat).map(|extension| extension.targets.living_tabs());
        // Of several, `max_by_key` gives the last.
        let tabs = tabs.map(|tabs| tabs.filter(|tab| self.is_seen(seat, tab)));
        let tab =
            tabs.and_then(|tabs| tabs.collect::<Vec<_>>().into_iter().rev().max_by_key(last_use));
        tab.map(|tab| tab.session.clone()).ok_or_else(|| self.no_tab(seat))
    }

    /// Why there is no tab that could answer.
    pub(crate) fn no_tab(&self, seat: &Seat) -> Error {
        let extension = self.extension_of(seat);
        let tabs = extension.map(|it| it.targets.tabs().filter(|tab| self.is_seen(seat, tab)));
        let tabs: Vec<&Target> = tabs.into_iter().flatten().collect();
        Error::server(match tabs.as_slice() {
            [] => NO_TAB,
            tabs if tabs.iter().all(|tab| tab.is_crashed) => ALL_CRASHED,
            _ => refusal::WORDS,
        })
    }

    fn target_info(&self, seat: &Seat, command: &Command) -> Result<Payload, Error> {
        let wanted = command.read_params::<OneTarget>().ok().map(|wanted| wanted.target_id);
        let own = match self.clients.session(seat).map(|session| &session.kind) {
            Some(Kind::Target(_)) => self.target_under(seat).map(|it| it.info.target_id.clone()),
            Some(Kind::Tab { page }) => self
                .extension_of(seat)
                .and_then(|extension| extension.targets.by_session(page)?.tab.clone()),
            Some(Kind::Browser) | None => None,
        };
        let id = wanted.or(own).unwrap_or_else(|| self.browser_id.clone());
        let info = self.infos(seat, |_| true).into_iter().find(|info| info.target_id == id);
        let info = info.ok_or_else(crate::targets::children::no_such_target)?;
        Ok(Payload::of(&InfoEvent::of(info)))
    }

    /// Everything a client had better attach to, the browser first.
    pub(crate) fn open_infos(&self, seat: &Seat) -> Vec<TargetInfo> {
        self.infos(seat, |target| !target.is_blocked_for(seat.client))
    }

    fn infos(&self, seat: &Seat, such: impl Fn(&Target) -> bool) -> Vec<TargetInfo> {
        let mut infos = vec![self.browser_info()];
        if let Some(extension) = self.extension_of(seat) {
            let first = extension.targets.iter().filter(|it| extension.targets.is_first(it));
            for target in first.filter(|it| such(it) && self.is_seen(seat, it)) {
                infos.extend(crate::targets::announce::tab_info(target));
                infos.push(target.info.clone());
            }
        }
        infos
    }

    pub(crate) fn browser_info(&self) -> TargetInfo {
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

    /// The page with this id, or in the tab with this id: its real session and own id.
    pub(crate) fn page_by_id(
        &self,
        seat: &Seat,
        id: &TargetId,
    ) -> Result<(SessionId, TargetId), Error> {
        let tab = self.tab_by_id(seat, id);
        let target = match tab {
            Some(target) => target,
            None => self.target_by_id(seat, id)?,
        };
        Ok((target.session.clone(), target.info.target_id.clone()))
    }

    /// The profile's own context, which every client drives.
    fn context_of(&self, seat: &Seat) -> String {
        self.extension_of(seat)
            .and_then(|extension| extension.context.clone())
            .unwrap_or_else(|| crate::targets::announce::DEFAULT_CONTEXT.to_owned())
    }

    pub(crate) fn extension_of(&self, seat: &Seat) -> Option<&Extension> {
        self.extensions.get(self.connection_of(seat)?)
    }
}

/// Only a browser's own session may name a context; the tab is in the right one anyway.
pub(crate) fn without_context(command: Command) -> Command {
    let fields = command.read_params::<serde_json::Map<String, serde_json::Value>>();
    match fields {
        Ok(mut fields) => match fields.remove("browserContextId") {
            Some(_) => Command { params: Some(Payload::of(&fields)), ..command },
            None => command,
        },
        Err(_) => command,
    }
}
