//! Scripts for new documents and bindings: each belongs to the session that made it.

use std::collections::{BTreeSet, VecDeque};

use serde::Deserialize;
use shared_protocol::Payload as _;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

/// A script that exposes a function is shorter.
const SHORT: usize = 4096;

/// The largest number of short scripts that are kept per session; the oldest go first.
const MAX_SHORT: usize = 256;

#[derive(Deserialize, serde::Serialize)]
struct Script {
    identifier: String,
}

#[derive(Deserialize, serde::Serialize)]
struct Binding {
    name: String,
}

/// The short scripts of a session, which tell which functions it exposes.
#[derive(Debug, Default)]
pub(crate) struct ShortScripts(VecDeque<String>);

impl ShortScripts {
    fn add(&mut self, command: &Command) {
        let source = command.params.as_ref().map(Payload::as_str).unwrap_or_default();
        if source.len() <= SHORT {
            if self.0.len() >= MAX_SHORT {
                self.0.pop_front();
            }
            self.0.push_back(source.to_owned());
        }
    }

    /// Returns whether one of them names the function, in quotes.
    pub(crate) fn expose(&self, function: &str) -> bool {
        let quoted = [format!("'{function}'"), format!("\\\"{function}\\\"")];
        let names = |script: &String| quoted.iter().any(|name| script.contains(name));
        self.0.iter().any(names)
    }
}

impl Relay {
    pub(crate) fn add_script(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(session) = self.target_session_mut(session_ref) else { return };
        session.short_scripts.add(&command);
        let extension_session = session.extension_session.clone();
        self.forward(session_ref, command, &extension_session, Purpose::AddScript, turn);
    }

    pub(crate) fn remove_script(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        let named = command.read_params::<Script>().map(|script| {
            session.deferred_scripts.remove(&script.identifier).unwrap_or(script.identifier)
        });
        let own = named.ok().filter(|identifier| session.scripts.remove(identifier));
        if let Some(identifier) = own {
            let connection = self.connection_of(session_ref);
            if connection.is_some_and(|it| {
                self.forget_deferred_script(it.target(&extension_session), &identifier)
            }) {
                let asker = Asker::new(session_ref, &command);
                return turn.ok(&asker);
            }
            let params = Some(Payload::of(&Script { identifier }));
            self.forward(
                session_ref,
                Command { params, ..command },
                &extension_session,
                Purpose::Forward,
                turn,
            );
        } else {
            let error = Error::server("Script not found");
            turn.fail(&Asker::new(session_ref, &command), error);
        }
    }

    /// Records the id that Chrome gave a script.
    pub(crate) fn script_added(
        &mut self,
        target_ref: TargetRef<'_>,
        asker: Option<&Asker>,
        result: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(script) = result.read::<Script>() else { return };
        match asker.and_then(|asker| self.target_session_mut(&asker.session)) {
            Some(session) => {
                session.scripts.insert(script.identifier);
            }
            // Its owner left before Chrome could name it.
            None => self.send_script_removal(target_ref, script.identifier, turn),
        }
    }

    /// Records the id of a script that waited until its tab took commands.
    pub(crate) fn deferred_script_added(
        &mut self,
        target_ref: TargetRef<'_>,
        owner: &SessionRef,
        given: String,
        result: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(Script { identifier }) = result.read() else { return };
        match self.target_session_mut(owner).filter(|session| session.scripts.contains(&given)) {
            Some(session) => {
                session.scripts.remove(&given);
                session.scripts.insert(identifier.clone());
                session.deferred_scripts.insert(given, identifier);
            }
            None => self.send_script_removal(target_ref, identifier, turn),
        }
    }

    pub(crate) fn add_binding(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let Binding { name } = match command.read_params() {
            Ok(binding) => binding,
            Err(error) => return turn.fail(&Asker::new(session_ref, &command), error),
        };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        session.bindings.insert(name);
        let extension_session = session.extension_session.clone();
        self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
    }

    pub(crate) fn remove_binding(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, &command);
        let Binding { name } = match command.read_params() {
            Ok(binding) => binding,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        session.bindings.remove(&name);
        if self.other_sessions(session_ref).any(|other| other.bindings.contains(&name)) {
            turn.ok(&asker);
        } else {
            self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        }
    }

    /// A session has ended: what it put into the page's documents goes.
    pub(crate) fn release_scripts(
        &mut self,
        target_ref: TargetRef<'_>,
        scripts: &BTreeSet<String>,
        bindings: &BTreeSet<String>,
        turn: &mut Turn,
    ) {
        for identifier in scripts {
            self.send_script_removal(target_ref, identifier.clone(), turn);
        }
        for name in bindings {
            if !self.sessions_on(target_ref).any(|session| session.bindings.contains(name)) {
                let binding = Payload::of(&Binding { name: name.clone() });
                self.send_to_target(target_ref, "Runtime.removeBinding", Some(binding), turn);
            }
        }
    }

    fn send_script_removal(
        &mut self,
        target_ref: TargetRef<'_>,
        identifier: String,
        turn: &mut Turn,
    ) {
        let script = Some(Payload::of(&Script { identifier }));
        let method = "Page.removeScriptToEvaluateOnNewDocument";
        self.send_to_target(target_ref, method, script, turn);
    }
}

/// Reads which script a command is about.
pub(crate) fn identifier(params: Option<&Payload>) -> Option<String> {
    params?.read::<Script>().ok().map(|script| script.identifier)
}
