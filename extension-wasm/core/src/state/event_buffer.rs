//! What Chrome tells while the way to the relay is interrupted: mostly because the worker has died
//! and a new one looks for the relay. The relay keeps its clients for a while, and they would wait
//! for ever for what nobody tells them.

use std::collections::VecDeque;

use shared_protocol::CdpEvent;

/// How many events are kept; the oldest go first. A worker is away for a second or two.
const MAX_EVENTS: usize = 4096;

#[derive(Debug)]
pub(crate) struct EventBuffer<P> {
    /// Whether there is a relay whose clients wait.
    is_buffering: bool,
    events: VecDeque<CdpEvent<P>>,
    /// How many were too many.
    dropped: usize,
}

impl<P> Default for EventBuffer<P> {
    fn default() -> Self {
        Self { is_buffering: false, events: VecDeque::new(), dropped: 0 }
    }
}

impl<P> EventBuffer<P> {
    /// The relay may be there, and its clients with it.
    pub(crate) fn start(&mut self) {
        self.is_buffering = true;
    }

    pub(crate) fn push(&mut self, event: CdpEvent<P>) {
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
    pub(crate) fn take(&mut self) -> (VecDeque<CdpEvent<P>>, usize) {
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
