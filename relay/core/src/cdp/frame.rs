//! The frames that clients are sent.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use shared_protocol::{RequestId, SessionId};

use crate::cdp::Error;
use crate::cdp::payload::Payload;

/// A frame for a client: a reply or an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// The one answer to a command.
    Reply {
        /// The command's id.
        id: RequestId,
        /// The command's session.
        session: Option<SessionId>,
        /// The result of the command, or its error.
        outcome: Result<Payload, Error>,
    },
    /// An event of one session.
    Event {
        /// The session; absent for the browser itself.
        session: Option<SessionId>,
        /// `Domain.event`
        method: String,
        /// Parameters, untouched.
        params: Option<Payload>,
    },
    /// The answer to a text that is no command.
    Malformed(Error),
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let session = match self {
            Self::Reply { id, session, outcome } => {
                map.serialize_entry("id", id)?;
                match outcome {
                    Ok(result) => map.serialize_entry("result", result)?,
                    Err(error) => map.serialize_entry("error", error)?,
                }
                session.as_ref()
            }
            Self::Event { session, method, params } => {
                map.serialize_entry("method", method)?;
                if let Some(params) = params {
                    map.serialize_entry("params", params)?;
                }
                session.as_ref()
            }
            Self::Malformed(error) => {
                map.serialize_entry("error", error)?;
                None
            }
        };
        if let Some(session) = session {
            map.serialize_entry("sessionId", session)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_carries_the_session_of_its_command() {
        let reply = Frame::Reply {
            id: RequestId(0),
            session: Some(SessionId::new("S")),
            outcome: Ok(Payload::empty_object()),
        };
        assert_eq!(
            serde_json::to_string(&reply).unwrap(),
            r#"{"id":0,"result":{},"sessionId":"S"}"#
        );
    }
}
