//! The whole state of the extension, and the functions that send something to the relay.

use serde::Serialize;
use shared_protocol::{
    CdpCommand, CdpEvent, ExtensionMessage, Extra, LogLevel, LogLine, Payload, TabId,
};

use crate::interface::{Attempt, Debuggee, Effect, Input, RequestRef};
use crate::state::{
    Connection, Downloads, EventBuffer, Groups, HiddenTabs, InFlight, Permissions, RequestedTab,
    SmallMap, SmallSet, Tabs, Toolbar, Windows,
};

/// The whole extension, without Chrome. `state/` has a module for each field of a type of ours.
#[derive(Debug)]
pub struct Worker<P> {
    /// The inputs that came before [`Input::Started`], oldest first.
    pub(crate) backlog: Option<Vec<Input<P>>>,
    pub(crate) connection: Connection,
    /// The attempt whose connection was lost last.
    pub(crate) lost_attempt: Option<Attempt>,
    pub(crate) event_buffer: EventBuffer<P>,
    pub(crate) tabs: Tabs<P>,
    /// Tabs that the relay has asked for and Chrome has not opened yet.
    pub(crate) requested_tabs: Vec<RequestedTab>,
    pub(crate) in_flight: InFlight,
    /// The number of replies that an older relay may not have forwarded yet.
    pub(crate) unforwarded_replies: u32,
    /// Commands that wait for the reply to another command.
    pub(crate) held_commands: Vec<(RequestRef, Debuggee, CdpCommand<P>)>,
    pub(crate) hidden_tabs: HiddenTabs,
    /// The number of scripts for new documents that clients have added, in all tabs together.
    pub(crate) scripts_added: u32,
    pub(crate) groups: Groups,
    pub(crate) windows: Windows,
    pub(crate) permissions: Permissions,
    pub(crate) downloads: Downloads<P>,
    pub(crate) toolbar: Toolbar,
    /// The problem that the toolbar shows on tabs that are not controlled.
    pub(crate) shown_problem: Option<String>,
    pub(crate) auto_attach: Option<P>,
    /// Tabs from which the debugger is being detached.
    pub(crate) detaching: SmallSet<TabId>,
    /// The reasons why tabs could not be controlled.
    pub(crate) attach_errors: SmallMap<TabId, String>,
    /// Tabs that another extension has put into our group.
    pub(crate) grouped_by_others: SmallSet<TabId>,
    /// True if the state has changed since the last snapshot.
    pub(crate) is_snapshot_stale: bool,
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
    pub(crate) fn reply(
        &self,
        request: RequestRef,
        outcome: Result<Option<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        if self.connection.is_open_for(request.attempt) {
            effects.push(Effect::Send(ExtensionMessage::Reply { id: request.id, outcome }));
        }
    }

    pub(crate) fn reply_with(
        &self,
        request: RequestRef,
        answer: &impl Serialize,
        effects: &mut Vec<Effect<P>>,
    ) {
        let answer = P::write(answer).map(Some).map_err(|error| error.to_string());
        self.reply(request, answer, effects);
    }

    /// Replies with the result of a call to Chrome, or with the reason why it failed.
    pub(crate) fn answer(
        &self,
        request: RequestRef,
        outcome: Result<impl Serialize, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match outcome {
            Ok(answer) => self.reply_with(request, &answer, effects),
            Err(why) => self.reply(request, Err(why), effects),
        }
    }

    fn send(&self, message: ExtensionMessage<P>, effects: &mut Vec<Effect<P>>) {
        if self.connection.is_open() {
            effects.push(Effect::Send(message));
        }
    }

    /// Sends an event, or keeps it until the relay is back.
    pub(crate) fn send_event(&mut self, event: CdpEvent<P>, effects: &mut Vec<Effect<P>>) {
        if self.connection.is_open() {
            effects.push(Effect::Send(ExtensionMessage::Event(event)));
        } else {
            self.event_buffer.push(event);
        }
    }

    /// Adds a line to the relay's log.
    pub(crate) fn log(&self, text: String, effects: &mut Vec<Effect<P>>) {
        self.log_as(LogLevel::Info, text, effects);
    }

    pub(crate) fn log_as(&self, level: LogLevel, text: String, effects: &mut Vec<Effect<P>>) {
        let line = LogLine { level, args: vec![text], extra: Extra::default() };
        self.send(ExtensionMessage::Log(line), effects);
    }
}

#[derive(Serialize)]
pub(crate) struct NoFields {}
