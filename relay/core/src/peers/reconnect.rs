//! Chrome may end an extension's worker at any time, and start it again. Tabs stay attached meanwhile,
//! so the clients are kept, and their commands wait until the worker is back or has been away too long.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use shared_protocol::{CloseCode, Feature, Features, LogLevel, StableKey};

use crate::Relay;
use crate::asker::Asker;
use crate::browser::downloads::Downloads;
use crate::cdp::payload::RelayMessage;
use crate::cdp::{Command, Error, Frame};
use crate::effect::Effect;
use crate::ids::{ClientId, ConnectionId, ExtensionSessionId, SessionRef};
use crate::peers::extensions::{Extension, NO_EXTENSION};
use crate::targets::model::Targets;
use crate::turn::Turn;

/// The longest time for which a worker may be away. A worker starts within a fraction of a second
/// once something wakes it.
const AWAY: Duration = Duration::from_secs(5);

/// The time in which a worker that is back must announce the tabs that it had.
const INVENTORY: Duration = Duration::from_secs(2);

/// The largest number of bytes of commands that wait for one extension; more are refused.
const MAX_HELD: usize = 16 * 1024 * 1024;

/// The largest number of the relay's own messages that wait for one extension; the oldest is dropped
/// first.
const MAX_OUTGOING_QUEUE: usize = 10_000;

/// The presence of an extension: connected, back, or away.
#[derive(Debug)]
pub(crate) enum Presence {
    /// Connected, and all its tabs are known.
    Here,
    /// Connected, but it has not announced all its tabs; among them these of its predecessor's.
    Returning { unconfirmed: Vec<ExtensionSessionId>, until: Instant },
    /// Not connected.
    Away { until: Instant },
}

/// A command that waits for its extension.
#[derive(Debug)]
pub(crate) struct HeldCommand {
    client: ClientId,
    command: Command,
}

impl HeldCommand {
    fn weight(&self) -> usize {
        1024 + self.command.params.as_ref().map_or(0, |params| params.as_str().len())
    }
}

impl Presence {
    pub(crate) fn is_connected(&self) -> bool {
        match self {
            Self::Here | Self::Returning { .. } => true,
            Self::Away { .. } => false,
        }
    }

    pub(crate) fn is_here(&self) -> bool {
        matches!(self, Self::Here)
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Here => None,
            Self::Returning { until, .. } | Self::Away { until } => Some(*until),
        }
    }
}

impl Relay {
    /// The socket of an extension has closed. Both of its halves may tell.
    pub(crate) fn extension_disconnected(&mut self, connection: ConnectionId, turn: &mut Turn) {
        let extension = self.extensions.get_mut(connection);
        let Some(extension) = extension.filter(|it| it.presence.is_connected()) else { return };
        turn.log(LogLevel::Info, format!("extension {connection} disconnected"));
        extension.presence = Presence::Away { until: turn.now + AWAY };
        let key = extension.stable_key.clone();
        let told = turn.effects.len();
        for (id, request) in self.requests.take_where(|request| request.connection == connection) {
            self.complete_request(id, request, Err(Error::server("Extension disconnected")), turn);
        }
        let newest = self.extensions.newest(&key);
        if newest == Some(connection)
            && let Some(extension) = self.extensions.get_mut(connection)
        {
            // The relay does not know yet if their pages have ended. Clients must hear of that first.
            extension.interrupted.extend(turn.effects.extract_if(told.., is_answer));
        }
        if let Some(successor) = newest.filter(|newest| *newest != connection) {
            // A client may have asked for this very connection after it was replaced.
            self.clients.rebind(connection, successor);
        }
        // The worker comes back under the same key, or never; a client may come first.
        if newest != Some(connection) && self.clients.of(connection).is_empty() {
            self.extensions.remove(connection);
        }
        self.revision += 1;
    }

    /// Hands the clients, tabs and waiting commands of an installation's last connection to its
    /// new one.
    pub(crate) fn take_over(
        &mut self,
        key: &StableKey,
        successor: ConnectionId,
        turn: &mut Turn,
    ) -> Handover {
        let presence = |targets: &Targets| Presence::Returning {
            unconfirmed: targets.iter().map(|target| target.session.clone()).collect(),
            until: turn.now + INVENTORY,
        };
        let connection = self.extensions.newest(key);
        let predecessor = connection.and_then(|connection| {
            self.clients.rebind(connection, successor);
            self.extensions.get_mut(connection).map(|predecessor| (connection, predecessor))
        });
        let Some((connection, predecessor)) = predecessor else {
            let targets = Targets::default();
            return Handover {
                presence: presence(&targets),
                targets,
                downloads: Downloads::default(),
                held_commands: Vec::new(),
                interrupted: Vec::new(),
                outgoing_queue: VecDeque::new(),
                missing_features: Features::default(),
                may_lack_tab: false,
            };
        };
        let targets = std::mem::take(&mut predecessor.targets);
        let downloads = std::mem::take(&mut predecessor.downloads);
        let held_commands = std::mem::take(&mut predecessor.held_commands);
        let interrupted = std::mem::take(&mut predecessor.interrupted);
        let outgoing_queue = std::mem::take(&mut predecessor.outgoing_queue);
        let missing_features = predecessor.missing_features;
        let may_lack_tab = predecessor.may_lack_tab || predecessor.opens_tab;
        if predecessor.presence.is_connected() {
            turn.effects.push(Effect::CloseExtension {
                connection,
                code: CloseCode::ExtensionReplaced,
                reason: "Extension Replaced".to_owned(),
            });
        } else {
            self.extensions.remove(connection);
        }
        let presence = presence(&targets);
        Handover {
            presence,
            targets,
            downloads,
            held_commands,
            interrupted,
            outgoing_queue,
            missing_features,
            may_lack_tab,
        }
    }

    /// Keeps what the relay itself tells an extension that is away: mostly what is to be undone,
    /// because a client has left. Tabs outlive their worker, and so would what was done to them.
    pub(crate) fn queue_for_absent(&mut self, effects: &mut Vec<Effect>) {
        if self.extensions.iter().all(|(_, extension)| extension.presence.is_connected()) {
            return;
        }
        let is_unsent = |effect: &mut Effect| {
            let Effect::SendToExtension { connection, message } = effect else { return false };
            let RelayMessage::Command { id, .. } = message else { return false };
            let extension = self.extensions.get(*connection);
            // A client that waits for an answer is told that there will be none.
            extension.is_some_and(|it| !it.presence.is_connected())
                && !self.requests.is_pending(*id)
        };
        let outgoing_queue: Vec<Effect> = effects.extract_if(.., is_unsent).collect();
        for effect in outgoing_queue {
            let Effect::SendToExtension { connection, message } = effect else { continue };
            let Some(extension) = self.extensions.get_mut(connection) else { continue };
            if extension.outgoing_queue.len() >= MAX_OUTGOING_QUEUE {
                extension.outgoing_queue.pop_front();
            }
            extension.outgoing_queue.push_back(message);
        }
    }

    /// Keeps a command for an extension that is away or returning; gives it back if there is no
    /// need. Also what the relay would answer itself has to wait: it depends on the tabs.
    pub(crate) fn hold_command(
        &mut self,
        client: ClientId,
        command: Command,
        turn: &mut Turn,
    ) -> Option<Command> {
        let connection = self.clients.get(client)?.connection;
        match self.extensions.get_mut(connection) {
            Some(Extension { presence: Presence::Here, opens_tab: false, .. }) => {
                return Some(command);
            }
            Some(extension)
                if extension.held_commands.iter().map(HeldCommand::weight).sum::<usize>()
                    < MAX_HELD =>
            {
                extension.held_commands.push(HeldCommand { client, command });
            }
            Some(_) | None => {
                let error = Error::server("Extension disconnected");
                let session_ref = SessionRef { client, session: command.session.clone().into() };
                turn.fail(&Asker::new(&session_ref, &command), error);
            }
        }
        None
    }

    /// A tab has been announced; if it was the last one missing, the extension is back.
    pub(crate) fn confirm_session(
        &mut self,
        connection: ConnectionId,
        session: &ExtensionSessionId,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if let Presence::Returning { unconfirmed, .. } = &mut extension.presence {
            unconfirmed.retain(|missing| missing != session);
        }
        self.complete_inventory_if_confirmed(connection, turn);
    }

    pub(crate) fn complete_inventory_if_confirmed(
        &mut self,
        connection: ConnectionId,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get(connection) else { return };
        if let Presence::Returning { unconfirmed, .. } = &extension.presence
            && unconfirmed.is_empty()
            // An extension that announces when it is ready may still have tabs that nobody knows of
            // yet.
            && !extension.features.has(Feature::InventoryReady)
        {
            self.inventory_complete(connection, turn);
        }
    }

    /// The extension has announced all its tabs; those still missing are gone.
    pub(crate) fn inventory_complete(&mut self, connection: ConnectionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let presence = std::mem::replace(&mut extension.presence, Presence::Here);
        self.children_changed = true;
        if let Presence::Returning { unconfirmed, .. } = presence {
            for session in unconfirmed {
                self.detached(connection.target(&session), turn);
            }
        }
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        turn.effects.append(&mut extension.interrupted);
        let extension = self.extensions.get_mut(connection);
        for message in
            extension.map(|it| std::mem::take(&mut it.outgoing_queue)).unwrap_or_default()
        {
            turn.send_to_extension(connection, message);
        }
        if self.extensions.get(connection).is_some_and(|extension| extension.may_lack_tab) {
            self.open_first_tab(connection, turn);
        }
        self.run_held_commands(connection, turn);
    }

    /// Lets what waited for an extension go, in order, unless it has to wait again.
    pub(crate) fn run_held_commands(&mut self, connection: ConnectionId, turn: &mut Turn) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        for HeldCommand { client, command } in std::mem::take(&mut extension.held_commands) {
            self.dispatch_command(client, command, turn);
        }
    }

    pub(crate) fn expire_presences(&mut self, turn: &mut Turn) {
        let due: Vec<ConnectionId> = self
            .extensions
            .iter()
            .filter(|(_, extension)| extension.presence.deadline().is_some_and(|at| at <= turn.now))
            .map(|(connection, _)| connection)
            .collect();
        for connection in due {
            match self.extensions.get(connection).map(|extension| &extension.presence) {
                Some(Presence::Returning { .. }) => self.inventory_complete(connection, turn),
                Some(Presence::Away { .. }) => {
                    self.extensions.remove(connection);
                    for client in self.clients.of(connection) {
                        let found_extension =
                            self.clients.get(client).is_some_and(|it| it.found_extension);
                        let (code, reason) = match found_extension {
                            true => (CloseCode::Normal, "Extension disconnected"),
                            false => (CloseCode::NoSuchExtension, NO_EXTENSION),
                        };
                        self.close_client(client, code, reason, turn);
                    }
                    self.revision += 1;
                }
                Some(Presence::Here) | None => {}
            }
        }
    }
}

fn is_answer(effect: &mut Effect) -> bool {
    matches!(effect, Effect::SendToClient { frame: Frame::Reply { .. }, .. })
}

/// The state that a connection leaves to the next one of the same installation.
pub(crate) struct Handover {
    pub(crate) targets: Targets,
    pub(crate) downloads: Downloads,
    pub(crate) held_commands: Vec<HeldCommand>,
    pub(crate) interrupted: Vec<Effect>,
    pub(crate) outgoing_queue: VecDeque<RelayMessage>,
    pub(crate) missing_features: Features,
    pub(crate) may_lack_tab: bool,
    pub(crate) presence: Presence,
}
