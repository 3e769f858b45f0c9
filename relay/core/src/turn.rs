//! One turn of the machine: its time, and the effects that it collects.

use std::time::Instant;

use serde::Serialize;
use shared_protocol::{CloseCode, LogLevel};

use crate::asker::Asker;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::{Error, Frame};
use crate::effect::Effect;
use crate::ids::{ClientId, ConnectionId, SessionRef};

/// Collects, in order, what the shell must do about one input.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) now: Instant,
    pub(crate) effects: Vec<Effect>,
}

impl Turn {
    pub(crate) fn at(now: Instant) -> Self {
        Self { now, effects: Vec::new() }
    }

    pub(crate) fn send(&mut self, client: ClientId, frame: Frame) {
        self.effects.push(Effect::SendToClient { client, frame });
    }

    /// Sends an event of ours to one session.
    pub(crate) fn event<T: Serialize>(
        &mut self,
        session_ref: &SessionRef,
        method: &str,
        params: &T,
    ) {
        self.raw_event(session_ref, method.to_owned(), Some(Payload::of(params)));
    }

    /// Passes an event on to one session.
    pub(crate) fn raw_event(
        &mut self,
        session_ref: &SessionRef,
        method: String,
        params: Option<Payload>,
    ) {
        let frame = Frame::Event { session: session_ref.on_wire(), method, params };
        self.send(session_ref.client, frame);
    }

    /// Answers a client's command.
    pub(crate) fn reply(&mut self, asker: &Asker, outcome: Result<Payload, Error>) {
        self.effects.push(asker.reply(outcome));
    }

    /// Answers a client's command that has nothing to tell.
    pub(crate) fn ok(&mut self, asker: &Asker) {
        self.reply(asker, Ok(Payload::empty_object()));
    }

    /// Answers a client's command that is not carried out.
    pub(crate) fn fail(&mut self, asker: &Asker, error: Error) {
        self.reply(asker, Err(error));
    }

    pub(crate) fn send_to_extension(&mut self, connection: ConnectionId, message: RelayMessage) {
        self.effects.push(Effect::SendToExtension { connection, message });
    }

    pub(crate) fn close_client(&mut self, client: ClientId, code: CloseCode, reason: String) {
        self.effects.push(Effect::CloseClient { client, code, reason });
    }

    pub(crate) fn log(&mut self, level: LogLevel, text: String) {
        self.effects.push(Effect::Log { level, text });
    }
}
