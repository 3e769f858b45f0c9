//! The envelope of every text frame, read in one pass.
//!
//! What `params` means depends on `method`. Every peer writes `method` first, so the parameters are
//! read straight into their type; should they come first, they are kept as a payload and read once
//! the method is known.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, de::Error as _};

use crate::command::{CdpCommand, FORWARD_CDP_COMMAND, Notice, SET_WINDOW_MODE, WindowMode};
use crate::cookies::CookieCalls;
use crate::downloads::{DownloadId, DownloadQuery};
use crate::event::{CdpEvent, FORWARD_CDP_EVENT, HELLO, HelloMessage, LOG, LogLine, ParseFailure};
use crate::ids::RequestId;
use crate::payload::{Payload, Unreadable};
use crate::permissions::Permissions;
use crate::windows::{TabQuery, WindowChange, WindowQuery};

pub(crate) struct Frame<P> {
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Option<String>,
    pub(crate) params: Option<FrameParams<P>>,
    pub(crate) result: Option<P>,
    pub(crate) error: Option<FrameError<P>>,
}

/// Parameters in the type that their method gives them.
pub(crate) enum FrameParams<P> {
    Command(CdpCommand<P>),
    Event(CdpEvent<P>),
    WindowMode(WindowMode<P>),
    Log(LogLine<P>),
    Hello(HelloMessage<P>),
    Other(P),
}

/// A reply's error is text; that of a frame without an id is an object.
pub(crate) enum FrameError<P> {
    Text(String),
    Object(ParseFailure<P>),
}

impl<P: Payload> FrameParams<P> {
    /// Back to an untyped payload, for a known method in an unknown role.
    pub(crate) fn into_payload(self) -> Result<P, Unreadable> {
        match self {
            Self::Command(command) => P::write(&command),
            Self::Event(event) => P::write(&event),
            Self::WindowMode(mode) => P::write(&mode),
            Self::Log(line) => P::write(&line),
            Self::Hello(hello) => P::write(&hello),
            Self::Other(payload) => Ok(payload),
        }
    }

    fn of_payload(method: &str, payload: P) -> Result<Self, Unreadable> {
        Ok(match method {
            FORWARD_CDP_COMMAND => Self::Command(payload.read()?),
            FORWARD_CDP_EVENT => Self::Event(payload.read()?),
            SET_WINDOW_MODE => Self::WindowMode(payload.read()?),
            LOG => Self::Log(payload.read()?),
            HELLO => Self::Hello(payload.read()?),
            _ => Self::Other(payload),
        })
    }
}

struct ParamsOf<'a, P>(&'a str, PhantomData<P>);

impl<'de, P: Payload> DeserializeSeed<'de> for ParamsOf<'_, P> {
    type Value = Option<FrameParams<P>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, P: Payload> Visitor<'de> for ParamsOf<'_, P> {
    type Value = Option<FrameParams<P>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the parameters of {}", self.0)
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Ok(Some(match self.0 {
            FORWARD_CDP_COMMAND => FrameParams::Command(CdpCommand::deserialize(deserializer)?),
            FORWARD_CDP_EVENT => FrameParams::Event(CdpEvent::deserialize(deserializer)?),
            SET_WINDOW_MODE => FrameParams::WindowMode(WindowMode::deserialize(deserializer)?),
            LOG => FrameParams::Log(LogLine::deserialize(deserializer)?),
            HELLO => FrameParams::Hello(HelloMessage::deserialize(deserializer)?),
            _ => FrameParams::Other(P::deserialize(deserializer)?),
        }))
    }
}

impl<'de, P: Payload> Deserialize<'de> for Frame<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FrameVisitor(PhantomData))
    }
}

struct FrameVisitor<P>(PhantomData<P>);

impl<'de, P: Payload> Visitor<'de> for FrameVisitor<P> {
    type Value = Frame<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Frame<P>, A::Error> {
        let mut frame = Frame { id: None, method: None, params: None, result: None, error: None };
        let mut early_params: Option<P> = None;
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), &frame.method) {
                ("id", _) => frame.id = map.next_value()?,
                ("method", _) => frame.method = map.next_value()?,
                ("params", Some(method)) => {
                    frame.params = map.next_value_seed(ParamsOf(method, PhantomData))?;
                }
                ("params", None) => early_params = map.next_value()?,
                ("result", _) => frame.result = map.next_value()?,
                ("error", _) => frame.error = map.next_value()?,
                _ => {
                    map.next_value::<de::IgnoredAny>()?;
                }
            }
        }
        if let (Some(params), Some(method)) = (early_params, &frame.method) {
            frame.params = Some(FrameParams::of_payload(method, params).map_err(A::Error::custom)?);
        }
        Ok(frame)
    }
}

impl<'de, P: Deserialize<'de>> Deserialize<'de> for FrameError<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrObject<P>(PhantomData<P>);

        impl<'de, P: Deserialize<'de>> Visitor<'de> for TextOrObject<P> {
            type Value = FrameError<P>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error text or an error object")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(FrameError::Text(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ParseFailure::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(FrameError::Object)
            }
        }

        deserializer.deserialize_any(TextOrObject(PhantomData))
    }
}

/// A frame on its way out; borrows, so that no payload is cloned to be written.
pub(crate) struct FrameRef<'a, P> {
    id: Option<RequestId>,
    method: Option<&'a str>,
    params: Option<ParamsRef<'a, P>>,
    result: Option<&'a P>,
    error: Option<ErrorRef<'a, P>>,
}

pub(crate) enum ParamsRef<'a, P> {
    Command(&'a CdpCommand<P>),
    Event(&'a CdpEvent<P>),
    WindowMode(&'a WindowMode<P>),
    WindowQuery(&'a WindowQuery<P>),
    WindowChange(&'a WindowChange<P>),
    TabQuery(&'a TabQuery<P>),
    Permissions(&'a Permissions<P>),
    DownloadQuery(&'a DownloadQuery<P>),
    DownloadId(&'a DownloadId<P>),
    CookieCalls(&'a CookieCalls<P>),
    Notice(&'a Notice<P>),
    Log(&'a LogLine<P>),
    Hello(&'a HelloMessage<P>),
    Other(&'a P),
}

enum ErrorRef<'a, P> {
    Text(&'a str),
    Object(&'a ParseFailure<P>),
}

impl<'a, P> FrameRef<'a, P> {
    pub(crate) fn request(
        id: Option<RequestId>,
        method: &'a str,
        params: Option<ParamsRef<'a, P>>,
    ) -> Self {
        Self { id, method: Some(method), params, result: None, error: None }
    }

    pub(crate) fn reply(id: RequestId, outcome: &'a Result<Option<P>, String>) -> Self {
        let (result, error) = match outcome {
            Ok(result) => (result.as_ref(), None),
            Err(text) => (None, Some(ErrorRef::Text(text))),
        };
        Self { id: Some(id), method: None, params: None, result, error }
    }

    pub(crate) fn failure(failure: &'a ParseFailure<P>) -> Self {
        let error = Some(ErrorRef::Object(failure));
        Self { id: None, method: None, params: None, result: None, error }
    }
}

impl<P: Serialize> Serialize for FrameRef<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        if let Some(method) = self.method {
            map.serialize_entry("method", method)?;
        }
        match &self.params {
            None => {}
            Some(ParamsRef::Command(command)) => map.serialize_entry("params", command)?,
            Some(ParamsRef::Event(event)) => map.serialize_entry("params", event)?,
            Some(ParamsRef::WindowMode(mode)) => map.serialize_entry("params", mode)?,
            Some(ParamsRef::WindowQuery(query)) => map.serialize_entry("params", query)?,
            Some(ParamsRef::WindowChange(change)) => map.serialize_entry("params", change)?,
            Some(ParamsRef::TabQuery(tab)) => map.serialize_entry("params", tab)?,
            Some(ParamsRef::Permissions(rules)) => map.serialize_entry("params", rules)?,
            Some(ParamsRef::DownloadQuery(query)) => map.serialize_entry("params", query)?,
            Some(ParamsRef::DownloadId(download)) => map.serialize_entry("params", download)?,
            Some(ParamsRef::CookieCalls(calls)) => map.serialize_entry("params", calls)?,
            Some(ParamsRef::Notice(notice)) => map.serialize_entry("params", notice)?,
            Some(ParamsRef::Log(line)) => map.serialize_entry("params", line)?,
            Some(ParamsRef::Hello(hello)) => map.serialize_entry("params", hello)?,
            Some(ParamsRef::Other(payload)) => map.serialize_entry("params", payload)?,
        }
        if let Some(result) = self.result {
            map.serialize_entry("result", result)?;
        }
        match &self.error {
            None => {}
            Some(ErrorRef::Text(text)) => map.serialize_entry("error", text)?,
            Some(ErrorRef::Object(failure)) => map.serialize_entry("error", failure)?,
        }
        map.end()
    }
}
