//! What Chrome answers, and the commands that wait for an answer to another.

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

    /// An older relay has passed an answer on. What waits may wait for a later one.
    pub(crate) fn old_relay_drained(&mut self, effects: &mut Vec<Effect<P>>) {
        self.unforwarded_replies -= 1;
        if self.unforwarded_replies == 0 {
            self.run_held_commands(effects);
        }
    }

    /// Runs what waited for an answer.
    pub(crate) fn run_held_commands(&mut self, effects: &mut Vec<Effect<P>>) {
        for (request, debuggee, command) in std::mem::take(&mut self.held_commands) {
            // Its tab may have crashed meanwhile, or its relay gone.
            if self.in_flight.done(request) {
                self.run_in_tab(request, debuggee, command, effects);
            }
        }
    }
}
