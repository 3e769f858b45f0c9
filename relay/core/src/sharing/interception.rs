//! Interception of requests (`Fetch`) by several sessions over one target. Chrome pauses a request
//! once; the relay offers it to each session whose patterns match, the newest first, until one
//! decides.

pub(crate) mod paused;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shared_protocol::Payload as _;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::method::InterceptionCommand;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::confinement::is_web;
use crate::ids::{CommandNumber, SessionRef, TargetRef};
use crate::requests::purpose::Purpose;
use crate::requests::rollback::Rollback;
use crate::settings::interception::{InterceptionPatterns, Pattern, PausedEvent};
use crate::turn::Turn;
use paused::Paused;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneRequest {
    request_id: String,
}

impl Relay {
    pub(crate) fn enable_interception(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        self.set_interception(session_ref, true, command, turn);
    }

    pub(crate) fn disable_interception(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        self.set_interception(session_ref, false, command, turn);
    }

    fn set_interception(
        &mut self,
        session_ref: &SessionRef,
        is_enabled: bool,
        command: Command,
        turn: &mut Turn,
    ) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Enable {
            patterns: Option<Vec<Pattern>>,
            #[serde(default)]
            handle_auth_requests: bool,
        }

        let since = self.last_command;
        let wanted = if is_enabled {
            match command.read_params::<Enable>() {
                Ok(enable) => Some(InterceptionPatterns {
                    patterns: enable.patterns.filter(|patterns| !patterns.is_empty()),
                    auth: enable.handle_auth_requests,
                    params: command.params.clone(),
                    since,
                }),
                Err(error) => {
                    let asker = Asker::new(session_ref, &command);
                    return turn.fail(&asker, error);
                }
            }
        } else {
            None
        };
        let is_off = wanted.is_none();
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        let before =
            Rollback::Fetch { since, wanted: std::mem::replace(&mut session.fetch, wanted) };
        let extension_session = session.extension_session.clone();
        if is_off {
            self.pass_on_requests_of(connection.target(&extension_session), session_ref, turn);
        }
        let (method, params) = self.interception_for_all(connection.target(&extension_session));
        let command = Command { method: method.to_owned(), params, ..command };
        let purpose = if is_off { Purpose::Forward } else { Purpose::ChangeSetting(before) };
        self.forward(session_ref, command, &extension_session, purpose, turn);
    }

    /// Handles interception patterns that Chrome refused, or did not accept in time.
    pub(crate) fn interception_refused(
        &mut self,
        session_ref: &SessionRef,
        since: CommandNumber,
        before: Option<InterceptionPatterns>,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(session) = self.target_session_mut(session_ref) else { return };
        if session.fetch.as_ref().is_some_and(|wanted| wanted.since == since) {
            let is_off = before.is_none();
            session.fetch = before;
            let extension_session = session.extension_session.clone();
            if is_off {
                self.pass_on_requests_of(connection.target(&extension_session), session_ref, turn);
            }
            let (method, params) = self.interception_for_all(connection.target(&extension_session));
            self.send_to_target(connection.target(&extension_session), method, params, turn);
        }
    }

    /// Returns what Chrome must intercept so that every session gets what it wants.
    fn interception_for_all(&self, target_ref: TargetRef<'_>) -> (&'static str, Option<Payload>) {
        let wanted: Vec<&InterceptionPatterns> =
            self.sessions_on(target_ref).filter_map(|session| session.fetch.as_ref()).collect();
        match wanted.as_slice() {
            [] => ("Fetch.disable", None),
            [only] => ("Fetch.enable", only.params.clone()),
            several => {
                let mut patterns = Vec::new();
                for wanted in several {
                    let all = [json!({ "urlPattern": "*" })];
                    let own = wanted.patterns.as_ref().map(|own| own.iter().map(Pattern::json));
                    match own {
                        Some(own) => patterns.extend(own),
                        None => patterns.extend(all),
                    }
                }
                let auth = several.iter().any(|wanted| wanted.auth);
                let params = json!({ "patterns": patterns, "handleAuthRequests": auth });
                ("Fetch.enable", Some(Payload::of(&params)))
            }
        }
    }

    /// Offers a request that Chrome holds to the first session that wants its kind.
    pub(crate) fn request_paused_event(
        &mut self,
        target_ref: TargetRef<'_>,
        method: String,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(paused) = event.read::<PausedEvent>() else { return };
        let at_response =
            paused.response_status_code.is_some() || paused.response_error_reason.is_some();
        let is_auth = method == "Fetch.authRequired";
        let Some(target) = self.target_mut(target_ref) else { return };
        let before = target.state.paused.take(&paused.request_id);
        let asked = before.map(|before| before.wants_response).unwrap_or_default();
        let sessions = target.sessions.clone();
        let is_web = is_web(&paused.request.url);
        let mut next: Vec<(CommandNumber, SessionRef)> = sessions
            .into_iter()
            .filter(|session_ref| is_web || !self.is_confined(session_ref.client))
            .filter_map(|session_ref| {
                let wanted = self.target_session(&session_ref)?.fetch.as_ref()?;
                let wants = if is_auth {
                    wanted.auth
                } else {
                    wanted.matches(&paused, at_response)
                        || (at_response && asked.contains(&session_ref))
                };
                wants.then_some((wanted.since, session_ref))
            })
            .collect();
        next.sort_by_key(|(since, _)| *since);
        let mut next: Vec<SessionRef> =
            next.into_iter().map(|(_, session_ref)| session_ref).collect();
        let Some(holder) = next.pop() else {
            let session = [("requestId".to_owned(), Value::from(paused.request_id))].into_iter();
            let (method, params) = decision(is_auth, at_response, session.collect());
            return self.send_to_target(target_ref, method, Some(params), turn);
        };
        turn.raw_event(&holder, method.clone(), Some(event.clone()));
        let Some(target) = self.target_mut(target_ref) else { return };
        target.state.paused.add(Paused {
            id: paused.request_id,
            method,
            event: event.clone(),
            at_response,
            holder,
            next,
            changes: Map::new(),
            wants_response: asked,
            awaits_response: false,
        });
    }

    /// A decision about a held request, or a question about its response.
    ///
    /// It is long because it has one arm for each decision.
    pub(crate) fn interception_command(
        &mut self,
        session_ref: &SessionRef,
        action: InterceptionCommand,
        command: Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, &command);
        let OneRequest { request_id } = match command.read_params() {
            Ok(named) => named,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(target) = self.target_under_mut(session_ref) else { return };
        let extension_session = target.session.clone();
        let Some(paused) = target.state.paused.find(&request_id) else {
            return self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
        };
        if &paused.holder != session_ref {
            let error = Error::new(-32602, "Invalid InterceptionId.");
            return turn.fail(&asker, error);
        }
        match action {
            InterceptionCommand::Continue => {
                let changes = command.read_params::<Map<String, Value>>().unwrap_or_default();
                if changes.get("interceptResponse") == Some(&Value::Bool(true)) {
                    paused.wants_response.push(session_ref.clone());
                }
                let is_last = paused.next.is_empty();
                if is_last && paused.changes.is_empty() {
                    target.state.paused.released_to_chrome(&request_id);
                    return self.forward(
                        session_ref,
                        command,
                        &extension_session,
                        Purpose::Forward,
                        turn,
                    );
                }
                paused.merge(changes);
                if is_last {
                    let params = Payload::of(&paused.changes);
                    target.state.paused.released_to_chrome(&request_id);
                    let command = Command { params: Some(params), ..command };
                    return self.forward(
                        session_ref,
                        command,
                        &extension_session,
                        Purpose::Forward,
                        turn,
                    );
                }
                turn.ok(&asker);
                paused.offer_to_next(turn);
            }
            InterceptionCommand::Authenticate
                if !paused.next.is_empty() && is_default_auth(&command) =>
            {
                turn.ok(&asker);
                paused.offer_to_next(turn);
            }
            InterceptionCommand::End | InterceptionCommand::Authenticate => {
                target.state.paused.take(&request_id);
                self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
            }
            InterceptionCommand::Keep => {
                self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
            }
        }
    }

    /// A session that intercepted requests has ended.
    pub(crate) fn release_interception(
        &mut self,
        target_ref: TargetRef<'_>,
        session_ref: &SessionRef,
        turn: &mut Turn,
    ) {
        self.pass_on_requests_of(target_ref, session_ref, turn);
        let (method, params) = self.interception_for_all(target_ref);
        self.send_to_target(target_ref, method, params, turn);
    }

    /// Continues the requests that a session held, as if the session had continued them itself.
    fn pass_on_requests_of(
        &mut self,
        target_ref: TargetRef<'_>,
        session_ref: &SessionRef,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(target_ref) else { return };
        let mut released_to_chrome = Vec::new();
        target.state.paused.forget(session_ref);
        for paused in &mut target.state.paused.0 {
            if &paused.holder != session_ref || paused.awaits_response {
                continue;
            }
            if paused.next.is_empty() {
                let mut changes = std::mem::take(&mut paused.changes);
                changes.insert("requestId".to_owned(), paused.id.clone().into());
                let is_auth = paused.method == "Fetch.authRequired";
                let (method, params) = decision(is_auth, paused.at_response, changes);
                released_to_chrome.push((paused.id.clone(), method, params));
            } else {
                paused.offer_to_next(turn);
            }
        }
        for (id, _, _) in &released_to_chrome {
            target.state.paused.released_to_chrome(id);
        }
        for (_, method, params) in released_to_chrome {
            self.send_to_target(target_ref, method, Some(params), turn);
        }
    }
}

/// Returns the command that lets a held request go on.
fn decision(
    is_auth: bool,
    at_response: bool,
    mut changes: Map<String, Value>,
) -> (&'static str, Payload) {
    if is_auth {
        changes.insert("authChallengeResponse".to_owned(), json!({ "response": "Default" }));
        return ("Fetch.continueWithAuth", Payload::of(&changes));
    }
    let method = if at_response { "Fetch.continueResponse" } else { "Fetch.continueRequest" };
    (method, Payload::of(&changes))
}

fn is_default_auth(command: &Command) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ContinueWithAuth {
        auth_challenge_response: BTreeMap<String, Value>,
    }

    let answer = command.read_params::<ContinueWithAuth>();
    answer.is_ok_and(|it| it.auth_challenge_response.get("response") == Some(&"Default".into()))
}
