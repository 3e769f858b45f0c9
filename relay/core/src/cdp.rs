//! The Chrome DevTools Protocol as clients speak it: flat sessions over one socket.

pub mod payload;
pub(crate) mod target_domain;
pub(crate) mod target_filter;
pub mod version;

use serde::de::Deserializer;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shared_protocol::{Payload as _, RequestId, SessionId};

use crate::cdp::payload::Payload;

/// A command from a client. Its id is the client's own; 0 and negative ones are legal.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Echoed in the reply.
    pub id: RequestId,
    /// Absent for the browser itself.
    pub session: Option<SessionId>,
    /// `Domain.command`
    pub method: String,
    /// Parameters, untouched.
    pub params: Option<Payload>,
}

/// Something for a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// The one answer to a command.
    Reply {
        /// The command's id.
        id: RequestId,
        /// The command's session.
        session: Option<SessionId>,
        /// What came of it.
        outcome: Result<Payload, Error>,
    },
    /// An event of one session.
    Event {
        /// Absent for the browser itself.
        session: Option<SessionId>,
        /// `Domain.event`
        method: String,
        /// Parameters, untouched.
        params: Option<Payload>,
    },
    /// The answer to a text that is no command.
    Malformed(Error),
}

/// A CDP error. Clients match on Chrome's texts, so those are kept word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// JSON-RPC's number; some clients hang without one.
    pub code: i64,
    /// Chrome's words, or ours.
    pub message: String,
    /// More words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl Command {
    /// Reads a client's text frame.
    ///
    /// # Errors
    ///
    /// Gives the error that Chrome would answer.
    pub fn parse(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Envelope<'a> {
            #[serde(borrow, default)]
            id: Option<&'a RawValue>,
            #[serde(borrow, default)]
            method: Option<&'a RawValue>,
            #[serde(borrow, default, deserialize_with = "present")]
            session_id: Option<&'a RawValue>,
            #[serde(default)]
            params: Option<Payload>,
        }
        // A plain `Option` would take `null` for absent.
        fn present<'de, D: Deserializer<'de>>(d: D) -> Result<Option<&'de RawValue>, D::Error> {
            <&RawValue>::deserialize(d).map(Some)
        }
        fn part<'de, T: Deserialize<'de>>(raw: Option<&'de RawValue>) -> Option<T> {
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        }

        let invalid = |message: &str| Error::new(-32600, message);
        if text.trim_start().starts_with('[') {
            return Err(invalid("Message must be an object"));
        }
        let envelope: Envelope<'_> = serde_json::from_str(text)
            .map_err(|error| Error::new(-32700, format!("JSON: {error}")))?;
        let session = match envelope.session_id {
            None => None,
            Some(raw) => part::<String>(Some(raw))
                .map(Some)
                .ok_or_else(|| invalid("Message may have string 'sessionId' property"))?,
        };
        Ok(Self {
            id: part(envelope.id)
                .ok_or_else(|| invalid("Message must have integer 'id' property"))?,
            session: session.filter(|id| !id.is_empty()).map(SessionId::new),
            method: part(envelope.method)
                .ok_or_else(|| invalid("Message must have string 'method' property"))?,
            params: envelope.params,
        })
    }
}

impl Command {
    /// The session as clients' sessions are kept: the empty one is the socket itself.
    #[must_use]
    pub fn session_or_root(&self) -> SessionId {
        self.session.clone().unwrap_or_else(|| SessionId::new(""))
    }

    /// Reads the parameters as the answer to them would.
    ///
    /// # Errors
    ///
    /// Gives Chrome's error for parameters that do not fit.
    pub(crate) fn read_params<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
        match &self.params {
            Some(params) => params.read(),
            None => Payload::empty_object().read(),
        }
        .map_err(|error| Error::invalid_params(error.to_string()))
    }
}

impl Error {
    /// An error with a code of JSON-RPC's.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The code Chrome gives to what can be understood but not done.
    pub fn server(message: impl Into<String>) -> Self {
        Self::new(-32000, message)
    }

    /// No such command.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("'{method}' wasn't found"))
    }

    /// Parameters that the command does not take.
    #[must_use]
    pub fn invalid_params(data: impl Into<String>) -> Self {
        Self { data: Some(data.into()), ..Self::new(-32602, "Invalid parameters") }
    }

    /// No such session.
    #[must_use]
    pub fn unknown_session() -> Self {
        Self::new(-32001, "Session with given id not found.")
    }

    /// What an extension says went wrong: `chrome.debugger` gives a CDP error as JSON text, and
    /// errors of its own as plain text.
    #[must_use]
    pub fn from_extension(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|_| Self::server(text))
    }
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
    fn ids_of_any_sign_and_size_are_legal() {
        for id in [0, -5, 9_007_199_254_740_991] {
            let command =
                Command::parse(&format!(r#"{{"id":{id},"method":"Browser.getVersion"}}"#)).unwrap();
            assert_eq!(command.id, RequestId(id));
        }
    }

    #[test]
    fn an_empty_session_is_the_browser() {
        let command = Command::parse(r#"{"id":1,"method":"A.b","sessionId":""}"#).unwrap();
        assert_eq!(command.session, None);
    }

    #[test]
    fn null_parameters_are_absent() {
        let command = Command::parse(r#"{"id":1,"method":"A.b","params":null}"#).unwrap();
        assert_eq!(command.params, None);
    }

    #[test]
    fn what_is_no_command_gets_the_error_that_chrome_gives() {
        for (text, code) in [
            ("{", -32700),
            (r#"[1,"A.b"]"#, -32600),
            (r#"{"method":"A.b"}"#, -32600),
            (r#"{"id":"1","method":"A.b"}"#, -32600),
            (r#"{"id":1.5,"method":"A.b"}"#, -32600),
            (r#"{"id":1}"#, -32600),
            (r#"{"id":1,"method":"A.b","sessionId":null}"#, -32600),
        ] {
            assert_eq!(Command::parse(text).unwrap_err().code, code, "{text}");
        }
    }

    #[test]
    fn payloads_pass_byte_for_byte() {
        let command = Command::parse(
            r#"{"id":1,"method":"A.b","params":{"z":1.0, "a":"\u00e9","n":1e400},"sessionId":"S"}"#,
        )
        .unwrap();
        assert_eq!(command.params.unwrap().as_str(), r#"{"z":1.0, "a":"\u00e9","n":1e400}"#);
    }

    #[test]
    fn a_cdp_error_of_chrome_debugger_is_unwrapped() {
        assert_eq!(
            Error::from_extension(r#"{"code":-32602,"message":"Invalid parameters","data":"x"}"#),
            Error::invalid_params("x")
        );
        assert_eq!(
            Error::from_extension("Detached while handling command."),
            Error::server("Detached while handling command.")
        );
    }

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
