//! The relay as a pure machine: inputs in, effects out, no socket, clock or randomness inside.
//!
//! One task owns a [`Relay`], feeds it and performs what it returns, in order. A reply and the
//! events around it are effects of the same list, so they can never overtake each other.

mod browser;
pub mod cdp;
mod confinement;
mod dispatch;
mod ids;
mod peers;
mod requests;
mod sessions;
mod settings;
mod sharing;
mod status;
mod targets;
mod turn;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use shared_protocol::{CloseCode, ExtensionHello, Feature, LogLevel, RequestId, TargetId};

use crate::cdp::{Command, Error, Frame};
use browser::cookies::CookieJobs;
pub use browser::downloads::{ToldFile, WantedCopy};
pub use cdp::payload;
use cdp::payload::{ExtensionMessage, Payload, RelayMessage};
pub use confinement::Confinement;
use ids::Seat;
pub use ids::{ClientId, ConnectionId};
use peers::clients::{Client, Clients};
use peers::extensions::{Extension, Extensions};
use requests::asker::Asker;
use requests::pending::{Request, Requests};
use requests::purpose::Purpose;
use requests::refusal::OnRefusal;
use sessions::model::{Kind, Sessions};
use turn::Turn;

/// How many clients may be connected, and how many extensions. Those that have not proven themselves
/// are counted apart: anybody can make up any number of them.
pub const MAX_CLIENTS: usize = 256;
const MAX_EXTENSIONS: usize = 64;
const MAX_UNPROVEN: usize = 8;

/// How many of the clients may be of one agent's session; its code could open any number.
const MAX_CONFINED: usize = 4;

/// How many commands of one client may wait for their answers; more are refused.
const MAX_UNANSWERED: usize = 10_000;

/// How long the first tab may take to open: nearly as long as clients wait for a connection.
const FIRST_TAB: Duration = Duration::from_secs(25);

/// A worker sleeps after 30 s without a message; released relays ping at this pace too.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// What happened outside.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input {
    ExtensionConnected {
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        /// Whether it has shown that it has a key of this user's.
        proven: bool,
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
        /// The one page that it wants to talk to, instead of the browser.
        page: Option<TargetId>,
        /// Whether its tabs go to a window of their own; as the relay has it when it does not say.
        separate_window: Option<bool>,
        /// The files that it may have the browser open; all when `None`.
        confinement: Option<Confinement>,
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
    /// What came of [`Effect::CopyDownload`].
    DownloadCopied {
        connection: ConnectionId,
        guid: String,
        /// For each place where the file was wanted, where it is.
        outcome: Result<BTreeMap<PathBuf, PathBuf>, String>,
    },
    /// [`Effect::SendToExtension`] found no room for a command.
    CommandRefused {
        connection: ConnectionId,
        id: RequestId,
    },
    /// The user wants another window mode.
    WindowModeChosen {
        separate_window: bool,
    },
    /// The relay is about to end, and its clients with it.
    Closing,
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
    CopyDownload { connection: ConnectionId, guid: String, from: ToldFile, to: Vec<WantedCopy> },
    Log { level: LogLevel, text: String },
}

/// What the user lets clients do beyond driving tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Whether tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// Whether a client that finds no tab gets one.
    pub opens_first_tab: bool,
    /// Whether clients may bring tabs to the front.
    pub may_focus: bool,
    /// Whether clients see and clear the cookies and caches of the whole profile.
    pub whole_profile: bool,
    /// What agents may let pages do.
    pub agents_may: AgentsMay,
}

/// What agents may let pages do with the user's devices. Without it, a page that talks an agent into
/// something could listen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentsMay {
    /// See.
    pub camera: bool,
    /// Listen.
    pub microphone: bool,
    /// Read what the user has copied.
    pub clipboard_read: bool,
}

impl AgentsMay {
    /// As `--agents-may` names them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let Self { camera, microphone, clipboard_read } = self;
        let all =
            [(camera, "camera"), (microphone, "microphone"), (clipboard_read, "clipboard-read")];
        all.into_iter().filter_map(|(is_allowed, name)| is_allowed.then_some(name))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            separate_window: false,
            opens_first_tab: true,
            may_focus: false,
            whole_profile: false,
            agents_may: AgentsMay::default(),
        }
    }
}

/// The whole relay, without its sockets.
#[derive(Debug)]
pub struct Relay {
    /// The target id of the browser that the relay pretends to be.
    browser_id: TargetId,
    policy: Policy,
    /// Whether extensions can prove themselves: then only those that have are believed about files.
    pairs: bool,
    extensions: Extensions,
    clients: Clients,
    requests: Requests,
    cookie_jobs: CookieJobs,
    /// Counts the commands of clients, so that what came later can be told.
    commands: u64,
    tabs_named: u32,
    sessions_named: u64,
    revision: u64,
    /// Whether something has come or gone that decides where Chrome attaches to children.
    children_changed: bool,
    /// Whether a tab has come, gone or moved on, which decides where permissions count.
    tabs_changed: bool,
}

impl Relay {
    /// A relay that knows nobody. The id names the browser that it pretends to be.
    #[must_use]
    pub fn new(browser_id: TargetId, policy: Policy) -> Self {
        Self {
            browser_id,
            policy,
            pairs: false,
            extensions: Extensions::default(),
            clients: Clients::default(),
            requests: Requests::default(),
            cookie_jobs: CookieJobs::default(),
            commands: 0,
            tabs_named: 0,
            sessions_named: 1,
            revision: 0,
            children_changed: false,
            tabs_changed: false,
        }
    }

    /// Believes only extensions that have proven themselves about files.
    #[must_use]
    pub fn with_pairing(self) -> Self {
        Self { pairs: true, ..self }
    }

    /// Applies one input. Does not fail: a peer's mistake becomes an effect that answers the peer.
    #[must_use = "effects happen only when the shell performs them"]
    pub fn handle(&mut self, input: Input, now: Instant) -> Vec<Effect> {
        let mut turn = Turn::at(now);
        match input {
            Input::ExtensionConnected { connection, hello, user_agent, proven } => {
                self.extension_connected(connection, hello, user_agent, proven, &mut turn);
            }
            Input::ExtensionSent { connection, message } => {
                self.extension_sent(connection, message, &mut turn);
            }
            Input::ExtensionDisconnected { connection } => {
                self.extension_disconnected(connection, &mut turn);
            }
            Input::ClientConnected {
                client,
                name,
                extension,
                page,
                separate_window,
                confinement,
            } => {
                let extension = extension.as_deref();
                let is_confined = confinement.is_some();
                // It is asked for by nobody who is confined.
                let page = page.filter(|_| !is_confined);
                if self.is_crowded(confinement.as_ref()) {
                    let reason = format!("a session may have {MAX_CONFINED} connections");
                    turn.close_client(client, CloseCode::DuplicateClient, reason);
                } else {
                    let window = separate_window;
                    self.client_connected(client, name, extension, page, window, &mut turn);
                }
                if let Some(client) = self.clients.get_mut(client) {
                    client.confinement = confinement;
                }
            }
            Input::ClientSent { client, command } => self.client_asked(client, command, &mut turn),
            Input::ClientSentGarbage { client, error } => {
                turn.send(client, Frame::Malformed(error));
            }
            Input::ClientDisconnected { client } => self.client_left(client, &mut turn),
            Input::DownloadCopied { connection, guid, outcome } => {
                self.download_copied(connection, &guid, outcome, &mut turn);
            }
            Input::CommandRefused { connection, id } => {
                self.command_refused(connection, id, &mut turn);
            }
            Input::WindowModeChosen { separate_window } => {
                self.choose_window_mode(separate_window, &mut turn);
            }
            Input::Closing => self.all_clients_leave(&mut turn),
            Input::DeadlinePassed => self.deadline_passed(&mut turn),
        }
        self.settle_children(&mut turn);
        self.settle_permissions(&mut turn);
        self.keep_for_absent(&mut turn.effects);
        self.count_answers(&turn.effects);
        turn.effects
    }

    fn is_crowded(&self, confinement: Option<&Confinement>) -> bool {
        let is_same = |client: &Client| client.confinement.as_ref() == confinement;
        confinement.is_some()
            && self.clients.iter().filter(|(_, it)| is_same(it)).count() >= MAX_CONFINED
    }

    fn count_answers(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::SendToClient { client, frame: Frame::Reply { .. } } = effect
                && let Some(client) = self.clients.get_mut(*client)
            {
                client.unanswered = client.unanswered.saturating_sub(1);
            }
        }
    }

    /// The instant at which the shell must send [`Input::DeadlinePassed`].
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let of_extensions = self.extensions.iter().flat_map(|(_, extension)| {
            let ping = extension.presence.is_connected().then_some(extension.next_ping);
            let waits = extension.targets.iter().filter_map(|target| target.waits_until);
            ping.into_iter().chain(extension.presence.deadline()).chain(waits)
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
        page: Option<TargetId>,
        separate_window: Option<bool>,
        turn: &mut Turn,
    ) {
        if self.clients.count() >= MAX_CLIENTS {
            let reason = format!("{MAX_CLIENTS} clients are connected already");
            return turn.close_client(client, CloseCode::DuplicateClient, reason);
        }
        if let Some(name) = &name
            && self.clients.has_name(name)
        {
            let reason = "a client with this id is connected already".to_owned();
            return turn.close_client(client, CloseCode::DuplicateClient, reason);
        }
        let chosen = match &page {
            Some(page) => self
                .extensions
                .with_target(page)
                .ok_or_else(|| "no such page: see /json/list".to_owned()),
            None => self.extensions.choose(extension).map(|connection| (connection, Kind::Browser)),
        };
        let (connection, root) = match chosen {
            Ok(chosen) => chosen,
            Err(reason) => return turn.close_client(client, CloseCode::NoSuchExtension, reason),
        };
        let real = root.real().cloned();
        let extension = self.extensions.get(connection);
        let found_it = extension.is_some_and(|extension| extension.presence.is_connected());
        self.clients.insert(
            client,
            Client {
                name,
                connection,
                sessions: Sessions::new(root),
                is_new: true,
                found_it,
                separate_window,
                confinement: None,
                unanswered: 0,
                permissions: Vec::new(),
                windows: BTreeSet::new(),
                trace: None,
            },
        );
        self.revision += 1;
        if separate_window == Some(true) {
            self.wants(connection, Feature::WindowMode, turn);
        }
        if let Some(real) = real
            && let Some(target) = self.target_mut(connection, &real)
        {
            target.seats.push(Seat::root(client));
        }
    }

    /// A client's first command: one that does not open a tab itself expects one to be there.
    fn greet(&mut self, client: ClientId, command: &Command, turn: &mut Turn) {
        let Some(state) = self.clients.get_mut(client) else { return };
        let connection = state.connection;
        if std::mem::take(&mut state.is_new) && command.method != "Target.createTarget" {
            self.open_tab_if_none(connection, turn);
        }
    }

    /// A client that finds no tab gets one, unless the user does not want that.
    fn open_tab_if_none(&mut self, connection: ConnectionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let has_tab = extension.targets.tabs().next().is_some();
        extension.may_lack_tab = !extension.presence.is_here();
        if has_tab || extension.opens_tab || extension.may_lack_tab || !self.policy.opens_first_tab
        {
            return;
        }
        extension.opens_tab = true;
        let Some(proof) = extension.features.proof() else {
            let blank = Payload::of(&json!({ "url": "about:blank" }));
            let create = ("Target.createTarget", Some(blank));
            return self.ask(connection, None, None, create, Purpose::FirstTab, turn);
        };
        let request = Request {
            connection,
            session: None,
            asker: None,
            purpose: Purpose::InitialTab,
            deadline: Some(turn.now + FIRST_TAB),
            needs: None,
            on_refusal: OnRefusal::Fails,
        };
        let params = self.initial_tab(connection);
        let message = |id| RelayMessage::CreateInitialTab { id, params, proof };
        self.ask_extension(request, message, turn);
    }

    fn client_asked(&mut self, client: ClientId, command: Command, turn: &mut Turn) {
        let Some(state) = self.clients.get_mut(client) else { return };
        state.unanswered += 1;
        let refusal = match &state.confinement {
            _ if state.unanswered > MAX_UNANSWERED => {
                let error = format!("{MAX_UNANSWERED} commands wait for their answers already");
                Some(Error::server(error))
            }
            Some(confinement) => confinement.refusal(&command),
            None => None,
        };
        let command = match &state.confinement {
            Some(_) => Confinement::guarded(command),
            None => command,
        };
        if let Some(error) = refusal {
            let seat = Seat { client, session: command.session_or_root() };
            return turn.effects.push(Asker::new(&seat, &command).reply(Err(error)));
        }
        self.client_sent(client, command, turn);
    }

    fn client_sent(&mut self, client: ClientId, command: Command, turn: &mut Turn) {
        self.greet(client, &command, turn);
        let Some(command) = self.hold(client, command, turn) else { return };
        let seat = Seat { client, session: command.session_or_root() };
        match self.clients.session(&seat).map(|session| &session.kind) {
            Some(Kind::Target(_)) => self.target_command(&seat, command, turn),
            Some(Kind::Browser | Kind::Tab { .. }) => self.browser_command(&seat, command, turn),
            None => {
                let error = Err(Error::unknown_session());
                turn.effects.push(Asker::new(&seat, &command).reply(error));
            }
        }
    }

    fn deadline_passed(&mut self, turn: &mut Turn) {
        self.ping_extensions(turn);
        self.presence_deadlines(turn);
        self.resume_late(turn);
        for (id, request) in self.requests.late(turn.now) {
            let error = Error::server(match &request.session {
                Some(_) => "no answer from the tab in time: it may be frozen, or show a dialog",
                None => "no answer from the extension in time",
            });
            let undone = self.extensions.heir_of(request.connection);
            let enabled = request.enables().map(|(real, domain)| (real.clone(), domain.to_owned()));
            self.conclude(id, request, Err(error), turn);
            if let Some((real, domain)) = enabled {
                // Chrome will do it all the same, and then this.
                self.switch_off_unless_used(undone, &real, &domain, turn);
            }
        }
    }

    fn ping_extensions(&mut self, turn: &mut Turn) {
        let mut silent = Vec::new();
        for (connection, extension) in self.extensions.iter_mut() {
            if extension.next_ping <= turn.now && extension.presence.is_connected() {
                extension.next_ping = turn.now + PING_INTERVAL;
                if extension.is_silent(turn.now) {
                    silent.push(connection);
                } else {
                    turn.tell_extension(connection, RelayMessage::Ping);
                }
            }
        }
        for connection in silent {
            let (code, reason) = (CloseCode::ExtensionSilent, "no sign of life".to_owned());
            turn.effects.push(Effect::CloseExtension { connection, code, reason });
            turn.log(LogLevel::Warn, format!("extension {connection} gives no sign of life"));
            self.extension_disconnected(connection, turn);
        }
    }

    fn close_client(&mut self, client: ClientId, code: CloseCode, reason: &str, turn: &mut Turn) {
        self.client_left(client, turn);
        turn.close_client(client, code, reason.to_owned());
    }
}

#[cfg(test)]
mod tests;
