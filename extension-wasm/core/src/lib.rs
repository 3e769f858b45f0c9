//! The worker as a pure machine: inputs in, effects out. Runs natively in tests.
//!
//! Nothing here touches `chrome.*`, the network or a clock. Every asynchronous effect ends in
//! exactly one input, also when it fails.

mod chrome_requests;
mod commands;
mod connection;
mod control;
mod downloads;
mod effect;
mod event_buffer;
mod groups;
mod hidden_tabs;
mod input;
mod pairing;
mod permissions;
mod popups;
mod small_map;
mod snapshot;
mod tabs;
mod toolbar;
mod unresponsive;
mod windows;

use serde::Serialize;
use shared_protocol::{
    AttachedToTarget, CdpCommand, CdpEvent, CloseCode, DEFAULT_PORT, ExtensionMessage, Extra,
    LogLevel, LogLine, ParseFailure, Payload, RequestId, SessionId, TabId, TargetId, TargetInfo,
};

use chrome_requests::NoFields;
pub use connection::Attempt;
use connection::Connection;
pub use control::is_restricted_page;
use downloads::Downloads;
pub use effect::Effect;
use event_buffer::EventBuffer;
pub use groups::GroupId;
use groups::Groups;
use hidden_tabs::HiddenTabs;
pub use input::Input;
pub use pairing::{HelloAnswer, PairingFileRead, PairingKey, ProofFailure, StoredKey};
use permissions::Permissions;
use small_map::{SmallMap, SmallSet};
pub use snapshot::{Snapshot, StoredTab};
pub use tabs::Debuggee;
use tabs::{Attaching, InFlight, RequestedTab, TabState, Tabs};
use toolbar::Toolbar;
pub use toolbar::{Icon, ToolbarState};
pub use unresponsive::Unresponsive;
use windows::Windows;
pub use windows::{Bounds, Place, WindowId, WindowRef};

/// What the user can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Where the relay listens, if the user has said so.
    pub port: Option<u16>,
    /// Whether controlled tabs are put into a group.
    pub tab_groups: bool,
}

/// Names a request of the relay, and the connection it came over: ids start anew with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestRef {
    attempt: Attempt,
    id: RequestId,
}

/// The worker's state for people who debug it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    connection_state: &'static str,
    tabs: Vec<TabStatus>,
    error_text: Option<String>,
    separate_window: bool,
    separate_window_id: Option<WindowId>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct TabStatus {
    tab_id: TabId,
    state: &'static str,
    session_id: Option<SessionId>,
    target_id: Option<TargetId>,
}

/// The whole extension, without Chrome.
#[derive(Debug)]
pub struct Worker<P> {
    /// What happened before the start.
    backlog: Option<Vec<Input<P>>>,
    connection: Connection,
    /// The connection that was lost last.
    lost_attempt: Option<Attempt>,
    event_buffer: EventBuffer<P>,
    tabs: Tabs<P>,
    /// Tabs that Chrome is about to open for the relay.
    requested_tabs: Vec<RequestedTab>,
    in_flight: InFlight,
    /// How many answers an older relay may not have passed on yet.
    unforwarded_replies: u32,
    /// Commands that wait for the answer to another.
    held_commands: Vec<(RequestRef, Debuggee, CdpCommand<P>)>,
    hidden_tabs: HiddenTabs,
    /// Scripts for new documents, in all tabs.
    scripts_added: u32,
    groups: Groups,
    windows: Windows,
    permissions: Permissions,
    downloads: Downloads<P>,
    toolbar: Toolbar,
    /// What is shown for all tabs.
    shown_problem: Option<String>,
    auto_attach: Option<P>,
    /// Tabs whose debugger is being taken off.
    detaching: SmallSet<TabId>,
    /// Why tabs could not be controlled.
    attach_errors: SmallMap<TabId, String>,
    /// Tabs that somebody other than the user put among the controlled ones.
    grouped_by_others: SmallSet<TabId>,
    /// Whether the snapshot of the state has become stale.
    is_snapshot_stale: bool,
}

impl<P> Default for Worker<P> {
    fn default() -> Self {
        Self {
            backlog: Some(Vec::new()),
            connection: Connection::default(),
            lost_attempt: None,
            event_buffer: EventBuffer::default(),
            tabs: Tabs::default(),
            requested_tabs: Vec::new(),
            in_flight: InFlight::default(),
            unforwarded_replies: 0,
            held_commands: Vec::new(),
            hidden_tabs: HiddenTabs::default(),
            scripts_added: 0,
            groups: Groups::default(),
            windows: Windows::default(),
            permissions: Permissions::default(),
            downloads: Downloads::default(),
            toolbar: Toolbar::default(),
            shown_problem: None,
            auto_attach: None,
            detaching: SmallSet::default(),
            attach_errors: SmallMap::default(),
            grouped_by_others: SmallSet::default(),
            is_snapshot_stale: false,
        }
    }
}

impl<P: Payload> Worker<P> {
    /// Applies one input.
    #[must_use = "effects happen only when the shell performs them"]
    pub fn handle(&mut self, input: Input<P>) -> Vec<Effect<P>> {
        let mut effects = Vec::new();
        if let Some(input) = self.keep_for_later(input) {
            self.apply(input, &mut effects);
            self.show_problem(&mut effects);
        }
        if std::mem::take(&mut self.is_snapshot_stale) {
            // Before anybody hears of it: what was said must be known to the next worker.
            effects.insert(0, Effect::Persist(self.snapshot()));
        }
        effects
    }

    fn apply(&mut self, input: Input<P>, effects: &mut Vec<Effect<P>>) {
        match input {
            Input::Started { settings, hello, snapshot } => {
                self.restore(*snapshot, effects);
                self.groups.enable(settings.tab_groups);
                self.connection.start(settings.port, *hello, effects);
                for input in self.backlog.take().unwrap_or_default() {
                    self.apply(input, effects);
                }
            }
            Input::SettingsChanged(settings) => {
                self.groups.enable(settings.tab_groups);
                self.connection.change_port(settings.port, effects);
            }
            Input::KeyRead { attempt, stored } => {
                self.connection.key_read(attempt, stored, effects);
                if stored == StoredKey::Unreadable {
                    self.show_all(effects);
                }
            }
            Input::KeyChanged => self.connection.key_changed(effects),
            Input::HelloAnswered { attempt, answer } => {
                self.connection.hello_answered(attempt, &answer, effects);
                self.show_all(effects);
            }
            Input::RelayUnproven { attempt, why } => {
                if self.connection.relay_unproven(attempt, why, effects) {
                    self.show_all(effects);
                }
            }
            Input::Probed { attempt, found } => {
                self.connection.probed(attempt, found, effects);
                self.show_all(effects);
            }
            Input::StatusAnswered { attempt, is_taken } => {
                self.connection.status_answered(attempt, is_taken, effects);
            }
            Input::SocketOpened { attempt } => {
                if self.connection.opened(attempt) {
                    // The mode was the last relay's wish; one that has a wish says so first.
                    self.windows.set_separate(false);
                    if self.connection.is_proven() {
                        effects.push(Effect::RememberPaired);
                    }
                    self.relay_connected(effects);
                }
            }
            Input::SocketClosed { attempt, code } => {
                let was_open = self.connection.is_open();
                if self.connection.closed(attempt, code, effects) {
                    self.show_all(effects);
                    if was_open {
                        self.schedule_relay_given_up(effects);
                    }
                    // Whoever closes with a reason of its own is still there, and its clients, too.
                    if was_open && !CloseCode::is_ours(code) {
                        self.clean_up_tabs(effects);
                    } else if was_open && !self.connection.is_displaced() {
                        self.event_buffer.start();
                    }
                }
            }
            Input::RetryDue { attempt } => self.connection.retry(Some(attempt), effects),
            Input::OldRelayDrained => self.old_relay_drained(effects),
            Input::RelayGivenUp { attempt } => {
                if !self.connection.is_open() && self.lost_attempt == Some(attempt) {
                    self.relay_given_up(effects);
                }
            }
            Input::AlarmRang => self.connection.retry(None, effects),
            Input::RelaySent { attempt, message } => {
                if self.connection.is_open_for(attempt) {
                    self.relay_sent(attempt, message, effects);
                }
            }
            Input::RelaySentGarbage { attempt, why } => {
                if self.connection.is_open_for(attempt) {
                    let failure =
                        ParseFailure { code: -32700, message: why, extra: Extra::default() };
                    effects.push(Effect::Send(ExtensionMessage::ParseFailure(failure)));
                }
            }
            Input::IconClicked { tab } => self.icon_clicked(tab, effects),
            Input::ReleaseAll => {
                for tab in self.tabs.ids() {
                    self.release(tab, effects);
                }
            }
            Input::Attached { tab, outcome } => self.attached(tab, outcome, effects),
            Input::TabUnresponsive { tab, reason } => self.tab_unresponsive(tab, reason, effects),
            Input::TabCreated { request, outcome } => self.tab_created(request, outcome, effects),
            Input::TabNavigated { tab } => self.tab_navigated(tab, effects),
            Input::TabRegrouped { tab, group } => self.tab_regrouped(tab, group, effects),
            Input::UngroupTried { tab, is_dragged } => {
                self.ungroup_tried(tab, is_dragged, effects);
            }
            Input::GroupRead { tab, group } => self.group_read(tab, group, effects),
            Input::TabMoved { tab } => {
                if self.tabs.get(tab).is_some() {
                    self.groups.moved(tab);
                    effects.push(Effect::ReadGroup { tab });
                }
            }
            Input::TabRemoved { tab } => self.tab_removed(tab, effects),
            Input::TabReplaced { tab, by } => self.tab_replaced(tab, by, effects),
            Input::GroupRemoved { group } => self.groups.group_removed(group),
            Input::WindowRemoved { window } => {
                self.windows.window_removed(window);
                self.is_snapshot_stale = true;
            }
            Input::PopupOpened { tab, opener, url } => {
                self.popup_opened(tab, opener, &url, effects);
            }
            Input::Grouped { group } => {
                self.groups.grouped(group, effects);
                self.is_snapshot_stale = true;
            }
            Input::Detached { tab } => {
                self.detaching.remove(tab);
            }
            Input::TargetInfoRead { tab, info } => self.target_info_read(tab, info, effects),
            Input::DebuggerEvent { tab, session, method, params } => {
                self.debugger_event(tab, session, method, params, effects);
            }
            Input::DebuggerDetached { tab, reason } => {
                self.debugger_detached(tab, &reason, effects);
            }
            Input::TabChecked { tab, exists } => self.tab_checked(tab, exists, effects),
            Input::CommandDone { request, outcome } => self.command_done(request, outcome, effects),
            Input::WindowRead { request, outcome } => self.answer(request, outcome, effects),
            Input::DownloadSearched { request, outcome } => {
                if let Some(outcome) = self.downloads.search_done(request, outcome) {
                    self.is_snapshot_stale |= self.downloads.report(outcome.as_ref().ok());
                    self.answer(request, outcome, effects);
                }
            }
            Input::DownloadChanged => self.downloads.changed(effects),
            Input::DownloadOverdue { request } => {
                if let Some(found) = self.downloads.overdue(request) {
                    self.is_snapshot_stale |= self.downloads.report(Some(&found));
                    self.answer(request, Ok(found), effects);
                }
            }
            Input::CookiesAnswered { request, answers } => {
                self.answer(request, Ok(answers), effects)
            }
            Input::Done { request, outcome } => {
                self.answer(request, outcome.map(|()| NoFields {}), effects);
            }
            Input::StopRenderingDue { tab, uses } => {
                let is_busy = self.in_flight.runs_in(tab);
                self.hidden_tabs.stop_rendering(tab, uses, is_busy, effects);
            }
            Input::ForceFrameDue { tab, request, forced } => {
                if self.in_flight.has(request) {
                    self.hidden_tabs.force_frame(tab, request, forced, effects);
                }
            }
            Input::ToolbarShown { tab } => self.toolbar.shown(tab, effects),
        }
    }

    /// Where the relay is looked for.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.connection.port().unwrap_or(DEFAULT_PORT)
    }

    /// Whether nothing is under way that would change this tab's state by itself.
    #[must_use]
    pub fn is_settled(&self, tab: TabId) -> bool {
        let is_settled = match self.tabs.get(tab).map(|tab| &tab.state) {
            None => self.backlog.is_none(),
            Some(TabState::Attaching(attaching)) => {
                attaching.unresponsive.is_some() && !attaching.cancelled
            }
            Some(TabState::Lost { .. }) => false,
            Some(TabState::Restricted) => true,
            Some(TabState::Waiting | TabState::Attached { .. }) => self.connection.is_settled(),
        };
        is_settled && self.toolbar.is_settled(tab) && !self.detaching.contains(tab)
    }

    /// Whether the relay has this tab.
    #[must_use]
    pub fn is_connected(&self, tab: TabId) -> bool {
        self.tabs.is_attached(tab) && self.connection.is_open()
    }

    /// A picture of the state for people.
    #[must_use]
    pub fn status(&self) -> Status {
        let tab_status = |id: TabId| {
            let (state, session_id, target_id) = match self.tabs.get(id).map(|tab| &tab.state) {
                Some(TabState::Attached { session, info, .. }) => {
                    let state = if self.is_connected(id) { "connected" } else { "connecting" };
                    (state, Some(session.clone()), Some(info.target_id.clone()))
                }
                Some(TabState::Restricted) => ("restricted", None, None),
                Some(TabState::Attaching(_) | TabState::Waiting | TabState::Lost { .. }) => {
                    ("connecting", None, None)
                }
                None => ("idle", None, None),
            };
            TabStatus { tab_id: id, state, session_id, target_id }
        };
        Status {
            connection_state: self.connection.status_name(),
            tabs: self.tabs.ids().into_iter().map(tab_status).collect(),
            error_text: self.attach_errors.iter().next_back().map(|(_, why)| why.clone()),
            separate_window: self.windows.is_separate(),
            separate_window_id: self.windows.separate_window_id(),
        }
    }

    /// Announces all that is controlled before anything else is said.
    fn relay_connected(&mut self, effects: &mut Vec<Effect<P>>) {
        self.in_flight.keep(self.connection.attempt());
        for (_, session, info) in self.tabs.attached_tabs() {
            effects.push(attached_event(session.clone(), info.clone()));
        }
        for child in self.tabs.children() {
            let session_id = child.parent.clone().or_else(|| self.tabs.session(child.tab).cloned());
            effects.push(Effect::Send(ExtensionMessage::Event(CdpEvent {
                session_id,
                method: "Target.attachedToTarget".to_owned(),
                params: P::write(&child.attached).ok(),
                extra: Extra::default(),
            })));
        }
        self.send_buffered_events(effects);
        effects.push(Effect::Send(ExtensionMessage::Ready));
        for id in self.tabs.ids() {
            match self.tabs.get(id).map(|tab| &tab.state) {
                Some(TabState::Waiting) => self.attach(id, Attaching::default(), effects),
                _ => self.show(id, effects),
            }
        }
    }

    fn schedule_relay_given_up(&mut self, effects: &mut Vec<Effect<P>>) {
        let attempt = self.connection.attempt();
        self.lost_attempt = Some(attempt);
        effects.push(Effect::GiveRelayUpLater { attempt });
    }

    /// The relay, and with it every client, has gone for good: nothing of theirs may stay.
    fn relay_given_up(&mut self, effects: &mut Vec<Effect<P>>) {
        self.event_buffer.take();
        self.clean_up_tabs(effects);
        self.windows.close_if_unused(|_| false, effects);
        self.permissions.reset(effects);
        self.is_snapshot_stale = true;
    }

    fn reply(
        &self,
        request: RequestRef,
        outcome: Result<Option<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        if self.connection.is_open_for(request.attempt) {
            effects.push(Effect::Send(ExtensionMessage::Reply { id: request.id, outcome }));
        }
    }

    fn send(&self, message: ExtensionMessage<P>, effects: &mut Vec<Effect<P>>) {
        if self.connection.is_open() {
            effects.push(Effect::Send(message));
        }
    }

    /// Says something in the relay's log.
    fn log(&self, text: String, effects: &mut Vec<Effect<P>>) {
        self.log_as(LogLevel::Info, text, effects);
    }

    fn log_as(&self, level: LogLevel, text: String, effects: &mut Vec<Effect<P>>) {
        let line = LogLine { level, args: vec![text], extra: Extra::default() };
        self.send(ExtensionMessage::Log(line), effects);
    }

    /// Says in the relay's log that a target is announced before it has an address.
    fn log_missing_url(&self, info: &TargetInfo<P>, effects: &mut Vec<Effect<P>>) {
        if lacks_url(info) {
            let text = "WARNING: Target.attachedToTarget will be sent with empty URL!".to_owned();
            self.log_as(LogLevel::Error, text, effects);
        }
    }

    fn show_all(&mut self, effects: &mut Vec<Effect<P>>) {
        for tab in self.tabs.ids() {
            self.show(tab, effects);
        }
    }

    /// Shows trouble with the key also where no tab is controlled.
    fn show_problem(&mut self, effects: &mut Vec<Effect<P>>) {
        let problem = self.connection.problem();
        let text = self.connection.port().and_then(|port| problem.text(port));
        let text = text.filter(|_| problem.is_about_key());
        if self.shown_problem != text {
            self.shown_problem.clone_from(&text);
            effects.push(Effect::ShowProblem { text });
        }
    }

    fn show(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        let state = self.toolbar_state(tab);
        self.toolbar.show(tab, state, effects);
    }
}

const BLANK: &str = "about:blank";

fn lacks_url<P>(info: &TargetInfo<P>) -> bool {
    info.url.is_empty() || info.url == ":"
}

/// Playwright waits for ever for a page that is announced with no address.
fn with_url<P>(mut info: TargetInfo<P>) -> TargetInfo<P> {
    if lacks_url(&info) {
        info.url = BLANK.to_owned();
    }
    info
}

fn attached_event<P: Payload>(session_id: SessionId, target_info: TargetInfo<P>) -> Effect<P> {
    let attached = AttachedToTarget {
        session_id,
        target_info: TargetInfo { attached: true, ..target_info },
        waiting_for_debugger: false,
        extra: Extra::default(),
    };
    Effect::Send(ExtensionMessage::Event(event("Target.attachedToTarget", &attached)))
}

fn event<P: Payload>(method: &str, params: &impl Serialize) -> CdpEvent<P> {
    CdpEvent {
        session_id: None,
        method: method.to_owned(),
        params: P::write(params).ok(),
        extra: Extra::default(),
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod properties;
#[cfg(test)]
mod tests;
