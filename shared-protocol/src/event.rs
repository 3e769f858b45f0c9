//! The messages of an extension to the relay.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::frame::{Frame, FrameError, FrameParams, FrameRef, ParamsRef};
use crate::ids::{RequestId, SessionId};
use crate::payload::Payload;

pub(crate) const FORWARD_CDP_EVENT: &str = "forwardCDPEvent";
pub(crate) const HELLO: &str = "hello";
pub(crate) const LOG: &str = "log";
const PONG: &str = "pong";
const READY: &str = "ready";
const RECORDING_CANCELLED: &str = "recordingCancelled";
const RECORDING_DATA: &str = "recordingData";

/// A text frame from an extension to the relay.
#[derive(Debug, Clone, PartialEq)]
pub enum ExtensionMessage<P> {
    /// The answer to a request of the relay.
    Reply {
        /// The request's id.
        id: RequestId,
        /// A result, which may be absent, or what went wrong. `chrome.debugger` puts the CDP error
        /// into that text as JSON.
        outcome: Result<Option<P>, String>,
    },
    /// A CDP event of one session.
    Event(CdpEvent<P>),
    /// A line for the relay's log.
    Log(LogLine<P>),
    /// The answer to a ping.
    Pong,
    /// The extension's introduction, as a message; releases since 0.7 repeat their query this way.
    Hello(HelloMessage<P>),
    /// All controlled tabs have been announced.
    Ready,
    /// A piece of a recording; its bytes follow in a binary frame.
    RecordingData(Option<P>),
    /// A recording has ended without a result.
    RecordingCancelled(Option<P>),
    /// The extension could not read a message of ours, so it cannot say which.
    ParseFailure(ParseFailure<P>),
    /// A message that this version does not know.
    Unknown {
        /// An id, though a message with a method expects no answer.
        id: Option<RequestId>,
        /// The method's name.
        method: String,
        /// The parameters, untouched.
        params: Option<P>,
    },
}

wire_object! {
    /// A CDP event from one session of an extension.
    pub struct CdpEvent {
        /// The tab's or child's session; absent for the extension's own announcements.
        optional "sessionId" session_id: Option<SessionId>,
        /// `Domain.event`
        required "method" method: String,
        /// The event's parameters.
        optional "params" params: Option<P>,
    }
}

wire_object! {
    /// A line for the relay's log.
    pub struct LogLine {
        /// The level of the line.
        default "level" level: LogLevel,
        /// The parts of the line, which `console.log` would join with spaces.
        default "args" args: Vec<String>,
    }
}

wire_object! {
    /// Parameters of `hello`.
    pub struct HelloMessage {
        /// The browser's name.
        optional "browser" browser: Option<String>,
        /// The signed-in user's address.
        optional "email" email: Option<String>,
        /// The signed-in user's opaque id.
        optional "id" id: Option<String>,
        /// A random id made when the extension was installed.
        optional "installId" install_id: Option<String>,
        /// The extension's version.
        optional "version" version: Option<String>,
    }
}

wire_object! {
    /// An extension's report of a message that it could not read.
    pub struct ParseFailure {
        /// -32700
        default "code" code: i64,
        /// The reason why it could not be read.
        default "message" message: String,
    }
}

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Debug,
    #[default]
    Log,
    Info,
    Warn,
    Error,
}

impl<'de, P: Payload> Deserialize<'de> for ExtensionMessage<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let frame = Frame::<P>::deserialize(deserializer)?;
        let Some(method) = frame.method else {
            return match (frame.id, frame.error) {
                (Some(id), Some(FrameError::Text(text))) => {
                    Ok(Self::Reply { id, outcome: Err(text) })
                }
                (Some(id), Some(FrameError::Object(failure))) => {
                    Ok(Self::Reply { id, outcome: Err(failure.message) })
                }
                (Some(id), None) => Ok(Self::Reply { id, outcome: Ok(frame.result) }),
                (None, Some(FrameError::Object(failure))) => Ok(Self::ParseFailure(failure)),
                (None, Some(FrameError::Text(_)) | None) => Err(de::Error::missing_field("method")),
            };
        };
        let (id, params) = match (method.as_str(), frame.id, frame.params) {
            (_, None, Some(FrameParams::Event(event))) => return Ok(Self::Event(event)),
            (_, None, Some(FrameParams::Log(line))) => return Ok(Self::Log(line)),
            (_, None, Some(FrameParams::Hello(hello))) => return Ok(Self::Hello(hello)),
            (PONG, None, _) => return Ok(Self::Pong),
            (READY, None, _) => return Ok(Self::Ready),
            (_, id, params) => (id, params),
        };
        let params =
            params.map(FrameParams::into_payload).transpose().map_err(de::Error::custom)?;
        Ok(match (method.as_str(), id) {
            (RECORDING_DATA, None) => Self::RecordingData(params),
            (RECORDING_CANCELLED, None) => Self::RecordingCancelled(params),
            (_, id) => Self::Unknown { id, method, params },
        })
    }
}

impl<P: Serialize> Serialize for ExtensionMessage<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Reply { id, outcome } => FrameRef::reply(*id, outcome),
            Self::Event(event) => {
                FrameRef::request(None, FORWARD_CDP_EVENT, Some(ParamsRef::Event(event)))
            }
            Self::Log(line) => FrameRef::request(None, LOG, Some(ParamsRef::Log(line))),
            Self::Pong => FrameRef::request(None, PONG, None),
            Self::Hello(hello) => FrameRef::request(None, HELLO, Some(ParamsRef::Hello(hello))),
            Self::Ready => FrameRef::request(None, READY, None),
            Self::RecordingData(params) => {
                FrameRef::request(None, RECORDING_DATA, params.as_ref().map(ParamsRef::Other))
            }
            Self::RecordingCancelled(params) => {
                FrameRef::request(None, RECORDING_CANCELLED, params.as_ref().map(ParamsRef::Other))
            }
            Self::ParseFailure(failure) => FrameRef::failure(failure),
            Self::Unknown { id, method, params } => {
                FrameRef::request(*id, method, params.as_ref().map(ParamsRef::Other))
            }
        }
        .serialize(serializer)
    }
}
