//! What Chrome tells while the way to the relay is interrupted: mostly because the worker has died
//! and a new one looks for the relay. The relay keeps its clients for a while, and they would wait
//! for ever for what nobody tells them.

use std::collections::VecDeque;

use shared_protocol::{CdpEvent, ExtensionMessage, Payload};

use super::{Effect, Worker};

/// How many events are kept; the oldest go first. A worker is away for a second or two.
const MAX_EVENTS: usize = 4096;

#[derive(Debug)]
pub(super) struct EventBuffer<P> {
    /// Whether there is a relay whose clients wait.
    is_buffering: bool,
    events: VecDeque<CdpEvent<P>>,
    /// How many were too many.
    dropped: usize,
}

impl<P: Payload> Worker<P> {
    /// Tells the relay what happened, as soon as it can be told.
    pub(super) fn send_event(&mut self, event: CdpEvent<P>, effects: &mut Vec<Effect<P>>) {
        if self.connection.is_open() {
            effects.push(Effect::Send(ExtensionMessage::Event(event)));
        } else {
            self.event_buffer.push(event);
        }
    }

    /// Tells what happened meanwhile in the tabs that are still there.
    pub(super) fn send_buffered_events(&mut self, effects: &mut Vec<Effect<P>>) {
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
}

impl<P> Default for EventBuffer<P> {
    fn default() -> Self {
        Self { is_buffering: false, events: VecDeque::new(), dropped: 0 }
    }
}

impl<P> EventBuffer<P> {
    /// The relay may be there, and its clients with it.
    pub(super) fn start(&mut self) {
        self.is_buffering = true;
    }

    pub(super) fn push(&mut self, event: CdpEvent<P>) {
        if !self.is_buffering || !is_worth_buffering(&event.method) {
            return;
        }
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    /// Gives what was kept, oldest first, and how many events were lost. Nothing is kept from then
    /// on.
    pub(super) fn take(&mut self) -> (VecDeque<CdpEvent<P>>, usize) {
        let Self { events, dropped, .. } = std::mem::take(self);
        (events, dropped)
    }
}

/// Targets that come and go are told by the inventory; the relay passes the other two on to nobody.
fn is_worth_buffering(method: &str) -> bool {
    !matches!(
        method,
        "Target.attachedToTarget"
            | "Target.detachedFromTarget"
            | "Network.dataReceived"
            | "Network.resourceChangedPriority"
    )
}
