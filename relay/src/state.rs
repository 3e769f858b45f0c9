//! The relay as a pure machine: inputs in, effects out, no socket, clock or randomness inside.
//!
//! One task owns a [`Relay`], feeds it and performs what it returns, in order. A reply and the
//! events around it are effects of the same list, so they can never overtake each other.

mod announce;
mod browser_domain;
mod clients;
mod extensions;
mod from_extension;
mod reconnect;
mod requests;
mod sessions;
mod status;
mod targets;

use std::fmt;
use std::time::{Duration, Instant};

use serde::Deserialize;
use shared_protocol::{
    CdpCommand, CloseCode, ExtensionHello, Extra, LogLevel, Payload as _, RequestId, SessionId,
    TargetId, reset_commands,
};

use crate::cdp::{Command, Error, Frame};
use crate::payload::{ExtensionMessage, Payload, RelayMessage};
use clients::{Client, Clients};
use extensions::{Extension, Extensions};
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
        /// The page that commands without a session are for.
        page: Option<TargetId>,
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
            Input::ClientConnected { client, name, extension, page: _ } => {
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
