//! The window mode: tabs that clients open go beside the user's, or into a window of their own.
//!
//! The relay has a mode, which extensions are told when they connect and when it changes. A client
//! may want another for itself, which goes along with each tab that it opens.

use serde_json::{Map, Value, json};
use shared_protocol::{Extra, Feature, WindowMode};

use crate::Relay;
use crate::cdp::Command;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::ids::{ClientId, ConnectionId};
use crate::turn::Turn;

const SEPARATE_WINDOW: &str = "separateWindow";

impl Relay {
    pub(crate) fn choose_window_mode(&mut self, separate_window: bool, turn: &mut Turn) {
        if self.policy.separate_window == separate_window {
            return;
        }
        self.policy.separate_window = separate_window;
        let connected: Vec<_> = self.extensions.connected().map(|(it, _)| it).collect();
        for connection in connected {
            self.send_window_mode(connection, turn);
        }
    }

    /// Tells an extension where tabs that clients open go, if the extension understands the message.
    pub(crate) fn send_window_mode(&mut self, connection: ConnectionId, turn: &mut Turn) {
        let separate_window = self.policy.separate_window;
        let features = self.extensions.get(connection).map(|extension| extension.features);
        let can_be_told = features.is_some_and(|features| features.has(Feature::WindowMode));
        if (can_be_told || separate_window)
            && let Some(proof) = self.proof(connection, turn)
        {
            let mode = WindowMode { separate_window, extra: Extra::default() };
            turn.send_to_extension(connection, RelayMessage::SetWindowMode(mode, proof));
        }
    }

    /// Returns the parameters for a first tab, in the window mode of the client that came last.
    pub(crate) fn initial_tab(&self, connection: ConnectionId) -> Option<Payload> {
        let client = self.clients.all_of(connection).last()?;
        Some(Payload::of(
            &json!({ SEPARATE_WINDOW: self.wanted_window(client.connection, client.separate_window)? }),
        ))
    }

    /// Adds to `Target.createTarget` the window mode that the client wants.
    pub(crate) fn with_wanted_window(&self, client: ClientId, command: Command) -> Command {
        let client = self.clients.get(client);
        let Some(separate_window) =
            client.and_then(|client| self.wanted_window(client.connection, client.separate_window))
        else {
            return command;
        };
        let mut fields = command.read_params::<Map<String, Value>>().unwrap_or_default();
        fields.insert(SEPARATE_WINDOW.to_owned(), separate_window.into());
        Command { params: Some(Payload::of(&fields)), ..command }
    }

    /// Returns the window mode that a client wants, if its extension supports it.
    fn wanted_window(&self, connection: ConnectionId, wanted: Option<bool>) -> Option<bool> {
        let extension = self.extensions.get(connection)?;
        wanted.filter(|_| extension.features.has(Feature::WindowMode))
    }
}
