//! Welcomes a relay, and cleans up after one that is gone.

use shared_protocol::{CdpEvent, CloseCode, ExtensionMessage, Extra, Payload};

use crate::interface::{Attempt, Effect};
use crate::messages::attached_event;
use crate::state::{Attaching, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// Starts to serve a relay.
    pub(crate) fn socket_opened(&mut self, attempt: Attempt, effects: &mut Vec<Effect<P>>) {
        if self.connection.opened(attempt) {
            // The last relay's window mode ends here. A relay that wants one sends it
            // before all else.
            self.windows.set_separate(false);
            if self.connection.is_proven() {
                effects.push(Effect::RememberPaired);
            }
            self.relay_connected(effects);
        }
    }

    /// Waits for a relay that is gone, or cleans up after it.
    pub(crate) fn socket_closed(
        &mut self,
        attempt: Attempt,
        code: u16,
        effects: &mut Vec<Effect<P>>,
    ) {
        let was_open = self.connection.is_open();
        if self.connection.closed(attempt, code, effects) {
            self.show_all(effects);
            if was_open {
                self.schedule_relay_given_up(effects);
            }
            // A relay that closes with a code of its own still runs, and so do its clients.
            if was_open && !CloseCode::is_ours(code) {
                self.clean_up_tabs(effects);
            } else if was_open && !self.connection.is_displaced() {
                self.event_buffer.start();
            }
        }
    }

    /// Announces all controlled tabs and their children before anything else is sent.
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

    /// Sends the events that were kept, of tabs that still exist.
    fn send_buffered_events(&mut self, effects: &mut Vec<Effect<P>>) {
        let (events, dropped) = self.event_buffer.take();
        for event in events {
            let session = event.session_id.as_ref();
            if session.is_none_or(|session| self.tabs.find_session(session).is_some()) {
                effects.push(Effect::Send(ExtensionMessage::Event(event)));
            }
        }
        if dropped > 0 {
            self.log(format!("{dropped} events of controlled tabs were lost"), effects);
        }
    }

    pub(crate) fn schedule_relay_given_up(&mut self, effects: &mut Vec<Effect<P>>) {
        let attempt = self.connection.attempt();
        self.lost_attempt = Some(attempt);
        effects.push(Effect::GiveRelayUpLater { attempt });
    }

    /// Reverts what the relay and its clients did, unless a relay has come since.
    pub(crate) fn relay_given_up(&mut self, attempt: Attempt, effects: &mut Vec<Effect<P>>) {
        if self.connection.is_open() || self.lost_attempt != Some(attempt) {
            return;
        }
        self.event_buffer.take();
        self.clean_up_tabs(effects);
        self.windows.close_if_unused(|_| false, effects);
        self.permissions.reset(effects);
        self.is_snapshot_stale = true;
    }
}
