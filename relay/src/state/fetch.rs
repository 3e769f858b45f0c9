//! Interception of requests by several sessions over one target. Chrome holds a request once; the
//! relay offers it to each session that asked for its kind, the newest first, until one decides.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shared_protocol::{Payload as _, SessionId};

use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::turn::Turn;
use super::{ConnectionId, Relay};
use crate::cdp::{Command, Error};
use crate::payload::Payload;

/// How many held requests of one target are followed; beyond that, the oldest are left to whoever
/// has them. Chrome does not tell when a page gives a held request up.
const MAX_PAUSED: usize = 4096;

/// What a session wants to intercept.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// `None` for all requests.
    patterns: Option<Vec<Pattern>>,
    auth: bool,
    /// The command's parameters, untouched.
    params: Option<Payload>,
    /// When, counted in commands.
    since: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pattern {
    url_pattern: Option<String>,
    resource_type: Option<String>,
    request_stage: Option<String>,
}

/// The requests that Chrome holds for us, oldest first.
#[derive(Debug, Default)]
pub(crate) struct PausedRequests(VecDeque<Paused>);

#[derive(Debug)]
struct Paused {
    id: String,
    method: String,
    event: Payload,
    at_response: bool,
    holder: Seat,
    /// Who is asked next, the last first.
    next: Vec<Seat>,
    /// What sessions that let it go on wanted changed.
    changes: Map<String, Value>,
    /// Who wants to see the response.
    wants_response: Vec<Seat>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PausedEvent {
    request_id: String,
    request: PausedRequest,
    resource_type: Option<String>,
    response_status_code: Option<Value>,
    response_error_reason: Option<Value>,
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneRequest {
    request_id: String,
}

impl Relay {
    /// `Fetch.enable` and `Fetch.disable`
    pub(super) fn change_fetch(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Enable {
            patterns: Option<Vec<Pattern>>,
            #[serde(default)]
            handle_auth_requests: bool,
        }

        let since = self.commands;
        let wanted = if command.method == "Fetch.enable" {
            match params::<Enable>(&command) {
                Ok(enable) => Some(Wanted {
                    patterns: enable.patterns.filter(|patterns| !patterns.is_empty()),
                    auth: enable.handle_auth_requests,
                    params: command.params.clone(),
                    since,
                }),
                Err(error) => {
                    let asker = Asker::new(seat, &command);
                    return turn.effects.push(asker.reply(Err(error)));
                }
            }
        } else {
            None
        };
        let is_off = wanted.is_none();
        let Some(connection) = self.connection_of(seat) else { return };
        let Some(on) = self.virtual_mut(seat) else { return };
        on.fetch = wanted;
        let real = on.real.clone();
        if is_off {
            self.pass_on_all_of(connection, &real, seat, turn);
        }
        let (method, params) = self.fetch_for_all(connection, &real);
        let command = Command { method: method.to_owned(), params, ..command };
        self.forward(seat, command, &real, Purpose::Forward, turn);
    }

    /// What Chrome must intercept so that every session gets what it wants.
    fn fetch_for_all(
        &self,
        connection: ConnectionId,
        real: &SessionId,
    ) -> (&'static str, Option<Payload>) {
        let wanted: Vec<&Wanted> =
            self.over(connection, real).filter_map(|on| on.fetch.as_ref()).collect();
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

    /// Chrome holds a request: offers it to the first who wants its kind.
    pub(super) fn request_paused(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        method: String,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(paused) = event.read::<PausedEvent>() else { return };
        let at_response =
            paused.response_status_code.is_some() || paused.response_error_reason.is_some();
        let is_auth = method == "Fetch.authRequired";
        let Some(target) = self.target_mut(connection, real) else { return };
        let before = target.shared.paused.take(&paused.request_id);
        let asked = before.map(|before| before.wants_response).unwrap_or_default();
        let seats = target.seats.clone();
        let mut next: Vec<(u64, Seat)> = seats
            .into_iter()
            .filter_map(|seat| {
                let wanted = self.virtual_of(&seat)?.fetch.as_ref()?;
                let wants = if is_auth {
                    wanted.auth
                } else {
                    wanted.matches(&paused, at_response) || (at_response && asked.contains(&seat))
                };
                wants.then_some((wanted.since, seat))
            })
            .collect();
        next.sort_by_key(|(since, _)| *since);
        let mut next: Vec<Seat> = next.into_iter().map(|(_, seat)| seat).collect();
        let Some(holder) = next.pop() else {
            let on = [("requestId".to_owned(), Value::from(paused.request_id))].into_iter();
            let (method, params) = decision(is_auth, at_response, on.collect());
            return self.tell_target(connection, real, method, Some(params), turn);
        };
        turn.raw_event(&holder, method.clone(), Some(event.clone()));
        let Some(target) = self.target_mut(connection, real) else { return };
        target.shared.paused.add(Paused {
            id: paused.request_id,
            method,
            event: event.clone(),
            at_response,
            holder,
            next,
            changes: Map::new(),
            wants_response: asked,
        });
    }

    /// A decision about a held request, or a question about its response.
    pub(super) fn fetch_command(&mut self, seat: &Seat, command: Command, turn: &mut Turn) {
        let asker = Asker::new(seat, &command);
        let OneRequest { request_id } = match params(&command) {
            Ok(named) => named,
            Err(error) => return turn.effects.push(asker.reply(Err(error))),
        };
        let Some(target) = self.target_under_mut(seat) else { return };
        let real = target.session.clone();
        let Some(paused) = target.shared.paused.find(&request_id) else {
            return self.forward(seat, command, &real, Purpose::Forward, turn);
        };
        if &paused.holder != seat {
            let error = Error::new(-32602, "Invalid InterceptionId.");
            return turn.effects.push(asker.reply(Err(error)));
        }
        match command.method.as_str() {
            "Fetch.continueRequest" | "Fetch.continueResponse" => {
                let changes = params::<Map<String, Value>>(&command).unwrap_or_default();
                if changes.get("interceptResponse") == Some(&Value::Bool(true)) {
                    paused.wants_response.push(seat.clone());
                }
                let is_last = paused.next.is_empty();
                if is_last && paused.changes.is_empty() {
                    paused.rest();
                    return self.forward(seat, command, &real, Purpose::Forward, turn);
                }
                paused.merge(changes);
                if is_last {
                    let params = Payload::of(&paused.changes);
                    paused.rest();
                    let command = Command { params: Some(params), ..command };
                    return self.forward(seat, command, &real, Purpose::Forward, turn);
                }
                turn.effects.push(asker.reply(Ok(Payload::empty_object())));
                paused.offer_to_next(turn);
            }
            "Fetch.continueWithAuth" if !paused.next.is_empty() && leaves_open(&command) => {
                turn.effects.push(asker.reply(Ok(Payload::empty_object())));
                paused.offer_to_next(turn);
            }
            "Fetch.fulfillRequest" | "Fetch.failRequest" | "Fetch.continueWithAuth" => {
                target.shared.paused.take(&request_id);
                self.forward(seat, command, &real, Purpose::Forward, turn);
            }
            _ => self.forward(seat, command, &real, Purpose::Forward, turn),
        }
    }

    /// A session that intercepted requests has ended.
    pub(super) fn leave_fetch(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        seat: &Seat,
        turn: &mut Turn,
    ) {
        self.pass_on_all_of(connection, real, seat, turn);
        let (method, params) = self.fetch_for_all(connection, real);
        self.tell_target(connection, real, method, params, turn);
    }

    /// What a session held goes on as if it had said so.
    fn pass_on_all_of(
        &mut self,
        connection: ConnectionId,
        real: &SessionId,
        seat: &Seat,
        turn: &mut Turn,
    ) {
        let Some(target) = self.target_mut(connection, real) else { return };
        let mut let_go = Vec::new();
        for paused in &mut target.shared.paused.0 {
            paused.next.retain(|other| other != seat);
            if &paused.holder != seat || paused.is_resting() {
                continue;
            }
            if paused.next.is_empty() {
                let mut changes = std::mem::take(&mut paused.changes);
                changes.insert("requestId".to_owned(), paused.id.clone().into());
                let is_auth = paused.method == "Fetch.authRequired";
                let_go.push(decision(is_auth, paused.at_response, changes));
                paused.rest();
            } else {
                paused.offer_to_next(turn);
            }
        }
        for (method, params) in let_go {
            self.tell_target(connection, real, method, Some(params), turn);
        }
    }
}

impl Wanted {
    fn matches(&self, paused: &PausedEvent, at_response: bool) -> bool {
        let Some(patterns) = &self.patterns else { return !at_response };
        patterns.iter().any(|pattern| {
            let stage = pattern.request_stage.as_deref().unwrap_or("Request");
            (stage == "Response") == at_response
                && pattern.resource_type.as_ref().is_none_or(|wanted| {
                    paused.resource_type.as_ref().is_none_or(|found| found == wanted)
                })
                && fits(pattern.url_pattern.as_deref().unwrap_or("*"), &paused.request.url)
        })
    }
}

impl Pattern {
    fn json(&self) -> Value {
        let fields = [
            ("urlPattern", &self.url_pattern),
            ("resourceType", &self.resource_type),
            ("requestStage", &self.request_stage),
        ];
        let given = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value.clone()?))));
        Value::Object(given.collect())
    }
}

impl PausedRequests {
    fn add(&mut self, paused: Paused) {
        if self.0.len() >= MAX_PAUSED {
            self.0.pop_front();
        }
        self.0.push_back(paused);
    }

    fn find(&mut self, id: &str) -> Option<&mut Paused> {
        self.0.iter_mut().find(|paused| paused.id == id)
    }

    fn take(&mut self, id: &str) -> Option<Paused> {
        let index = self.0.iter().position(|paused| paused.id == id)?;
        self.0.remove(index)
    }
}

impl Paused {
    fn offer_to_next(&mut self, turn: &mut Turn) {
        if let Some(next) = self.next.pop() {
            turn.raw_event(&next, self.method.clone(), Some(self.event.clone()));
            self.holder = next;
        }
    }

    /// Adds what another session wants changed. Each gives all headers; what it added, changed or
    /// left out is told by those that the request came with.
    fn merge(&mut self, mut changes: Map<String, Value>) {
        let both = |map: &Map<String, Value>| map.get("headers").cloned();
        let (Some(earlier), Some(later)) = (both(&self.changes), both(&changes)) else {
            return self.changes.extend(changes);
        };
        changes.remove("headers");
        let original: BTreeMap<String, String> = self
            .event
            .read::<RequestHeaders>()
            .map(|event| event.request.headers)
            .unwrap_or_default()
            .into_iter()
            .map(|(name, value)| (name.to_lowercase(), value))
            .collect();
        let mut merged = header_list(earlier);
        let later = header_list(later);
        merged.retain(|(name, _)| {
            let name = name.to_lowercase();
            !original.contains_key(&name) || later.iter().any(|it| it.0.to_lowercase() == name)
        });
        for (name, value) in later {
            if original.get(&name.to_lowercase()) != Some(&value) {
                merged.retain(|it| !it.0.eq_ignore_ascii_case(&name));
                merged.push((name, value));
            }
        }
        let headers: Vec<Value> =
            merged.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.changes.extend(changes);
        self.changes.insert("headers".to_owned(), headers.into());
    }

    /// Chrome has it again; it may come back with its response.
    fn rest(&mut self) {
        self.event = Payload::empty_object();
        self.changes = Map::new();
    }

    fn is_resting(&self) -> bool {
        self.event == Payload::empty_object()
    }
}

#[derive(Deserialize)]
struct RequestHeaders {
    request: HeadersOfRequest,
}

#[derive(Deserialize)]
struct HeadersOfRequest {
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

fn header_list(headers: Value) -> Vec<(String, String)> {
    #[derive(Deserialize)]
    struct Header {
        name: String,
        value: String,
    }

    let headers: Vec<Header> = serde_json::from_value(headers).unwrap_or_default();
    headers.into_iter().map(|Header { name, value }| (name, value)).collect()
}

/// The command that lets a held request go on.
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

fn leaves_open(command: &Command) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ContinueWithAuth {
        auth_challenge_response: BTreeMap<String, Value>,
    }

    let answer = params::<ContinueWithAuth>(command);
    answer.is_ok_and(|it| it.auth_challenge_response.get("response") == Some(&"Default".into()))
}

/// Chrome's patterns: `*` stands for any text, `?` for one character, `\` for what follows it.
fn fits(pattern: &str, text: &str) -> bool {
    enum Token {
        Any,
        One,
        Char(char),
    }

    let mut chars = pattern.chars();
    let mut tokens = Vec::new();
    while let Some(char) = chars.next() {
        tokens.push(match char {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Char(chars.next().unwrap_or('\\')),
            char => Token::Char(char),
        });
    }
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut token) = (0, 0);
    // Where the last `*` stands, and how much of the text it has taken.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match tokens.get(token) {
            Some(Token::Any) => {
                retry = Some((token, at));
                token += 1;
                continue;
            }
            Some(Token::One) => {}
            Some(Token::Char(wanted)) if wanted == &text[at] => {}
            Some(Token::Char(_)) | None => {
                let Some((star, taken)) = retry else { return false };
                retry = Some((star, taken + 1));
                (at, token) = (taken + 1, star + 1);
                continue;
            }
        }
        (at, token) = (at + 1, token + 1);
    }
    tokens[token..].iter().all(|token| matches!(token, Token::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_in_chrome() {
        for (pattern, text, expected) in [
            ("*", "https://a.example/", true),
            ("*.png", "https://a.example/x.png", true),
            ("*.png", "https://a.example/x.png?y", false),
            ("https://?.example/*", "https://a.example/x", true),
            ("https://?.example/*", "https://ab.example/x", false),
            ("*\\?x", "https://a.example/?x", true),
            ("*\\?x", "https://a.example/yx", false),
            ("", "a", false),
            ("*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaac", false),
            ("a*", "a", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
