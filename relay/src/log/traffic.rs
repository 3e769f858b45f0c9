//! Turns what the relay takes in and sends out into entries of `cdp.jsonl`.

mod outstanding;

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use shared_protocol::{RequestId, SessionId};

use super::Lines;
use super::entry::{Body, Direction, Entry, Message, Source};
use super::excerpt::{Excerpt, Secret};
use super::typed;
use crate::trust::Token;
use outstanding::{Asked, Outstanding};
use relay_core::cdp::{Command, Frame};
use relay_core::payload::{ExtensionMessage, Payload, RelayMessage};
use relay_core::{ClientId, ConnectionId, Effect, Input};

/// The longest name that is logged. No method and no session that means anything has a longer name.
const LONGEST_NAME: usize = 256;

/// The log of the traffic, with what it takes to keep secrets out of it.
#[derive(Debug)]
pub(crate) struct Traffic {
    lines: Lines,
    token: Option<Token>,
    /// The names that clients give themselves.
    names: BTreeMap<ClientId, String>,
    by_clients: Outstanding<(ClientId, Option<SessionId>, RequestId)>,
    by_relay: Outstanding<(ConnectionId, RequestId)>,
}

/// The cause of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Client(ClientId),
    Extension,
    Relay,
}

impl Traffic {
    pub(super) fn new(lines: Lines, token: Option<Token>) -> Self {
        Self {
            lines,
            token,
            names: BTreeMap::new(),
            by_clients: Outstanding::default(),
            by_relay: Outstanding::default(),
        }
    }

    /// Logs what came in. What it brings about belongs to the cause.
    pub(crate) fn note_input(&mut self, input: &Input) -> Cause {
        match input {
            Input::ClientConnected { client, hello } => {
                self.names.extend(hello.name.clone().map(|name| (*client, name)));
                Cause::Relay
            }
            Input::ClientSent { client, command } => {
                self.client_sent(*client, command);
                Cause::Client(*client)
            }
            Input::ClientDisconnected { client } => {
                self.names.remove(client);
                self.by_clients.forget(|(asker, _, _)| asker == client);
                Cause::Relay
            }
            Input::ExtensionSent { connection, message } => {
                self.extension_sent(*connection, message);
                Cause::Extension
            }
            Input::ExtensionDisconnected { connection } => {
                self.by_relay.forget(|(asked, _)| asked == connection);
                Cause::Relay
            }
            Input::ClientSentGarbage { .. }
            | Input::ExtensionConnected { .. }
            | Input::DownloadCopied { .. }
            | Input::CommandRefused { .. }
            | Input::Closing
            | Input::WindowModeChosen { .. }
            | Input::DeadlinePassed => Cause::Relay,
        }
    }

    /// Logs what goes out.
    pub(crate) fn note_effect(&mut self, effect: &Effect, cause: Cause) {
        match effect {
            Effect::SendToClient { client, frame } => self.sent_to_client(*client, frame, cause),
            Effect::SendToExtension { connection, message } => {
                self.sent_to_extension(*connection, message, cause);
            }
            Effect::CloseClient { .. }
            | Effect::CloseExtension { .. }
            | Effect::CopyDownload { .. }
            | Effect::Log { .. } => {}
        }
    }

    fn client_sent(&mut self, client: ClientId, command: &Command) {
        let Command { id, session, method, params } = command;
        let (message, is_secret) = self.request(Some(*id), method, session, params);
        if session.as_ref().is_none_or(|session| session.as_str().len() <= LONGEST_NAME) {
            let asked = Asked { client: Some(client), is_secret };
            self.by_clients.add((client, session.clone(), *id), asked);
        }
        self.write(Direction::FromPlaywright, Some(client), Source::Client, message);
    }

    fn sent_to_client(&mut self, client: ClientId, frame: &Frame, cause: Cause) {
        let message = match frame {
            Frame::Event { session, method, params } => {
                self.request(None, method, session, params).0
            }
            Frame::Reply { id, session, outcome } => {
                let asked = self.by_clients.take(&(client, session.clone(), *id));
                let body = match outcome {
                    Ok(result) => Body::Result(self.answer(result.as_str(), asked)),
                    Err(error) => Body::Error(self.answer(Payload::of(error).as_str(), asked)),
                };
                let (id, session) = (Some(*id), short_session(session));
                Message { id, session, body: Some(body), ..Message::default() }
            }
            Frame::Malformed(error) => {
                let error = Payload::of(error);
                let excerpt = self.excerpt(error.as_str());
                Message { body: Some(Body::Error(excerpt)), ..Message::default() }
            }
        };
        let source = match cause {
            Cause::Extension => Source::Extension,
            Cause::Client(_) | Cause::Relay => Source::Server,
        };
        self.write(Direction::ToPlaywright, Some(client), source, message);
    }

    fn sent_to_extension(
        &mut self,
        connection: ConnectionId,
        message: &RelayMessage,
        cause: Cause,
    ) {
        let (client, source) = match cause {
            Cause::Client(client) => (Some(client), Source::Client),
            Cause::Extension | Cause::Relay => (None, Source::Server),
        };
        let (id, (message, is_secret)) = if let RelayMessage::Command { id, command } = message {
            let asked =
                self.request(Some(*id), &command.method, &command.session_id, &command.params);
            (Some(*id), asked)
        } else {
            // A ping every few seconds says nothing.
            if *message == RelayMessage::Ping {
                return;
            }
            let Some(Bare { id, method, params }) = Bare::of(message) else { return };
            (id, self.request(id, &method, &None, &params))
        };
        if let Some(id) = id {
            self.by_relay.add((connection, id), Asked { client, is_secret });
        }
        self.write(Direction::ToExtension, client, source, message);
    }

    fn extension_sent(&mut self, connection: ConnectionId, message: &ExtensionMessage) {
        let mut client = None;
        let message = match message {
            ExtensionMessage::Event(event) => {
                self.request(None, &event.method, &event.session_id, &event.params).0
            }
            ExtensionMessage::Reply { id, outcome } => {
                let asked = self.by_relay.take(&(connection, *id));
                client = asked.and_then(|asked| asked.client);
                let body = match outcome {
                    Ok(Some(result)) => Body::Result(self.answer(result.as_str(), asked)),
                    Ok(None) => Body::Result(self.answer("{}", asked)),
                    Err(text) => Body::Error(self.answer(Payload::of(text).as_str(), asked)),
                };
                Message { id: Some(*id), body: Some(body), ..Message::default() }
            }
            // The one says nothing, the other is in the log for people.
            ExtensionMessage::Pong | ExtensionMessage::Log(_) => return,
            ExtensionMessage::Hello(_)
            | ExtensionMessage::Ready
            | ExtensionMessage::RecordingData(_)
            | ExtensionMessage::RecordingCancelled(_)
            | ExtensionMessage::ParseFailure(_)
            | ExtensionMessage::Unknown { .. } => {
                let Some(Bare { id, method, params }) = Bare::of(message) else { return };
                self.request(id, &method, &None, &params).0
            }
        };
        self.write(Direction::FromExtension, client, Source::Extension, message);
    }

    /// A command or an event, and whether its answer must not be shown.
    fn request(
        &self,
        id: Option<RequestId>,
        method: &str,
        session: &Option<SessionId>,
        params: &Option<Payload>,
    ) -> (Message, bool) {
        let json = params.as_ref().map(Payload::as_str);
        let secret = Secret::of(method, json.unwrap_or_default(), self.token.as_ref());
        let shown = json.map(|json| match secret {
            None => typed::without(method, json),
            Some(_) => Some(json.into()),
        });
        let message = Message {
            id,
            method: Some(short(method).to_owned()),
            session: short_session(session),
            body: shown.map(|shown| {
                Body::Params(match shown {
                    Some(shown) => Excerpt::of(&shown, secret),
                    None => Excerpt::of(json.unwrap_or_default(), Some(Secret::Typed)),
                })
            }),
        };
        (message, secret.is_some())
    }

    /// An answer. One to a command that was not seen could be to any.
    fn answer(&self, json: &str, asked: Option<Asked>) -> Excerpt {
        match asked {
            Some(Asked { is_secret: false, .. }) => self.excerpt(json),
            Some(Asked { is_secret: true, .. }) | None => Excerpt::of(json, Some(Secret::Reply)),
        }
    }

    fn excerpt(&self, json: &str) -> Excerpt {
        Excerpt::of(json, Secret::within(json, self.token.as_ref()))
    }

    #[expect(clippy::disallowed_methods, reason = "a log says when")]
    fn write(
        &self,
        direction: Direction,
        client: Option<ClientId>,
        source: Source,
        message: Message,
    ) {
        let name = |client: ClientId| match self.names.get(&client) {
            Some(name) => name.clone(),
            None => format!("client-{}", client.0),
        };
        self.lines.traffic(Entry {
            at: SystemTime::now(),
            direction: Some(direction),
            client: client.map(name),
            source,
            message,
        });
    }
}

/// The rare messages that carry no CDP, as they are on the wire.
#[derive(Deserialize)]
struct Bare {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Option<Payload>,
}

impl Bare {
    fn of(message: &impl Serialize) -> Option<Self> {
        serde_json::from_str(Payload::of(message).as_str()).ok()
    }
}

fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}

fn short_session(session: &Option<SessionId>) -> Option<SessionId> {
    session.as_ref().map(|session| SessionId::new(short(session.as_str())))
}
