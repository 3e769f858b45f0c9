//! Commands of the whole profile, which one tab answers for all.

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{ExtensionSessionId, SessionRef};
use crate::requests::purpose::Purpose;
use crate::requests::refusal;
use crate::targets::lifecycle::DEFAULT_CONTEXT;
use crate::targets::model::Target;
use crate::turn::Turn;

const ALL_CRASHED: &str = "Every controlled tab has crashed: reload one";

const NO_TAB: &str = "No tab is attached: click the Playwriter icon on a Chrome tab, or open one \
                      with Target.createTarget";

impl Relay {
    /// Runs a command of the whole profile in the first tab, which stands for it.
    pub(crate) fn any_tab_command(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        match self.any_tab(session_ref) {
            Ok(extension_session) => {
                let command = without_context(command);
                self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
            }
            Err(error) => turn.fail(&Asker::new(session_ref, &command), error),
        }
    }

    /// Returns the tab that stands for the browser: the one that the client used last, else the
    /// first.
    pub(crate) fn any_tab(&self, session_ref: &SessionRef) -> Result<ExtensionSessionId, Error> {
        let last_use = |tab: &&Target| {
            let own = tab.sessions.iter().filter(|other| other.client == session_ref.client);
            own.filter_map(|own| self.target_session(own)).map(|session| session.last_active).max()
        };
        let tabs = self.extension_of(session_ref).map(|extension| extension.targets.living_tabs());
        // `max_by_key` returns the last of several equal ones.
        let tabs = tabs.map(|tabs| tabs.filter(|tab| self.is_visible_to(session_ref, tab)));
        let tab =
            tabs.and_then(|tabs| tabs.collect::<Vec<_>>().into_iter().rev().max_by_key(last_use));
        tab.map(|tab| tab.session.clone()).ok_or_else(|| self.no_tab(session_ref))
    }

    /// Returns the error that says why no tab can answer.
    pub(crate) fn no_tab(&self, session_ref: &SessionRef) -> Error {
        let extension = self.extension_of(session_ref);
        let tabs = extension
            .map(|it| it.targets.tabs().filter(|tab| self.is_visible_to(session_ref, tab)));
        let tabs: Vec<&Target> = tabs.into_iter().flatten().collect();
        Error::server(match tabs.as_slice() {
            [] => NO_TAB,
            tabs if tabs.iter().all(|tab| tab.is_crashed) => ALL_CRASHED,
            _ => refusal::RESTRICTED,
        })
    }

    /// Returns the profile's own context, which every client drives.
    pub(crate) fn context_of(&self, session_ref: &SessionRef) -> String {
        self.extension_of(session_ref)
            .and_then(|extension| extension.context.clone())
            .unwrap_or_else(|| DEFAULT_CONTEXT.to_owned())
    }
}

/// Removes the browser context id from a command. Only a browser-level session may name one, and the
/// tab is in the right context anyway.
pub(crate) fn without_context(command: Command) -> Command {
    let fields = command.read_params::<serde_json::Map<String, serde_json::Value>>();
    match fields {
        Ok(mut fields) => match fields.remove("browserContextId") {
            Some(_) => Command { params: Some(Payload::of(&fields)), ..command },
            None => command,
        },
        Err(_) => command,
    }
}
