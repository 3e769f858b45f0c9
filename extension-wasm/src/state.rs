//! The worker as a pure machine: inputs in, effects out. Runs natively in tests.
//!
//! Nothing here touches `chrome.*`, the network or a clock. Every asynchronous effect ends in
//! exactly one input, also when it fails.

mod connection;
mod looks;
mod tabs;

use serde::{Deserialize, Serialize};
use shared_protocol::{
    AttachedToTarget, CdpCommand, CdpEvent, DetachedFromTarget, ExtensionHello, ExtensionMessage,
    Extra, InitialTab, ParseFailure, Payload, RelayMessage, RequestId, SessionId, TabId, TargetId,
    TargetInfo,
};

pub use connection::Attempt;
use connection::Connection;
use looks::Looks;
pub use looks::{Icon, Look};
pub use tabs::Debuggee;
use tabs::{Opened, TabState, Tabs};

/// What happened outside.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input<P> {
    /// The settings have been read; sent once, before the relay is looked for.
    Started {
        port: u16,
        hello: ExtensionHello,
    },
    PortChanged {
        port: u16,
    },
    Probed {
        attempt: Attempt,
        found: bool,
    },
    SocketOpened {
        attempt: Attempt,
    },
    SocketClosed {
        attempt: Attempt,
    },
    /// Time to look for the relay again.
    RetryDue {
        attempt: Attempt,
    },
    AlarmRang,
    RelaySent {
        attempt: Attempt,
        message: RelayMessage<P>,
    },
    RelaySentGarbage {
        attempt: Attempt,
        why: String,
    },
    IconClicked {
        tab: TabId,
    },
    ReleaseAll,
    Attached {
        tab: TabId,
        outcome: Result<TargetInfo<P>, String>,
    },
    TabCreated {
        ticket: Ticket,
        outcome: Result<TabId, String>,
    },
    /// Chrome forgets a tab's icon when it navigates.
    TabNavigated {
        tab: TabId,
    },
    DebuggerEvent {
        tab: TabId,
        session: Option<SessionId>,
        method: String,
        params: P,
    },
    DebuggerDetached {
        tab: TabId,
    },
    CommandDone {
        ticket: Ticket,
        outcome: Result<P, String>,
    },
    Shown {
        tab: TabId,
    },
}

/// What the shell must do now, in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effect<P> {
    /// See whether a relay listens; a failed WebSocket would be an error in the user's console.
    Probe {
        attempt: Attempt,
        port: u16,
    },
    OpenSocket {
        attempt: Attempt,
        port: u16,
        hello: ExtensionHello,
    },
    CloseSocket,
    RetryLater {
        attempt: Attempt,
    },
    Send(ExtensionMessage<P>),
    /// Attach the debugger and ask what it is attached to.
    Attach {
        tab: TabId,
    },
    Detach {
        tab: TabId,
    },
    /// Without a ticket, nobody wants the answer.
    RunCommand {
        ticket: Option<Ticket>,
        debuggee: Debuggee,
        method: String,
        params: Option<P>,
    },
    CreateTab {
        ticket: Ticket,
        url: String,
    },
    Show {
        tab: TabId,
        look: Look,
    },
}

/// Names a request of the relay, and the connection it came over: ids start anew with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
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
    connection: Connection,
    tabs: Tabs<P>,
    looks: Looks,
    /// Why the last tab could not be controlled.
    error: Option<String>,
}

impl<P> Default for Worker<P> {
    fn default() -> Self {
        Self {
            connection: Connection::default(),
            tabs: Tabs::default(),
            looks: Looks::default(),
            error: None,
        }
    }
}

impl<P: Payload> Worker<P> {
    /// Applies one input.
    #[must_use = "effects happen only when the shell performs them"]
    pub fn handle(&mut self, input: Input<P>) -> Vec<Effect<P>> {
        let mut effects = Vec::new();
        match input {
            Input::Started { port, hello } => self.connection.start(port, hello, &mut effects),
            Input::PortChanged { port } => self.connection.change_port(port, &mut effects),
            Input::Probed { attempt, found } => {
                self.connection.probed(attempt, found, &mut effects);
            }
            Input::SocketOpened { attempt } => {
                if self.connection.opened(attempt) {
                    self.relay_connected(&mut effects);
                }
            }
            Input::SocketClosed { attempt } => {
                if self.connection.closed(attempt, &mut effects) {
                    self.relay_lost(&mut effects);
                }
            }
            Input::RetryDue { attempt } => self.connection.retry(Some(attempt), &mut effects),
            Input::AlarmRang => self.connection.retry(None, &mut effects),
            Input::RelaySent { attempt, message } => {
                if self.connection.is_open_as(attempt) {
                    self.relay_sent(attempt, message, &mut effects);
                }
            }
            Input::RelaySentGarbage { attempt, why } => {
                if self.connection.is_open_as(attempt) {
                    let failure =
                        ParseFailure { code: -32700, message: why, extra: Extra::default() };
                    effects.push(Effect::Send(ExtensionMessage::ParseFailure(failure)));
                }
            }
            Input::IconClicked { tab } => self.icon_clicked(tab, &mut effects),
            Input::ReleaseAll => {
                for tab in self.tabs.ids() {
                    self.release(tab, &mut effects);
                }
            }
            Input::Attached { tab, outcome } => self.attached(tab, outcome, &mut effects),
            Input::TabCreated { ticket, outcome } => {
                self.tab_created(ticket, outcome, &mut effects);
            }
            Input::TabNavigated { tab } => {
                if self.tabs.get(tab).is_some() {
                    self.show(tab, &mut effects);
                }
            }
            Input::DebuggerEvent { tab, session, method, params } => {
                self.debugger_event(tab, session, method, params, &mut effects);
            }
            Input::DebuggerDetached { tab } => self.forget(tab, &mut effects),
            Input::CommandDone { ticket, outcome } => {
                self.reply(ticket, outcome.map(Some), &mut effects);
            }
            Input::Shown { tab } => self.looks.shown(tab, &mut effects),
        }
        effects
    }

    /// Whether nothing is under way that would change this tab's state by itself.
    #[must_use]
    pub fn is_settled(&self, tab: TabId) -> bool {
        let is_settled = match self.tabs.get(tab).map(|tab| &tab.state) {
            None => true,
            Some(TabState::Attaching { .. }) => false,
            Some(TabState::Waiting | TabState::Attached { .. }) => self.connection.is_settled(),
        };
        is_settled && self.looks.is_settled(tab)
    }

    /// Whether the relay has this tab.
    #[must_use]
    pub fn is_connected(&self, tab: TabId) -> bool {
        self.icon(tab) == Icon::Green
    }

    /// A picture of the state for people.
    #[must_use]
    pub fn status(&self) -> Status {
        let tab_status = |id: TabId| {
            let (state, session_id, target_id) = match self.tabs.get(id).map(|tab| &tab.state) {
                Some(TabState::Attached { session, info }) => {
                    let state = if self.is_connected(id) { "connected" } else { "connecting" };
                    (state, Some(session.clone()), Some(info.target_id.clone()))
                }
                Some(TabState::Attaching { .. } | TabState::Waiting) => ("connecting", None, None),
                None => ("idle", None, None),
            };
            TabStatus { tab_id: id, state, session_id, target_id }
        };
        Status {
            connection_state: self.connection.name(),
            tabs: self.tabs.ids().into_iter().map(tab_status).collect(),
            error_text: self.error.clone(),
        }
    }

    fn relay_connected(&mut self, effects: &mut Vec<Effect<P>>) {
        for id in self.tabs.ids() {
            let Some(tab) = self.tabs.get_mut(id) else { continue };
            match &tab.state {
                TabState::Attached { session, info } => {
                    effects.push(announcement(session.clone(), info.clone()));
                }
                TabState::Waiting => {
                    tab.state = TabState::Attaching { cancelled: false };
                    effects.push(Effect::Attach { tab: id });
                }
                TabState::Attaching { .. } => {}
            }
            self.show(id, effects);
        }
    }

    fn relay_lost(&mut self, effects: &mut Vec<Effect<P>>) {
        for id in self.tabs.ids() {
            self.show(id, effects);
        }
    }

    fn relay_sent(
        &mut self,
        attempt: Attempt,
        message: RelayMessage<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match message {
            RelayMessage::Ping => effects.push(Effect::Send(ExtensionMessage::Pong)),
            RelayMessage::Command { id, command } => {
                self.run_command(Ticket { attempt, id }, command, effects);
            }
            RelayMessage::CreateInitialTab { id, .. } => {
                let ticket = Ticket { attempt, id };
                self.tabs.expect(Opened { ticket, initial: true });
                effects.push(Effect::CreateTab { ticket, url: BLANK.to_owned() });
            }
            RelayMessage::Recording { id, .. }
            | RelayMessage::UpdateTabGroup { id, .. }
            | RelayMessage::Unknown { id: Some(id), .. } => {
                // What the released extensions answer to a method they do not know.
                self.reply(Ticket { attempt, id }, Ok(None), effects);
            }
            RelayMessage::SetWindowMode(_) | RelayMessage::Unknown { id: None, .. } => {}
        }
    }

    fn run_command(
        &mut self,
        ticket: Ticket,
        command: CdpCommand<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        if command.method == "Target.createTarget" {
            let url = command.params.as_ref().and_then(|params| params.read::<CreateTarget>().ok());
            let url = url.and_then(|create| create.url).filter(|url| !url.is_empty());
            self.tabs.expect(Opened { ticket, initial: false });
            effects
                .push(Effect::CreateTab { ticket, url: url.unwrap_or_else(|| BLANK.to_owned()) });
            return;
        }
        let debuggee = command.session_id.as_ref().and_then(|session| self.tabs.debuggee(session));
        let Some(debuggee) = debuggee else {
            let why = match &command.session_id {
                Some(session) => format!("No tab found for sessionId: {session}"),
                None => format!("No tab found for method {}", command.method),
            };
            self.reply(ticket, Err(why), effects);
            return;
        };
        if command.method == "Runtime.enable" && self.tabs.enable_runtime(&debuggee) {
            // Chrome tells of execution contexts only when Runtime was off before.
            effects.push(Effect::RunCommand {
                ticket: None,
                debuggee: debuggee.clone(),
                method: "Runtime.disable".to_owned(),
                params: None,
            });
        }
        effects.push(Effect::RunCommand {
            ticket: Some(ticket),
            debuggee,
            method: command.method,
            params: command.params,
        });
    }

    fn tab_created(
        &mut self,
        ticket: Ticket,
        outcome: Result<TabId, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let opened = self.tabs.take_expected(ticket);
        match (outcome, opened) {
            (Ok(tab), Some(opened)) if self.connection.is_open_as(ticket.attempt) => {
                self.tabs.attaching(tab, Some(opened));
                effects.push(Effect::Attach { tab });
                self.show(tab, effects);
            }
            // The relay that wanted the tab has gone; the user can close it or control it.
            (Ok(_), _) => {}
            (Err(why), _) => self.reply(ticket, Err(why), effects),
        }
    }

    fn icon_clicked(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.error = None;
        match self.tabs.get_mut(tab).map(|tab| &mut tab.state) {
            Some(TabState::Attaching { cancelled }) => *cancelled = !*cancelled,
            Some(TabState::Waiting | TabState::Attached { .. }) => self.release(tab, effects),
            None if self.connection.is_open() => {
                self.tabs.attaching(tab, None);
                effects.push(Effect::Attach { tab });
                self.show(tab, effects);
            }
            None => {
                self.tabs.waiting(tab);
                self.connection.retry(None, effects);
                self.show(tab, effects);
            }
        }
    }

    fn attached(
        &mut self,
        id: TabId,
        outcome: Result<TargetInfo<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(tab) = self.tabs.get_mut(id) else {
            // Released while it was being attached.
            return effects.extend(outcome.is_ok().then_some(Effect::Detach { tab: id }));
        };
        let cancelled = matches!(tab.state, TabState::Attaching { cancelled: true });
        let opened = tab.opened.take();
        let info = match outcome {
            Ok(info) if !cancelled => info,
            Ok(_) => return self.release(id, effects),
            Err(why) => {
                if let Some(opened) = opened {
                    self.reply(opened.ticket, Err(why.clone()), effects);
                }
                self.tabs.remove(id);
                self.error = Some(why);
                return self.show(id, effects);
            }
        };
        let session = self.tabs.attached(id, with_url(info.clone()));
        let info = with_url(info);
        if self.connection.is_open() {
            match opened {
                Some(Opened { ticket, initial: true }) => {
                    let tab = InitialTab {
                        success: true,
                        tab_id: id,
                        session_id: session,
                        target_info: info,
                        extra: Extra::<P>::default(),
                    };
                    let answer = P::write(&tab).map(Some).map_err(|error| error.to_string());
                    self.reply(ticket, answer, effects);
                }
                Some(Opened { ticket, initial: false }) => {
                    let created = TargetCreated { target_id: info.target_id.clone() };
                    effects.push(announcement(session, info));
                    let answer = P::write(&created).map(Some).map_err(|error| error.to_string());
                    self.reply(ticket, answer, effects);
                }
                None => effects.push(announcement(session, info)),
            }
        }
        self.show(id, effects);
    }

    fn debugger_event(
        &mut self,
        tab: TabId,
        child: Option<SessionId>,
        method: String,
        params: P,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(session) = self.tabs.session(tab) else { return };
        match method.as_str() {
            "Target.attachedToTarget" => {
                if let Ok(attached) = params.read::<AttachedToTarget<P>>() {
                    self.tabs.add_child(tab, attached.session_id);
                }
            }
            "Target.detachedFromTarget" => {
                if let Ok(detached) = params.read::<DetachedFromTarget<P>>() {
                    self.tabs.remove_child(tab, &detached.session_id);
                }
            }
            _ => {}
        }
        let session_id = Some(child.unwrap_or(session));
        let event = CdpEvent { session_id, method, params: Some(params), extra: Extra::default() };
        self.send(ExtensionMessage::Event(event), effects);
    }

    /// Gives a tab back to its user.
    fn release(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Attached { .. } | TabState::Attaching { cancelled: true }) => {
                effects.push(Effect::Detach { tab: id });
            }
            Some(TabState::Attaching { cancelled: false } | TabState::Waiting) | None => {}
        }
        self.forget(id, effects);
    }

    /// Forgets a tab whose debugger is off, and tells the relay.
    fn forget(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        let Some(tab) = self.tabs.remove(id) else { return };
        if let Some(opened) = tab.opened {
            self.reply(opened.ticket, Err("The tab was closed".to_owned()), effects);
        }
        if let TabState::Attached { session, info } = tab.state {
            let detached = DetachedFromTarget {
                session_id: session,
                target_id: Some(info.target_id),
                extra: Extra::<P>::default(),
            };
            self.send(event("Target.detachedFromTarget", &detached), effects);
        }
        self.show(id, effects);
    }

    fn reply(
        &self,
        ticket: Ticket,
        outcome: Result<Option<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        if self.connection.is_open_as(ticket.attempt) {
            effects.push(Effect::Send(ExtensionMessage::Reply { id: ticket.id, outcome }));
        }
    }

    fn send(&self, message: ExtensionMessage<P>, effects: &mut Vec<Effect<P>>) {
        if self.connection.is_open() {
            effects.push(Effect::Send(message));
        }
    }

    fn show(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        let icon = self.icon(tab);
        let title = match (icon, &self.error) {
            (Icon::Black, Some(why)) => format!("Playwriter cannot control this page: {why}"),
            (Icon::Black, None) => "Playwriter: click to control this tab".to_owned(),
            (Icon::Grey, _) if self.connection.is_settled() && !self.connection.is_open() => {
                "Playwriter: no relay is running; start one with `playwriter serve`".to_owned()
            }
            (Icon::Grey, _) => "Playwriter: connecting".to_owned(),
            (Icon::Green, _) => {
                "Playwriter: this tab is controlled; click to release it".to_owned()
            }
        };
        self.looks.want(tab, Look { icon, title }, effects);
    }

    fn icon(&self, tab: TabId) -> Icon {
        match self.tabs.get(tab).map(|tab| &tab.state) {
            None => Icon::Black,
            Some(TabState::Attached { .. }) if self.connection.is_open() => Icon::Green,
            Some(TabState::Attached { .. } | TabState::Attaching { .. } | TabState::Waiting) => {
                Icon::Grey
            }
        }
    }
}

const BLANK: &str = "about:blank";

#[derive(Deserialize)]
struct CreateTarget {
    url: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetCreated {
    target_id: TargetId,
}

/// Playwright waits for ever for a page that is announced with no address.
fn with_url<P>(mut info: TargetInfo<P>) -> TargetInfo<P> {
    if info.url.is_empty() || info.url == ":" {
        info.url = BLANK.to_owned();
    }
    info
}

fn announcement<P: Payload>(session_id: SessionId, target_info: TargetInfo<P>) -> Effect<P> {
    let attached = AttachedToTarget {
        session_id,
        target_info: TargetInfo { attached: true, ..target_info },
        waiting_for_debugger: false,
        extra: Extra::default(),
    };
    Effect::Send(event("Target.attachedToTarget", &attached))
}

fn event<P: Payload>(method: &str, params: &impl Serialize) -> ExtensionMessage<P> {
    ExtensionMessage::Event(CdpEvent {
        session_id: None,
        method: method.to_owned(),
        params: P::write(params).ok(),
        extra: Extra::default(),
    })
}

#[cfg(test)]
mod tests;
