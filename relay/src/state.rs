//! The relay as a pure machine: inputs in, effects out, no socket, clock or randomness inside.
//!
//! One task owns a [`Relay`], feeds it and performs what it returns, in order. A reply and the
//! events around it are effects of the same list, so they can never overtake each other.

mod announce;
mod browser_domain;
mod clients;
mod extensions;
mod reconnect;
mod requests;
mod sessions;
mod status;
mod targets;

use std::fmt;
use std::time::{Duration, Instant};

use serde::Deserialize;
use shared_protocol::{
    AttachedToTarget, CdpCommand, CdpEvent, CloseCode, DetachedFromTarget, ExtensionHello, Extra,
    LogLevel, Payload as _, RequestId, SessionId, StableKey, TargetId, WINDOW_MODE, WindowMode,
    reset_commands,
};

use crate::cdp::{Command, Error, Frame};
use crate::payload::{ExtensionMessage, Payload, RelayMessage};
use announce::InfoEvent;
use clients::{Client, Clients};
use extensions::{Extension, Extensions};
use reconnect::Inheritance;
use requests::{Purpose, QUICK, Request, Requests, is_quick};
use sessions::{BrowserSession, Kind, Sessions};

/// A worker sleeps after 30 s without a message; released relays ping at this pace too.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// Names one connection of an extension; a reconnect gets a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// Names one client socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// What happened outside.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input {
    ExtensionConnected {
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
    },
    ExtensionSent {
        connection: ConnectionId,
        message: ExtensionMessage,
    },
    ExtensionDisconnected {
        connection: ConnectionId,
    },
    ClientConnected {
        client: ClientId,
        name: Option<String>,
        extension: Option<String>,
    },
    ClientSent {
        client: ClientId,
        command: Command,
    },
    /// The text was no command; the error is what Chrome would answer.
    ClientSentGarbage {
        client: ClientId,
        error: Error,
    },
    ClientDisconnected {
        client: ClientId,
    },
    DeadlinePassed,
}

/// What the shell must do now, in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effect {
    SendToExtension { connection: ConnectionId, message: RelayMessage },
    CloseExtension { connection: ConnectionId, code: CloseCode, reason: String },
    SendToClient { client: ClientId, frame: Frame },
    CloseClient { client: ClientId, code: CloseCode, reason: String },
    Log { level: LogLevel, text: String },
}

/// The whole relay, without its sockets.
#[derive(Debug)]
pub struct Relay {
    /// The target id of the browser that the relay pretends to be.
    browser_id: TargetId,
    extensions: Extensions,
    clients: Clients,
    requests: Requests,
    revision: u64,
    /// Whether tabs that clients open go to a window of their own.
    separate_window: bool,
}

impl Relay {
    /// A relay that knows nobody. The id names the browser that it pretends to be.
    #[must_use]
    pub fn new(browser_id: TargetId, separate_window: bool) -> Self {
        Self {
            browser_id,
            separate_window,
            extensions: Extensions::default(),
            clients: Clients::default(),
            requests: Requests::default(),
            revision: 0,
        }
    }

    /// Applies one input. Does not fail: a peer's mistake becomes an effect that answers the peer.
    #[must_use = "effects happen only when the shell performs them"]
    pub fn handle(&mut self, input: Input, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::ExtensionConnected { connection, hello, user_agent } => {
                self.extension_connected(connection, hello, user_agent, now, &mut effects);
            }
            Input::ExtensionSent { connection, message } => {
                self.extension_sent(connection, message, now, &mut effects);
            }
            Input::ExtensionDisconnected { connection } => {
                self.extension_disconnected(connection, now, &mut effects);
            }
            Input::ClientConnected { client, name, extension } => {
                self.client_connected(client, name, extension.as_deref(), &mut effects);
            }
            Input::ClientSent { client, command } => {
                self.client_sent(client, command, now, &mut effects);
            }
            Input::ClientSentGarbage { client, error } => {
                effects.push(Effect::SendToClient { client, frame: Frame::Malformed(error) });
            }
            Input::ClientDisconnected { client } => self.client_left(client, &mut effects),
            Input::DeadlinePassed => self.deadline_passed(now, &mut effects),
        }
        effects
    }

    /// The instant at which the shell must send [`Input::DeadlinePassed`].
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let of_extensions = self.extensions.iter().flat_map(|(_, extension)| {
            let ping = extension.presence.is_connected().then_some(extension.next_ping);
            ping.into_iter().chain(extension.presence.deadline())
        });
        of_extensions.chain(self.requests.next_deadline()).min()
    }

    /// Changes whenever what the status routes show has changed.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    fn extension_connected(
        &mut self,
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let stable_key = hello
            .stable_key()
            .unwrap_or_else(|| StableKey::new(format!("connection:{connection}")));
        log(
            effects,
            LogLevel::Info,
            format!("extension {connection} connected as {}", {
                hello.version.as_deref().unwrap_or("an unknown version")
            }),
        );
        if hello.has_capability(WINDOW_MODE) {
            let separate_window = self.separate_window;
            let mode = WindowMode { separate_window, extra: Extra::default() };
            let message = RelayMessage::SetWindowMode(mode);
            effects.push(Effect::SendToExtension { connection, message });
        } else if self.separate_window {
            let text =
                format!("extension {connection} is too old for a separate window: update it");
            log(effects, LogLevel::Warn, text);
        }
        let Inheritance { targets, held, presence } =
            self.succeed(&stable_key, connection, now, effects);
        let next_ping = now + PING_INTERVAL;
        self.extensions.insert(
            connection,
            Extension { hello, stable_key, user_agent, targets, presence, held, next_ping },
        );
        self.revision += 1;
        self.is_back_if_nothing_is_missing(connection, now, effects);
    }

    fn extension_sent(
        &mut self,
        connection: ConnectionId,
        message: ExtensionMessage,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        match message {
            ExtensionMessage::Reply { id, outcome } => {
                self.extension_replied(connection, id, outcome, effects);
            }
            ExtensionMessage::Event(event) => self.extension_event(connection, event, now, effects),
            ExtensionMessage::Ready => self.is_back(connection, now, effects),
            ExtensionMessage::Log(line) => {
                log(
                    effects,
                    line.level,
                    format!("extension {connection}: {}", line.args.join(" ")),
                );
            }
            ExtensionMessage::ParseFailure(failure) => log(
                effects,
                LogLevel::Error,
                format!("extension {connection} could not read a message: {}", failure.message),
            ),
            ExtensionMessage::Unknown { method, .. } => {
                log(
                    effects,
                    LogLevel::Warn,
                    format!("extension {connection} sent unknown {method}"),
                );
            }
            ExtensionMessage::Pong
            | ExtensionMessage::Hello(_)
            | ExtensionMessage::RecordingData(_)
            | ExtensionMessage::RecordingCancelled(_) => {}
        }
    }

    fn extension_replied(
        &mut self,
        connection: ConnectionId,
        id: RequestId,
        outcome: Result<Option<Payload>, String>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(request) = self.requests.answer(connection, id) else { return };
        let outcome = outcome
            .map(|result| result.unwrap_or_else(Payload::empty_object))
            .map_err(|text| Error::from_extension(&text));
        if let (Purpose::AutoAttach, Some(real)) = (request.purpose, &request.session) {
            self.replay_children(connection, &request.asker, real, effects);
        }
        effects.push(request.asker.reply(outcome));
    }

    fn extension_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let unreadable = |error| format!("extension {connection}: {}: {error}", event.method);
        match (event.method.as_str(), &event.params) {
            // No client depends on these two, and they flood.
            ("Network.dataReceived" | "Network.resourceChangedPriority", _) => {}
            ("Target.attachedToTarget", Some(params)) => {
                match (params.read::<AttachedToTarget<Payload>>(), event.session_id.as_ref()) {
                    (Ok(attached), None) => {
                        let session = attached.session_id.clone();
                        self.tab_attached(connection, attached, effects);
                        self.confirm(connection, &session, now, effects);
                    }
                    (Ok(attached), Some(parent)) => {
                        let session = attached.session_id.clone();
                        self.child_attached(connection, parent, attached, effects);
                        self.confirm(connection, &session, now, effects);
                    }
                    (Err(error), _) => log(effects, LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.targetInfoChanged", Some(params)) if event.session_id.is_none() => {
                match params.read::<InfoEvent>() {
                    Ok(changed) => self.info_changed(connection, changed, effects),
                    Err(error) => log(effects, LogLevel::Error, unreadable(error)),
                }
            }
            ("Target.detachedFromTarget", Some(params)) => {
                match params.read::<DetachedFromTarget<Payload>>() {
                    Ok(detached) => self.detached(connection, &detached.session_id, effects),
                    Err(error) => log(effects, LogLevel::Error, unreadable(error)),
                }
            }
            _ => self.forward_event(connection, event, effects),
        }
    }

    /// Sends an event to every client session over the real one it came from.
    fn forward_event(
        &mut self,
        connection: ConnectionId,
        event: CdpEvent<Payload>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(real) = event.session_id else { return };
        if event.method == "Page.frameNavigated"
            && let Some(params) = &event.params
        {
            self.frame_navigated(connection, &real, params, effects);
        }
        for client in self.clients.of(connection) {
            let sessions = self.clients.get(client).map(|client| client.sessions.over(&real));
            for session in sessions.unwrap_or_default() {
                effects.push(Effect::SendToClient {
                    client,
                    frame: Frame::Event {
                        session: Some(session),
                        method: event.method.clone(),
                        params: event.params.clone(),
                    },
                });
            }
        }
    }

    fn client_connected(
        &mut self,
        client: ClientId,
        name: Option<String>,
        extension: Option<&str>,
        effects: &mut Vec<Effect>,
    ) {
        let close = |code, reason| Effect::CloseClient { client, code, reason };
        if let Some(name) = &name
            && self.clients.has_name(name)
        {
            let reason = "a client with this id is connected already".to_owned();
            effects.push(close(CloseCode::DuplicateClient, reason));
            return;
        }
        match self.extensions.choose(extension) {
            Ok(connection) => {
                let root = BrowserSession::default();
                let sessions = Sessions::default();
                self.clients.insert(client, Client { name, connection, root, sessions });
            }
            Err(reason) => effects.push(close(CloseCode::NoSuchExtension, reason)),
        }
    }

    /// Forgets a client, and lets go what it held in the tabs that nobody else uses.
    fn client_left(&mut self, id: ClientId, effects: &mut Vec<Effect>) {
        let Some(client) = self.clients.remove(id) else { return };
        self.requests.end(|request| request.asker.client == id);
        let Some(extension) = self.extensions.get(client.connection) else { return };
        let others: Vec<&Client> = self.clients.all_of(client.connection).collect();
        let unused: Vec<SessionId> = extension
            .targets
            .tabs()
            .map(|tab| tab.session.clone())
            .filter(|tab| !client.sessions.over(tab).is_empty())
            .filter(|tab| others.iter().all(|other| other.sessions.over(tab).is_empty()))
            .collect();
        for tab in unused {
            for (method, params) in reset_commands() {
                self.tell_target(client.connection, &tab, method, params, effects);
            }
        }
    }

    /// Sends a command of our own, whose answer nobody waits for.
    fn tell_target(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        method: &str,
        params: Option<Payload>,
        effects: &mut Vec<Effect>,
    ) {
        let command = CdpCommand {
            method: method.to_owned(),
            session_id: Some(real.clone()),
            params,
            source: None,
            extra: Extra::default(),
        };
        let message = RelayMessage::Command { id: self.requests.unasked(), command };
        effects.push(Effect::SendToExtension { connection, message });
    }

    fn client_sent(
        &mut self,
        client: ClientId,
        command: Command,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let Some(command) = self.hold(client, command, effects) else { return };
        let Some(state) = self.clients.get(client) else { return };
        let kind = match &command.session {
            None => None,
            Some(id) => match state.sessions.get(id) {
                Some(session) => Some(&session.kind),
                None => {
                    let asker = Asker::new(client, &command);
                    effects.push(asker.reply(Err(Error::unknown_session())));
                    return;
                }
            },
        };
        match kind {
            Some(Kind::Target { real, .. })
                if !browser_domain::serves_on_target(&command.method) =>
            {
                let real = real.clone();
                self.note_auto_attach(client, &command);
                self.forward_command(client, command, Some(real), now, effects);
            }
            None | Some(Kind::Browser(_) | Kind::Target { .. }) => {
                self.browser_command(client, command, now, effects);
            }
        }
    }

    /// Remembers which of a client's sessions are to be told of children.
    fn note_auto_attach(&mut self, client: ClientId, command: &Command) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct SetAutoAttach {
            auto_attach: bool,
        }

        if Purpose::of(&command.method) != Purpose::AutoAttach {
            return;
        }
        let asked = command.params.as_ref().and_then(|params| params.read::<SetAutoAttach>().ok());
        let (Some(asked), Some(session)) = (asked, &command.session) else { return };
        let session = self.clients.get_mut(client).and_then(|c| c.sessions.get_mut(session));
        if let Some(Kind::Target { auto_attach, .. }) = session.map(|session| &mut session.kind) {
            *auto_attach = asked.auto_attach;
        }
    }

    /// Passes a command on to the client's extension and remembers who waits for the reply.
    fn forward_command(
        &mut self,
        client: ClientId,
        command: Command,
        real: Option<SessionId>,
        now: Instant,
        effects: &mut Vec<Effect>,
    ) {
        let Some(connection) = self.clients.get(client).map(|client| client.connection) else {
            return;
        };
        let asker = Asker::new(client, &command);
        let id = self.requests.add(Request {
            connection,
            session: real.clone(),
            asker,
            purpose: Purpose::of(&command.method),
            deadline: is_quick(&command.method).then(|| now + QUICK),
        });
        let command = CdpCommand {
            method: command.method,
            session_id: real,
            params: command.params,
            source: None,
            extra: Extra::default(),
        };
        let message = RelayMessage::Command { id, command };
        effects.push(Effect::SendToExtension { connection, message });
    }

    fn deadline_passed(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        for (connection, extension) in self.extensions.iter_mut() {
            if extension.next_ping <= now && extension.presence.is_connected() {
                extension.next_ping = now + PING_INTERVAL;
                let message = RelayMessage::Ping;
                effects.push(Effect::SendToExtension { connection, message });
            }
        }
        self.presence_deadlines(now, effects);
        let late = self.requests.end(|request| request.deadline.is_some_and(|at| at <= now));
        let error = Error::server(format!(
            "no answer from the tab within {} seconds: it may be frozen, or show a dialog",
            QUICK.as_secs()
        ));
        fail(late, &error, effects);
    }

    fn close_client(
        &mut self,
        client: ClientId,
        code: CloseCode,
        reason: &str,
        effects: &mut Vec<Effect>,
    ) {
        self.client_left(client, effects);
        effects.push(Effect::CloseClient { client, code, reason: reason.to_owned() });
    }
}

/// A client's command, while its answer is being found.
#[derive(Debug, Clone, PartialEq)]
struct Asker {
    client: ClientId,
    /// The client's own name for the session.
    session: Option<SessionId>,
    /// The client's own id for the command.
    id: RequestId,
}

impl Asker {
    fn new(client: ClientId, command: &Command) -> Self {
        Self { client, session: command.session.clone(), id: command.id }
    }

    fn reply(self, outcome: Result<Payload, Error>) -> Effect {
        let Self { client, session, id } = self;
        Effect::SendToClient { client, frame: Frame::Reply { id, session, outcome } }
    }
}

fn fail(requests: Vec<Request>, error: &Error, effects: &mut Vec<Effect>) {
    effects.extend(requests.into_iter().map(|request| request.asker.reply(Err(error.clone()))));
}

fn log(effects: &mut Vec<Effect>, level: LogLevel, text: String) {
    effects.push(Effect::Log { level, text });
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection-{}", self.0)
    }
}

#[cfg(test)]
mod tests;
