//! Events that Chrome sends while the connection is interrupted, mostly because the worker has died
//! and a new one looks for the relay. The relay keeps its clients meanwhile. Without these events,
//! they would wait for ever.

use std::collections::VecDeque;

use shared_protocol::CdpEvent;

use crate::methods::Event;

/// The number of events that are kept; the oldest go first. A worker is away for a second or two.
const MAX_EVENTS: usize = 4096;

#[derive(Debug)]
pub(crate) struct EventBuffer<P> {
    /// True if a relay may come back whose clients wait.
    is_buffering: bool,
    events: VecDeque<CdpEvent<P>>,
    /// The number of events that were dropped, because there were too many.
    dropped: usize,
}

impl<P> Default for EventBuffer<P> {
    fn default() -> Self {
        Self { is_buffering: false, events: VecDeque::new(), dropped: 0 }
    }
}

impl<P> EventBuffer<P> {
    /// Starts to keep events: the relay and its clients may still be there.
    pub(crate) fn start(&mut self) {
        self.is_buffering = true;
    }

    pub(crate) fn push(&mut self, event: CdpEvent<P>) {
        if !self.is_buffering || !Event::of(&event.method).is_worth_buffering() {
            return;
        }
        if self.events.len() >= MAX_EVENTS {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    /// Returns the events, oldest first, and how many were dropped. No more events are kept then.
    pub(crate) fn take(&mut self) -> (VecDeque<CdpEvent<P>>, usize) {
        let Self { events, dropped, .. } = std::mem::take(self);
        (events, dropped)
    }
}
