//! Commands of clients.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::value::RawValue;
use shared_protocol::{Payload as _, RequestId, SessionId};

use crate::cdp::Error;
use crate::cdp::payload::Payload;

/// A command from a client. Its id is the client's own; 0 and negative ones are legal.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The client's id, which the reply repeats.
    pub id: RequestId,
    /// The session; absent for the browser itself.
    pub session: Option<SessionId>,
    /// `Domain.command`
    pub method: String,
    /// Parameters, untouched.
    pub params: Option<Payload>,
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

    /// Reads the parameters as the answer to them would.
    ///
    /// # Errors
    ///
    /// Gives Chrome's error for parameters that do not fit.
    pub(crate) fn read_params<T: DeserializeOwned>(&self) -> Result<T, Error> {
        match &self.params {
            Some(params) => params.read(),
            None => Payload::empty_object().read(),
        }
        .map_err(|error| Error::invalid_params(error.to_string()))
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
}
