//! One line of `cdp.jsonl`.

use std::time::SystemTime;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use shared_protocol::{RequestId, SessionId};

use super::excerpt::Excerpt;

/// One message as it passed the relay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) at: SystemTime,
    /// The direction; absent for the log's lines about itself.
    pub(crate) direction: Option<Direction>,
    /// The client that sent it, gets it or is behind it, if there is one.
    pub(crate) client: Option<String>,
    pub(crate) source: Source,
    pub(crate) message: Message,
}

/// The direction of a message, in the words of existing logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    FromPlaywright,
    ToPlaywright,
    ToExtension,
    FromExtension,
}

/// The side that brought the message about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    Client,
    Extension,
    /// The relay.
    Server,
}

/// The message without the wrapping that it has on the extension's wire.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Option<String>,
    pub(crate) session: Option<SessionId>,
    pub(crate) body: Option<Body>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Params(Excerpt),
    Result(Excerpt),
    Error(Excerpt),
}

impl Entry {
    /// Returns the entry that takes the place of dropped entries.
    pub(crate) fn dropped(entries: u64, at: SystemTime) -> Self {
        let params = Excerpt::of(&format!("{{\"entries\":{entries}}}"), None);
        let message = Message {
            method: Some("dropped".to_owned()),
            body: Some(Body::Params(params)),
            ..Message::default()
        };
        Self { at, direction: None, client: None, source: Source::Server, message }
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let timestamp = humantime::format_rfc3339_millis(self.at).to_string();
        map.serialize_entry("timestamp", &timestamp)?;
        if let Some(direction) = self.direction {
            map.serialize_entry("direction", &direction)?;
        }
        if let Some(client) = &self.client {
            map.serialize_entry("clientId", client)?;
        }
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("message", &self.message)?;
        map.end()
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        if let Some(method) = &self.method {
            map.serialize_entry("method", method)?;
        }
        if let Some(session) = &self.session {
            map.serialize_entry("sessionId", session)?;
        }
        match &self.body {
            None => {}
            Some(Body::Params(params)) => map.serialize_entry("params", params)?,
            Some(Body::Result(result)) => map.serialize_entry("result", result)?,
            Some(Body::Error(error)) => map.serialize_entry("error", error)?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_entry_is_one_object_with_the_message_inside() {
        let entry = Entry {
            at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            direction: Some(Direction::ToPlaywright),
            client: Some("me".to_owned()),
            source: Source::Extension,
            message: Message {
                id: Some(RequestId(7)),
                session: Some(SessionId::new("S")),
                body: Some(Body::Result(Excerpt::of("{\"value\":1e400}", None))),
                ..Message::default()
            },
        };
        assert_eq!(
            serde_json::to_string(&entry).unwrap(),
            r#"{"timestamp":"2023-11-14T22:13:20.123Z","direction":"to-playwright","clientId":"me","source":"extension","message":{"id":7,"sessionId":"S","result":{"value":1e400}}}"#
        );
    }

    #[test]
    fn dropped_entries_are_counted_in_their_place() {
        assert_eq!(
            serde_json::to_string(&Entry::dropped(3, SystemTime::UNIX_EPOCH)).unwrap(),
            r#"{"timestamp":"1970-01-01T00:00:00.000Z","source":"server","message":{"method":"dropped","params":{"entries":3}}}"#
        );
    }
}
