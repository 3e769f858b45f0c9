//! What the relay asks for, and what Chrome answers and tells.

use serde::{Deserialize, Serialize};
use shared_protocol::{
    AttachedToTarget, CdpCommand, CdpEvent, DetachedFromTarget, DownloadId, ExtensionMessage,
    Extra, Payload, RelayMessage, SessionId, TabId, TargetId, reset_commands,
};

use super::chrome_requests::NoFields;
use super::hidden_tabs::HiddenTabs;
use super::tabs::{Child, RequestedTab, TabState};
use super::{Attempt, BLANK, Bounds, Debuggee, Effect, Place, RequestRef, Worker};

/// How many tabs may be on their way at once; more are refused.
const MAX_REQUESTED_TABS: usize = 256;

impl<P: Payload> Worker<P> {
    pub(super) fn relay_sent(
        &mut self,
        attempt: Attempt,
        message: RelayMessage<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match message {
            RelayMessage::Ping => {
                effects.push(Effect::Send(ExtensionMessage::Pong));
                if self.connection.mark_as_older() {
                    self.show_all(effects);
                }
            }
            RelayMessage::Command { id, command } => {
                self.run_command(RequestRef { attempt, id }, command, effects);
            }
            RelayMessage::CreateInitialTab { id, params, .. } => {
                let requested = RequestedTab { request: RequestRef { attempt, id }, initial: true };
                let create = params.and_then(|params| params.read().ok()).unwrap_or_default();
                self.open_tab(requested, create, effects);
            }
            RelayMessage::SetWindowMode(mode, _) => {
                self.connection.mark_as_ours();
                self.windows.set_separate(mode.separate_window);
                self.is_snapshot_stale = true;
            }
            RelayMessage::GetWindow { id, query, .. } => {
                self.read_window(RequestRef { attempt, id }, &query, effects);
            }
            RelayMessage::SetWindow { id, change, .. } => {
                self.change_window(RequestRef { attempt, id }, &change, effects);
            }
            RelayMessage::ActivateTab { id, tab, .. } => {
                self.activate_tab(RequestRef { attempt, id }, &tab.target_id, effects);
            }
            RelayMessage::BlankTab { id, tab, .. } => {
                self.leave_page(RequestRef { attempt, id }, &tab.target_id, false, effects);
            }
            RelayMessage::CloseTab { id, tab, .. } => {
                self.leave_page(RequestRef { attempt, id }, &tab.target_id, true, effects);
            }
            RelayMessage::SetPermissions { id, permissions, .. } => {
                self.permissions.replace(RequestRef { attempt, id }, permissions.rules, effects);
                self.is_snapshot_stale = true;
            }
            RelayMessage::FindDownload { id, query, .. } => {
                self.downloads.find(RequestRef { attempt, id }, query, effects);
            }
            RelayMessage::CancelDownload { id, download, .. } => {
                let request = RequestRef { attempt, id };
                let DownloadId { id: download, remove, .. } = download;
                if self.downloads.is_reported(download) {
                    effects.push(Effect::CancelDownload { request, download, remove });
                } else {
                    // As with one that Chrome does not know.
                    self.reply_with(request, &NoFields {}, effects);
                }
            }
            RelayMessage::CallCookies { id, calls, .. } => {
                self.call_cookies(RequestRef { attempt, id }, calls, effects);
            }
            RelayMessage::SetNotice(notice, _) => {
                self.connection.set_notice(notice.text);
                self.show_all(effects);
            }
            RelayMessage::Recording { id, .. }
            | RelayMessage::UpdateTabGroup { id, .. }
            | RelayMessage::Unknown { id: Some(id), .. } => {
                // What the released extensions answer to a method they do not know.
                self.reply(RequestRef { attempt, id }, Ok(None), effects);
            }
            RelayMessage::Unknown { id: None, .. } => {}
        }
    }

    fn run_command(
        &mut self,
        request: RequestRef,
        command: CdpCommand<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match (command.method.as_str(), &command.session_id) {
            ("Target.createTarget", _) => {
                let create = command.params.as_ref().and_then(|p| p.read::<CreateTarget>().ok());
                let requested = RequestedTab { request, initial: false };
                return self.open_tab(requested, create.unwrap_or_default(), effects);
            }
            ("Target.setAutoAttach", None) => {
                return self.auto_attach_everywhere(request, command.params, effects);
            }
            _ => {}
        }
        match self.find_debuggee(&command) {
            Ok(debuggee) => self.run_in_tab(request, debuggee, command, effects),
            Err(why) => self.reply(request, Err(why), effects),
        }
    }

    fn run_in_tab(
        &mut self,
        request: RequestRef,
        debuggee: Debuggee,
        command: CdpCommand<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let tab = debuggee.tab_id;
        if self.tabs.is_crashed(tab) {
            if command.method != "Target.closeTarget" {
                return self.reply(request, Err(CRASHED.to_owned()), effects);
            }
            // Its debugger is as dead as its page, but Chrome is not.
            effects.push(Effect::CloseTabs { tabs: vec![tab] });
            return self.reply(request, Ok(P::write(&Closed { success: true }).ok()), effects);
        }
        let is_tree_awaited =
            self.unforwarded_replies > 0 || self.in_flight.asks_frame_tree(&debuggee);
        if causes_frame_events(&command.method) && is_tree_awaited {
            // Events of Chrome overtake its answers, and Playwright misses what happens to frames
            // that it has not heard of yet. Relays of ours keep the order; released ones do not.
            self.in_flight.add(request, debuggee.clone(), &command.method);
            return self.held_commands.push((request, debuggee, command));
        }
        self.is_snapshot_stale |= HiddenTabs::changes_stored_use(&command.method);
        self.hidden_tabs.before_command(tab, &command.method, command.params.as_ref(), effects);
        match command.method.as_str() {
            "Runtime.enable" if self.tabs.enable_runtime(&debuggee) => {
                // Chrome tells of execution contexts only when Runtime was off before.
                effects.push(internal_command(tab, debuggee.session_id.clone(), "Runtime.disable"));
            }
            "Runtime.disable" => self.tabs.disable_runtime(&debuggee),
            "Page.addScriptToEvaluateOnNewDocument" => self.scripts_added += 1,
            "Page.captureScreenshot" => {
                effects.push(Effect::ForceFrameLater { tab, request, forced: 0 });
            }
            _ => {}
        }
        self.in_flight.add(request, debuggee.clone(), &command.method);
        effects.push(Effect::RunCommand {
            request: Some(request),
            debuggee,
            method: command.method,
            params: command.params,
        });
    }

    /// Where a command runs: in the session it names, or the one that its parameters name.
    fn find_debuggee(&self, command: &CdpCommand<P>) -> Result<Debuggee, String> {
        if let Some(session) = &command.session_id {
            return self
                .tabs
                .find_session(session)
                .ok_or_else(|| format!("No tab found for sessionId: {session}"));
        }
        let named = command.params.as_ref().and_then(|params| params.read::<NamedTarget>().ok());
        named
            .and_then(|NamedTarget { session_id, target_id }| {
                let by_session = session_id.and_then(|session| self.tabs.find_session(&session));
                by_session.or_else(|| target_id.and_then(|target| self.tabs.find_target(&target)))
            })
            .ok_or_else(|| format!("No tab found for method {}", command.method))
    }

    /// Older relays say once, for all tabs and those to come, that children are wanted.
    fn auto_attach_everywhere(
        &mut self,
        request: RequestRef,
        params: Option<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.auto_attach = params;
        self.is_snapshot_stale = true;
        let tabs: Vec<TabId> = self.tabs.attached_tabs().map(|(tab, ..)| tab).collect();
        for tab in tabs {
            self.auto_attach_children(tab, effects);
        }
        self.reply(request, Ok(P::write(&NoFields {}).ok()), effects);
    }

    pub(super) fn auto_attach_children(&self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        if self.auto_attach.is_some() {
            effects.push(Effect::RunCommand {
                request: None,
                debuggee: Debuggee::tab(tab),
                method: "Target.setAutoAttach".to_owned(),
                params: self.auto_attach.clone(),
            });
        }
    }

    fn open_tab(
        &mut self,
        requested: RequestedTab,
        create: CreateTarget,
        effects: &mut Vec<Effect<P>>,
    ) {
        let request = requested.request;
        if self.requested_tabs.len() >= MAX_REQUESTED_TABS {
            let why = "Too many tabs are being opened at once".to_owned();
            return self.reply(request, Err(why), effects);
        }
        self.requested_tabs.push(requested);
        let url = create.url.filter(|url| !url.is_empty()).unwrap_or_else(|| BLANK.to_owned());
        if create.new_window {
            let CreateTarget { left, top, width, height, .. } = create;
            let place = Place::ClientWindow(Bounds { left, top, width, height });
            return effects.push(Effect::CreateTab { request, url, place });
        }
        let mut attached = self.tabs.attached_tabs().map(|(tab, ..)| tab);
        let beside = attached.find(|tab| !self.windows.owns(*tab));
        let separate = create.separate_window.unwrap_or(self.windows.is_separate());
        self.windows.open_tab(request, url, separate, beside, effects);
    }

    pub(super) fn command_done(
        &mut self,
        request: RequestRef,
        outcome: Result<P, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let is_frame_tree = self.in_flight.is_frame_tree(request);
        if self.in_flight.done(request) {
            self.reply(request, outcome.map(Some), effects);
        }
        if !is_frame_tree {
            return;
        }
        match self.connection.port() {
            Some(port) if !self.connection.relay_is_ours() => {
                self.unforwarded_replies += 1;
                effects.push(Effect::AwaitOldRelay { port });
            }
            Some(_) | None => self.run_held_commands(effects),
        }
    }

    /// An older relay has passed an answer on. What waits may wait for a later one.
    pub(super) fn old_relay_drained(&mut self, effects: &mut Vec<Effect<P>>) {
        self.unforwarded_replies -= 1;
        if self.unforwarded_replies == 0 {
            self.run_held_commands(effects);
        }
    }

    /// Runs what waited for an answer.
    pub(super) fn run_held_commands(&mut self, effects: &mut Vec<Effect<P>>) {
        for (request, debuggee, command) in std::mem::take(&mut self.held_commands) {
            // Its tab may have crashed meanwhile, or its relay gone.
            if self.in_flight.done(request) {
                self.run_in_tab(request, debuggee, command, effects);
            }
        }
    }

    pub(super) fn debugger_event(
        &mut self,
        tab: TabId,
        child: Option<SessionId>,
        method: String,
        params: P,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(session) = self.tabs.session(tab).cloned() else {
            if method == "Page.javascriptDialogOpening" {
                self.dismiss_early_dialog(tab, effects);
            }
            return;
        };
        let mut crashed = None;
        match method.as_str() {
            "Target.attachedToTarget" => {
                if let Ok(attached) = params.read::<AttachedToTarget<P>>() {
                    if attached.waiting_for_debugger && !self.connection.is_open() {
                        // Nobody is there who could let it go on.
                        let child = attached.session_id.clone();
                        effects.push(internal_command(
                            tab,
                            Some(child),
                            "Runtime.runIfWaitingForDebugger",
                        ));
                    }
                    self.log_missing_url(&attached.target_info, effects);
                    let parent = child.clone();
                    self.tabs.add_child(Child { tab, parent, attached });
                    self.is_snapshot_stale = true;
                }
            }
            "Target.detachedFromTarget" => {
                if let Ok(detached) = params.read::<DetachedFromTarget<P>>() {
                    self.tabs.remove_child(&detached.session_id);
                    self.is_snapshot_stale = true;
                }
            }
            "Page.frameNavigated" if child.is_none() => self.tabs.reset_losses(tab),
            "Page.loadEventFired" | "Page.navigatedWithinDocument" if child.is_none() => {
                effects.push(Effect::ReadTargetInfo { tab });
            }
            "Inspector.targetCrashed" if child.is_none() => crashed = Some(true),
            "Inspector.targetReloadedAfterCrash" if child.is_none() => crashed = Some(false),
            _ => {}
        }
        let session_id = Some(child.unwrap_or(session));
        let event = CdpEvent { session_id, method, params: Some(params), extra: Extra::default() };
        self.send_event(event, effects);
        // Clients hear of a crash before the commands that were waiting fail.
        if let Some(is_dead) = crashed {
            self.set_crashed(tab, is_dead, effects);
        }
    }

    pub(super) fn clean_up_tabs(&mut self, effects: &mut Vec<Effect<P>>) {
        let tabs: Vec<TabId> = self.tabs.attached_tabs().map(|(tab, ..)| tab).collect();
        for tab in tabs {
            self.clean_up_tab(tab, effects);
        }
        self.scripts_added = 0;
    }

    /// Undoes what clients left in a tab whose relay has gone without a word.
    fn clean_up_tab(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.hidden_tabs.forget(tab);
        for (method, params) in reset_commands() {
            let (method, debuggee) = (method.to_owned(), Debuggee::tab(tab));
            effects.push(Effect::RunCommand { request: None, debuggee, method, params });
        }
        // Chrome numbers a tab's scripts from 1 on and tells of none; an earlier worker may have
        // given it some, too.
        for number in 1..=self.scripts_added.clamp(MIN_SCRIPTS, MAX_SCRIPTS) {
            effects.push(Effect::RunCommand {
                request: None,
                debuggee: Debuggee::tab(tab),
                method: "Page.removeScriptToEvaluateOnNewDocument".to_owned(),
                params: P::write(&Script { identifier: number.to_string() }).ok(),
            });
        }
    }

    /// A dead renderer answers nothing, not even what it was asked before it died.
    fn set_crashed(&mut self, id: TabId, is_dead: bool, effects: &mut Vec<Effect<P>>) {
        if let Some(TabState::Attached { crashed, .. }) =
            self.tabs.get_mut(id).map(|tab| &mut tab.state)
        {
            *crashed = is_dead;
        }
        if is_dead {
            for request in self.in_flight.of_tab(id) {
                self.reply(request, Err(CRASHED.to_owned()), effects);
            }
        }
        self.show(id, effects);
    }
}

/// Whether a command is followed by events about frames: their contexts, or where they go.
fn causes_frame_events(method: &str) -> bool {
    matches!(method, "Runtime.enable" | "Runtime.runIfWaitingForDebugger")
}

/// How many scripts for new documents are taken from a tab: these at least, and at most.
const MIN_SCRIPTS: u32 = 16;
const MAX_SCRIPTS: u32 = 200;

const CRASHED: &str = "Target crashed";

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CreateTarget {
    url: Option<String>,
    new_window: bool,
    /// What the client wants, whatever the relay's mode is.
    separate_window: Option<bool>,
    left: Option<i64>,
    top: Option<i64>,
    width: Option<i64>,
    height: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedTarget {
    session_id: Option<SessionId>,
    target_id: Option<TargetId>,
}

#[derive(Serialize)]
struct Script {
    identifier: String,
}

#[derive(Serialize)]
struct Closed {
    success: bool,
}

/// A command of our own, whose answer nobody wants.
fn internal_command<P>(tab_id: TabId, session_id: Option<SessionId>, method: &str) -> Effect<P> {
    Effect::RunCommand {
        request: None,
        debuggee: Debuggee { tab_id, session_id },
        method: method.to_owned(),
        params: None,
    }
}
