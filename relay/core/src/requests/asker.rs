//! Who waits for an answer.

use shared_protocol::RequestId;

use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error, Frame};
use crate::effect::Effect;
use crate::ids::Seat;

/// A client's command, while its answer is being found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asker {
    pub(crate) seat: Seat,
    /// The client's own id for the command.
    pub(crate) id: RequestId,
}

impl Asker {
    pub(crate) fn new(seat: &Seat, command: &Command) -> Self {
        Self { seat: seat.clone(), id: command.id }
    }

    pub(crate) fn reply(&self, outcome: Result<Payload, Error>) -> Effect {
        let frame = Frame::Reply { id: self.id, session: self.seat.on_wire(), outcome };
        Effect::SendToClient { client: self.seat.client, frame }
    }
}
