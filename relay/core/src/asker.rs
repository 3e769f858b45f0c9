//! The asker: the client session that waits for the reply to a command.

use shared_protocol::RequestId;

use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error, Frame};
use crate::effect::Effect;
use crate::ids::SessionRef;

/// A client's command, while its answer is being found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asker {
    pub(crate) session: SessionRef,
    /// The client's own id for the command.
    pub(crate) id: RequestId,
}

impl Asker {
    pub(crate) fn new(session_ref: &SessionRef, command: &Command) -> Self {
        Self { session: session_ref.clone(), id: command.id }
    }

    pub(crate) fn reply(&self, outcome: Result<Payload, Error>) -> Effect {
        let frame = Frame::Reply { id: self.id, session: self.session.on_wire(), outcome };
        Effect::SendToClient { client: self.session.client, frame }
    }
}
