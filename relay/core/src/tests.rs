//! Every transition: inputs in, effects out.

#![expect(clippy::disallowed_methods, reason = "any instant will do")]

mod browser;
mod dispatch;
mod peers;
mod properties;
mod script;
mod sessions;
mod sharing;
mod targets;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared_protocol::{CdpEvent, CloseCode, ExtensionHello, Extra, RequestId, SessionId, TargetId};

use super::{
    AgentsMay, ClientHello, ClientId, Confinement, ConnectionId, Effect, Input, Policy, Relay,
};
use crate::cdp::payload::{ExtensionMessage, Payload, RelayMessage};
use crate::cdp::{Command, Error, Frame};
use crate::peers::heartbeat::PING_INTERVAL;

const EXTENSION: ConnectionId = ConnectionId(1);
const CLIENT: ClientId = ClientId(2);

const AUTO_ATTACH: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#;

struct Stage(Relay, Instant);

impl Stage {
    fn new() -> Self {
        Self(Relay::new(TargetId::new("BROWSER"), Policy::default()), Instant::now())
    }

    fn with_tab() -> Self {
        let mut stage = Self::new();
        stage.connect_extension(EXTENSION, "one");
        stage.attach_tab(EXTENSION, "pw-tab-1", "T1");
        stage
    }

    fn with_client() -> Self {
        let mut stage = Self::with_tab();
        stage.connect_client(CLIENT, None, None);
        stage
    }

    fn with_attached_client() -> Self {
        let mut stage = Self::with_client();
        stage.command(None, 0, "Target.setAutoAttach", AUTO_ATTACH);
        stage
    }

    fn handle(&mut self, input: Input) -> Vec<Effect> {
        self.at(Duration::ZERO, input)
    }

    fn at(&mut self, after: Duration, input: Input) -> Vec<Effect> {
        self.0.handle(input, self.1 + after)
    }

    fn connect_extension(&mut self, connection: ConnectionId, install_id: &str) -> Vec<Effect> {
        let install_id = Some(install_id.to_owned());
        let hello = ExtensionHello { install_id, ..ExtensionHello::default() };
        let user_agent = String::new();
        self.handle(Input::ExtensionConnected { connection, hello, user_agent, proven: false })
    }

    fn connect_client(
        &mut self,
        client: ClientId,
        name: Option<&str>,
        extension: Option<&str>,
    ) -> Vec<Effect> {
        let (name, extension) = (name.map(str::to_owned), extension.map(str::to_owned));
        self.handle(Input::ClientConnected {
            client,
            hello: ClientHello { name, extension, ..ClientHello::default() },
        })
    }

    fn attach_tab(&mut self, connection: ConnectionId, session: &str, target: &str) -> Vec<Effect> {
        let params = json!({
            "sessionId": session, "targetInfo": info(target), "waitingForDebugger": false,
        });
        self.event(connection, None, "Target.attachedToTarget", params)
    }

    fn event(
        &mut self,
        connection: ConnectionId,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect> {
        self.event_at(Duration::ZERO, connection, session, method, params)
    }

    fn event_at(
        &mut self,
        after: Duration,
        connection: ConnectionId,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect> {
        let message = ExtensionMessage::Event(CdpEvent {
            session_id: session.map(SessionId::new),
            method: method.to_owned(),
            params: Some(Payload::of(&params)),
            extra: Extra::default(),
        });
        self.at(after, Input::ExtensionSent { connection, message })
    }

    fn command(
        &mut self,
        session: Option<&str>,
        id: i64,
        method: &str,
        params: &str,
    ) -> Vec<Effect> {
        let command = Command {
            id: RequestId(id),
            session: session.map(SessionId::new),
            method: method.to_owned(),
            params: Some(serde_json::from_str(params).unwrap()),
        };
        self.handle(Input::ClientSent { client: CLIENT, command })
    }

    fn reply(
        &mut self,
        connection: ConnectionId,
        id: i64,
        outcome: Result<Value, &str>,
    ) -> Vec<Effect> {
        let outcome = outcome.map(|result| Some(Payload::of(&result))).map_err(str::to_owned);
        let message = ExtensionMessage::Reply { id: RequestId(id), outcome };
        self.handle(Input::ExtensionSent { connection, message })
    }
}

fn info(target: &str) -> Value {
    json!({
        "targetId": target,
        "type": "page",
        "title": "",
        "url": "about:blank",
        "attached": true,
        "canAccessOpener": false,
        "browserContextId": "C",
    })
}

fn attached(parent: Option<&str>, session: &str, target: &str) -> Effect {
    let params =
        json!({ "sessionId": session, "targetInfo": info(target), "waitingForDebugger": false });
    // The order of the keys is that of the wire, which `json!` does not keep.
    let params: shared_protocol::AttachedToTarget<Payload> =
        serde_json::from_str(&params.to_string()).unwrap();
    send(parent, "Target.attachedToTarget", Payload::of(&params))
}

fn event(session: Option<&str>, method: &str, params: Value) -> Effect {
    send(session, method, Payload::of(&params))
}

fn send(session: Option<&str>, method: &str, params: Payload) -> Effect {
    let session = session.map(SessionId::new);
    let frame = Frame::Event { session, method: method.to_owned(), params: Some(params) };
    Effect::SendToClient { client: CLIENT, frame }
}

fn reply(session: Option<&str>, id: i64, result: Value) -> Effect {
    answer(session, id, Ok(Payload::of(&result)))
}

fn failure(session: Option<&str>, id: i64, error: Error) -> Effect {
    answer(session, id, Err(error))
}

fn answer(session: Option<&str>, id: i64, outcome: Result<Payload, Error>) -> Effect {
    let (id, session) = (RequestId(id), session.map(SessionId::new));
    Effect::SendToClient { client: CLIENT, frame: Frame::Reply { id, session, outcome } }
}

/// The commands that go to the extension, if nothing else happens.
fn methods(effects: &[Effect]) -> Vec<&str> {
    let method = |effect| {
        let &Effect::SendToExtension { message: RelayMessage::Command { ref command, .. }, .. } =
            effect
        else {
            panic!("{effect:?}")
        };
        command.method.as_str()
    };
    effects.iter().map(method).collect()
}

fn without_logs(effects: Vec<Effect>) -> Vec<Effect> {
    effects.into_iter().filter(|effect| !matches!(effect, Effect::Log { .. })).collect()
}
