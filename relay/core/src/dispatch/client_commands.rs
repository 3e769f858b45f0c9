//! A client's command: may it be sent, must it wait, and who answers it.

use crate::Relay;
use crate::cdp::{Command, Error};
use crate::confinement::Confinement;
use crate::ids::{ClientId, Seat};
use crate::requests::asker::Asker;
use crate::sessions::model::Kind;
use crate::turn::Turn;

/// How many commands of one client may wait for their answers; more are refused.
const MAX_UNANSWERED: usize = 10_000;

impl Relay {
    pub(crate) fn client_asked(&mut self, client: ClientId, command: Command, turn: &mut Turn) {
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

    pub(crate) fn client_sent(&mut self, client: ClientId, command: Command, turn: &mut Turn) {
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

    /// A client's first command: one that does not open a tab itself expects one to be there.
    fn greet(&mut self, client: ClientId, command: &Command, turn: &mut Turn) {
        let Some(state) = self.clients.get_mut(client) else { return };
        let connection = state.connection;
        if std::mem::take(&mut state.is_new) && command.method != "Target.createTarget" {
            self.open_tab_if_none(connection, turn);
        }
    }
}
