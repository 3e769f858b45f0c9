//! Forwards Chrome's answers, and runs the commands that wait for one.

use shared_protocol::Payload;

use crate::interface::{Effect, RequestRef};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    pub(crate) fn command_done(
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

    /// Counts a reply that an older relay has forwarded. Runs the held commands when it was the
    /// last.
    pub(crate) fn old_relay_drained(&mut self, effects: &mut Vec<Effect<P>>) {
        self.unforwarded_replies -= 1;
        if self.unforwarded_replies == 0 {
            self.run_held_commands(effects);
        }
    }

    /// Runs the commands that waited for a frame tree.
    pub(crate) fn run_held_commands(&mut self, effects: &mut Vec<Effect<P>>) {
        for (request, debuggee, command) in std::mem::take(&mut self.held_commands) {
            // The tab may have crashed since, or the relay may be gone.
            if self.in_flight.done(request) {
                self.run_in_tab(request, debuggee, command, effects);
            }
        }
    }
}
