//! The tab that is opened for a client that finds none.

use std::time::Duration;

use serde_json::json;
use shared_protocol::{AttachedToTarget, Extra, InitialTab, LogLevel, Payload as _};

use crate::Relay;
use crate::cdp::Error;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::ids::ConnectionId;
use crate::requests::pending::Request;
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

/// The time that the first tab may take to open: nearly as long as clients wait for a connection.
const FIRST_TAB: Duration = Duration::from_secs(25);

impl Relay {
    /// A client that finds no tab gets one, unless the user does not want that.
    pub(crate) fn open_first_tab(&mut self, connection: ConnectionId, turn: &mut Turn) {
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
        let request =
            Request::to_extension(connection, Purpose::InitialTab).until(turn.now + FIRST_TAB);
        let params = self.initial_tab(connection);
        let message = |id| RelayMessage::CreateInitialTab { id, params, proof };
        self.ask_extension(request, message, turn);
    }

    /// The first tab, which is announced by its answer alone, is there or will not come.
    pub(crate) fn initial_tab_answered(
        &mut self,
        connection: ConnectionId,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let tab = outcome.and_then(|payload| {
            let tab = payload.read::<InitialTab<Payload>>();
            tab.map_err(|error| Error::server(error.to_string()))
        });
        let failure = match tab {
            Ok(tab) => {
                let attached = AttachedToTarget {
                    session_id: tab.session_id,
                    target_info: tab.target_info,
                    waiting_for_debugger: false,
                    extra: Extra::default(),
                };
                self.tab_attached(connection, attached, turn);
                None
            }
            Err(error) => Some(error),
        };
        self.first_tab_answered(connection, failure, turn);
    }

    pub(crate) fn first_tab_answered(
        &mut self,
        connection: ConnectionId,
        failure: Option<Error>,
        turn: &mut Turn,
    ) {
        if let Some(error) = &failure {
            let text = format!("no first tab could be opened: {}", error.message);
            turn.log(LogLevel::Warn, text);
        }
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.opens_tab = false;
            // The next worker is asked.
            extension.may_lack_tab = failure.is_some() && !extension.presence.is_connected();
        }
        self.run_held_commands(connection, turn);
    }
}
