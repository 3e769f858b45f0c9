//! A client's command: may it be sent, must it wait, and who answers it.

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::method::{Method, OnBrowser};
use crate::cdp::{Command, Error};
use crate::confinement::Confinement;
use crate::ids::{ClientId, SessionRef};
use crate::sessions::model::Kind;
use crate::turn::Turn;

/// How many commands of one client may wait for their answers; more are refused.
const MAX_UNANSWERED: usize = 10_000;

impl Relay {
    pub(crate) fn accept_command(&mut self, client: ClientId, command: Command, turn: &mut Turn) {
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
            let session_ref = SessionRef { client, session: command.session.clone().into() };
            return turn.fail(&Asker::new(&session_ref, &command), error);
        }
        self.dispatch_command(client, command, turn);
    }

    pub(crate) fn dispatch_command(&mut self, client: ClientId, command: Command, turn: &mut Turn) {
        self.open_tab_for_new_client(client, &command, turn);
        let Some(command) = self.hold_command(client, command, turn) else { return };
        let session_ref = SessionRef { client, session: command.session.clone().into() };
        match self.clients.session(&session_ref).map(|session| &session.kind) {
            Some(Kind::Target(_)) => self.target_command(&session_ref, command, turn),
            Some(Kind::Browser | Kind::Tab { .. }) => {
                self.browser_command(&session_ref, command, turn);
            }
            None => {
                let error = Err(Error::unknown_session());
                turn.reply(&Asker::new(&session_ref, &command), error);
            }
        }
    }

    /// A client's first command: one that does not open a tab itself expects one to be there.
    fn open_tab_for_new_client(&mut self, client: ClientId, command: &Command, turn: &mut Turn) {
        let Some(state) = self.clients.get_mut(client) else { return };
        let connection = state.connection;
        if std::mem::take(&mut state.is_new)
            && Method::of(&command.method).on_browser != OnBrowser::CreateTarget
        {
            self.open_first_tab(connection, turn);
        }
    }
}
