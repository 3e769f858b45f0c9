//! The permissions that pages have while a client is connected. The user's own settings come back
//! when the client leaves.
//!
//! A client that names no site means the pages that it drives: its grants count at the sites of the
//! controlled tabs, and follow these tabs when they navigate. No other site of the user is affected.

mod rules;

use std::collections::BTreeSet;

use serde::Deserialize;
use shared_protocol::{Extra, Feature, Permissions, Understood};

use crate::Relay;
use crate::asker::Asker;
use crate::browser::permissions::rules::{
    concerns_the_same, missing_consent, replace, rules, web_origin,
};
use crate::cdp::payload::{Payload, PermissionRule as Rule, RelayMessage};
use crate::cdp::{Command, Error};
use crate::ids::{ClientId, ConnectionId, SessionRef};
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::Purpose;
use crate::requests::rollback::Rollback;
use crate::turn::Turn;

/// Shows that the extension can be told what sites may do.
type Proof = Understood<{ Feature::Permissions as u8 }>;

/// The largest number of rules that one client may make.
const MAX_RULES: usize = 1000;

impl Relay {
    pub(crate) fn reset_permissions(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        let Some(client) = self.clients.get_mut(session_ref.client) else { return };
        let had_any = !std::mem::take(&mut client.permissions).is_empty();
        let connection = client.connection;
        if had_any {
            self.apply_permissions(connection, Some(asker), Purpose::Forward, turn);
        } else {
            turn.ok(&asker);
        }
    }

    pub(crate) fn grant_permissions(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        let proof: Result<Proof, Error> = self.require(session_ref, turn);
        let rules = proof.and_then(|_| rules(command));
        let rules = rules.and_then(|rules| match self.refusal_of_rules(session_ref, &rules) {
            Some(error) => Err(error),
            None => Ok(rules),
        });
        let Some(client) = self.clients.get_mut(session_ref.client) else { return };
        match rules {
            Ok(rules) if client.permissions.len() + rules.len() > MAX_RULES => {
                let error = Error::server(format!("no more than {MAX_RULES} permissions"));
                turn.fail(&asker, error);
            }
            Ok(rules) => {
                let replaced = replace(&mut client.permissions, &rules);
                let before = Rollback::Permissions { added: rules, replaced };
                let connection = client.connection;
                self.apply_permissions(
                    connection,
                    Some(asker),
                    Purpose::ChangeSetting(before),
                    turn,
                );
            }
            Err(error) => turn.fail(&asker, error),
        }
    }

    /// Handles rules that the browser refused: the rules that they replaced count again.
    pub(crate) fn permissions_refused(
        &mut self,
        client: ClientId,
        added: &[Rule],
        replaced: Vec<Rule>,
        turn: &mut Turn,
    ) {
        let Some(state) = self.clients.get_mut(client) else { return };
        let permissions = &mut state.permissions;
        permissions.retain(|rule| !added.contains(rule));
        let is_site_open =
            |old: &Rule| !permissions.iter().any(|rule| concerns_the_same(rule, old));
        let again: Vec<Rule> = replaced.into_iter().filter(is_site_open).collect();
        permissions.extend(again);
        let connection = state.connection;
        // Chrome may have accepted some of the rules.
        self.apply_permissions(connection, None, Purpose::Forward, turn);
    }

    /// Tells the extension the combined rules of all its clients.
    pub(crate) fn apply_permissions(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        purpose: Purpose,
        turn: &mut Turn,
    ) {
        let Some(proof) = self.proof(connection, turn) else {
            // An older extension may have replaced the one that understood.
            turn.effects.extend(asker.map(|asker| asker.reply(Ok(Payload::empty_object()))));
            return;
        };
        let rules = self.rules_in_force(connection);
        if let Some(extension) = self.extensions.get_mut(connection) {
            extension.permissions.clone_from(&rules);
        }
        let permissions = Permissions { rules, extra: Extra::default() };
        let deadline = Some(turn.now + QUICK);
        let request = Request::to_extension(connection, purpose).asked_by(asker).until(deadline);
        let message = |id| RelayMessage::SetPermissions { id, permissions, proof };
        self.ask_extension(request, message, turn);
    }

    /// Returns the error for rules that a confined client may not make.
    fn refusal_of_rules(&self, session_ref: &SessionRef, rules: &[Rule]) -> Option<Error> {
        if !self.is_confined(session_ref.client) {
            return None;
        }
        let open = self.open_origins(self.connection_of(session_ref)?, true);
        rules.iter().find_map(|rule| {
            let Some(origin) = &rule.origin else {
                return Some(Error::server(
                    "this client has to name the site, and one that is open in a controlled tab: \
                     context.grantPermissions(permissions, { origin })",
                ));
            };
            if !open.contains(origin) {
                let text = format!("{origin} is not open in a controlled tab: open it first");
                return Some(Error::server(text));
            }
            let missing = missing_consent(rule, self.policy.agents_may)?;
            Some(Error::server(format!(
                "agents may not let pages use this: start the relay with \
                 `playwriter serve --agents-may={missing}` to allow it"
            )))
        })
    }

    /// Returns the rules of all clients, for the sites where they count in this moment.
    fn rules_in_force(&self, connection: ConnectionId) -> Vec<Rule> {
        let (all, web) =
            (self.open_origins(connection, false), self.open_origins(connection, true));
        let mut rules = Vec::new();
        for client in self.clients.all_of(connection) {
            let is_confined = client.confinement.is_some();
            for rule in &client.permissions {
                match &rule.origin {
                    Some(origin) if is_confined && !web.contains(origin) => {}
                    Some(_) => rules.push(rule.clone()),
                    None => rules.extend(
                        all.iter().map(|it| Rule { origin: Some(it.clone()), ..rule.clone() }),
                    ),
                }
            }
        }
        rules
    }

    /// Returns the sites of the controlled tabs, and those that clients take them to.
    fn open_origins(&self, connection: ConnectionId, for_confined: bool) -> BTreeSet<String> {
        let Some(extension) = self.extensions.get(connection) else { return BTreeSet::new() };
        let tabs = extension.targets.tabs();
        tabs.filter(|tab| !for_confined || extension.targets.is_web(tab))
            .flat_map(|tab| web_origin(&tab.info.url).into_iter().chain(tab.destination.clone()))
            .collect()
    }

    /// Records that a client navigates a tab to another site, so that its rules are in force before
    /// the page can ask.
    pub(crate) fn record_destination(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) {
        #[derive(Deserialize)]
        struct Navigate {
            url: String,
        }

        let Some(connection) = self.connection_of(session_ref) else { return };
        if !self.clients.all_of(connection).any(|client| !client.permissions.is_empty()) {
            return;
        }
        let destination = command.read_params::<Navigate>().ok().and_then(|to| web_origin(&to.url));
        let Some(target) =
            self.target_under_mut(session_ref).filter(|target| target.parent.is_none())
        else {
            return;
        };
        target.destination = destination;
        self.tabs_changed = true;
        self.follow_permissions(turn);
    }

    /// Applies the permissions to the sites that the controlled tabs have navigated to.
    pub(crate) fn follow_permissions(&mut self, turn: &mut Turn) {
        if !std::mem::take(&mut self.tabs_changed) {
            return;
        }
        let moved: Vec<ConnectionId> = self
            .extensions
            .iter()
            .filter(|(connection, extension)| {
                extension.presence.is_connected()
                    && self.clients.all_of(*connection).any(|client| !client.permissions.is_empty())
                    && extension.permissions != self.rules_in_force(*connection)
            })
            .map(|(connection, _)| connection)
            .collect();
        for connection in moved {
            self.apply_permissions(connection, None, Purpose::Forward, turn);
        }
    }
}
