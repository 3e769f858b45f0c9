//! The relay as a pure machine: inputs in, effects out. There is no socket, clock, file or randomness
//! inside; time and ids are arguments.
//!
//! One task owns a [`Relay`], feeds it and performs what it returns, in order. A reply and the
//! events around it are effects of the same list, so they can never overtake each other.
//!
//! The methods of [`Relay`] are spread over the folders below. A folder uses types and functions of the
//! folders before it in this list, and of no other:
//! `ids`, `cdp`, `confinement`, `policy`, `effect`, `input`, `asker`, `turn`, `settings`, `requests`,
//! `sharing`, `sessions`, `targets`, `browser`, `peers`, `dispatch`, `status`.

mod asker;
mod browser;
pub mod cdp;
mod confinement;
mod dispatch;
mod effect;
mod ids;
mod input;
mod peers;
mod policy;
mod requests;
mod sessions;
mod settings;
mod sharing;
mod status;
mod targets;
mod turn;

use std::time::Instant;

use shared_protocol::{CloseCode, TargetId};

use crate::cdp::Frame;
use browser::cookies::CookieQueries;
pub use cdp::payload;
pub use confinement::Confinement;
pub use effect::{Effect, ReportedFile, WantedCopy};
use ids::CommandNumber;
pub use ids::{ClientId, ConnectionId};
pub use input::{ClientHello, Input};
pub use peers::choice;
use peers::clients::Clients;
use peers::extensions::Extensions;
pub use peers::joining::MAX_CLIENTS;
pub use policy::{AgentsMay, Policy};
use requests::pending::Requests;
use turn::Turn;

/// The whole relay, without its sockets.
#[derive(Debug)]
pub struct Relay {
    /// The target id of the browser that the relay pretends to be.
    browser_id: TargetId,
    policy: Policy,
    /// True if extensions can prove themselves. Then only proven extensions are believed about files.
    requires_pairing: bool,
    extensions: Extensions,
    clients: Clients,
    requests: Requests,
    cookie_queries: CookieQueries,
    last_command: CommandNumber,
    tabs_named: u32,
    sessions_named: u64,
    revision: u64,
    /// True if something has come or gone that decides where Chrome attaches to children.
    children_changed: bool,
    /// True if a tab has come, gone or navigated, which decides where permissions count.
    tabs_changed: bool,
}

impl Relay {
    /// A relay that knows nobody. The id names the browser that it pretends to be.
    #[must_use]
    pub fn new(browser_id: TargetId, policy: Policy) -> Self {
        Self {
            browser_id,
            policy,
            requires_pairing: false,
            extensions: Extensions::default(),
            clients: Clients::default(),
            requests: Requests::default(),
            cookie_queries: CookieQueries::default(),
            last_command: CommandNumber::default(),
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
        Self { requires_pairing: true, ..self }
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
            Input::ClientConnected { client, hello } => {
                self.client_connected(client, hello, &mut turn);
            }
            Input::ClientSent { client, command } => {
                self.accept_command(client, command, &mut turn);
            }
            Input::ClientSentGarbage { client, error } => {
                turn.send(client, Frame::Malformed(error));
            }
            Input::ClientDisconnected { client } => self.remove_client(client, &mut turn),
            Input::DownloadCopied { connection, guid, outcome } => {
                self.download_copied(connection, &guid, outcome, &mut turn);
            }
            Input::CommandRefused { connection, id } => {
                self.command_refused(connection, id, &mut turn);
            }
            Input::WindowModeChosen { separate_window } => {
                self.choose_window_mode(separate_window, &mut turn);
            }
            Input::Closing => self.remove_all_clients(&mut turn),
            Input::DeadlinePassed => self.deadline_passed(&mut turn),
        }
        self.apply_auto_attach(&mut turn);
        self.follow_permissions(&mut turn);
        self.queue_for_absent(&mut turn.effects);
        self.count_replies(&turn.effects);
        turn.effects
    }

    fn count_replies(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::SendToClient { client, frame: Frame::Reply { .. } } = effect
                && let Some(client) = self.clients.get_mut(*client)
            {
                client.unanswered = client.unanswered.saturating_sub(1);
            }
        }
    }

    /// Returns the instant at which the shell must send [`Input::DeadlinePassed`].
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

    fn deadline_passed(&mut self, turn: &mut Turn) {
        self.ping_extensions(turn);
        self.expire_presences(turn);
        self.resume_overdue(turn);
        self.expire_requests(turn);
    }

    fn close_client(&mut self, client: ClientId, code: CloseCode, reason: &str, turn: &mut Turn) {
        self.remove_client(client, turn);
        turn.close_client(client, code, reason.to_owned());
    }
}

#[cfg(test)]
mod tests;
