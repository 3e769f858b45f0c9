//! The cookies when no tab is there that could tell of them: the extension is asked for them. What a
//! client may see and clear is what it has set itself, or the whole profile.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use shared_protocol::{
    CookieAnswers, CookieCalls, CookieFunction, Extra, Feature, MAX_COOKIE_CALLS, Payload as _,
    Understood,
};

use super::jobs::{Aim, Job, Question};
use super::shapes::{self, NewCookie};
use super::{NewCookies, params};
use crate::cdp::{Command, Error};
use crate::payload::{Payload, RelayMessage};
use crate::requests::{Asker, Purpose, QUICK, Request};
use crate::restricted::OnRefusal;
use crate::sessions::Seat;
use crate::turn::Turn;
use crate::{ConnectionId, Relay};

/// Shows that the extension can be asked for cookies.
type Proof = Understood<{ Feature::Cookies as u8 }>;

/// What the extension was asked for.
#[derive(Debug)]
pub(crate) struct InJar {
    question: Question,
    /// The cookies that it was to set or to clear.
    names: Vec<String>,
}

/// One call of `chrome.cookies`.
struct Call {
    /// The cookie that it sets or clears.
    name: Option<String>,
    details: Payload,
}

impl Relay {
    pub(super) fn is_without_tab(&self, seat: &Seat) -> bool {
        let extension = self.extension_of(seat);
        extension.is_some_and(|it| it.targets.tabs().all(|tab| tab.restriction.is_some()))
    }

    /// `Storage.setCookies`, `Storage.getCookies` or `Storage.clearCookies`, without a tab.
    pub(super) fn jar_command(&mut self, seat: &Seat, command: &Command, turn: &mut Turn) {
        let asker = Asker::new(seat, command);
        let wanted = match command.method.as_str() {
            "Storage.setCookies" => {
                self.note_own_cookies(seat, command);
                settings(command).map(|calls| (Aim::Set, calls))
            }
            "Storage.clearCookies" => Ok((Aim::Clear, self.jar_queries(seat))),
            _ => Ok((Aim::Tell, self.jar_queries(seat))),
        };
        let (aim, calls) = match wanted {
            Ok(wanted) => wanted,
            Err(error) => return turn.effects.push(asker.reply(Err(error))),
        };
        let Some(connection) = self.connection_of(seat) else { return };
        let nothing = match aim {
            Aim::Tell => json!({ "cookies": [] }),
            Aim::Set | Aim::Clear | Aim::Delete(_) => json!({}),
        };
        if calls.is_empty() {
            return turn.effects.push(asker.reply(Ok(Payload::of(&nothing))));
        }
        let Some(proof) = self.proof(connection, turn) else {
            // Of what the user has, nothing would be told or cleared; that must not look like success.
            let is_misleading = matches!(aim, Aim::Set) || self.policy.whole_profile;
            let outcome =
                if is_misleading { Err(self.no_tab(seat)) } else { Ok(Payload::of(&nothing)) };
            return turn.effects.push(asker.reply(outcome));
        };
        let (function, question): (_, fn(_) -> _) = match aim {
            Aim::Set => (CookieFunction::Set, Question::Set),
            Aim::Tell | Aim::Clear | Aim::Delete(_) if self.policy.whole_profile => {
                (CookieFunction::GetAll, Question::Visible)
            }
            Aim::Tell | Aim::Clear | Aim::Delete(_) => (CookieFunction::GetAll, Question::Own),
        };
        let job = Job::new(asker, aim, messages(&calls));
        let question = question(self.cookie_jobs.open(job));
        self.ask_jar((connection, proof), question, function, calls, turn);
    }

    /// Clears what was found, and answers after the last.
    pub(super) fn clear_in_jar(
        &mut self,
        mut job: Job,
        connection: ConnectionId,
        found: impl Iterator<Item = Box<RawValue>>,
        turn: &mut Turn,
    ) {
        let Some(proof) = self.proof(connection, turn) else {
            let why = self.no_tab(&job.asker.seat);
            return turn.effects.push(job.asker.reply(Err(why)));
        };
        let removal = |raw: Box<RawValue>| {
            let cookie = serde_json::from_str::<NewCookie>(raw.get());
            let cookie = cookie.map_err(|error| Error::server(error.to_string()))?;
            Ok(Call { details: cookie.removal()?, name: Some(cookie.name) })
        };
        let calls: Vec<Call> = match found.map(removal).collect() {
            Ok(calls) => calls,
            Err(error) => return turn.effects.push(job.asker.reply(Err(error))),
        };
        job.missing = messages(&calls);
        let question = Question::Cleared(self.cookie_jobs.open(job));
        self.ask_jar((connection, proof), question, CookieFunction::Set, calls, turn);
    }

    /// The extension has answered.
    pub(crate) fn jar_answered(
        &mut self,
        asked: InJar,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let outcome = outcome.and_then(|answers| asked.read(&answers));
        self.cookies_came(asked.question, outcome, turn);
    }

    /// What finds all that a client may see.
    fn jar_queries(&self, seat: &Seat) -> Vec<Call> {
        let query = |url: Option<&str>| Call { name: None, details: shapes::query(url) };
        if self.policy.whole_profile {
            return vec![query(None)];
        }
        let addresses = self.cookie_jobs.addresses_of(seat.client);
        addresses.iter().map(|url| query(Some(url))).collect()
    }

    fn ask_jar(
        &mut self,
        (connection, proof): (ConnectionId, Proof),
        question: Question,
        function: CookieFunction,
        calls: Vec<Call>,
        turn: &mut Turn,
    ) {
        for calls in calls.chunks(MAX_COOKIE_CALLS) {
            let names = calls.iter().filter_map(|call| call.name.clone()).collect();
            let details = calls.iter().map(|call| call.details.clone()).collect();
            let request = Request {
                connection,
                session: None,
                asker: None,
                purpose: Purpose::CookieJar(InJar { question, names }),
                deadline: Some(turn.now + QUICK),
                needs: None,
                on_refusal: OnRefusal::Fails,
            };
            let calls = CookieCalls { function, details, extra: Extra::default() };
            let message = |id| RelayMessage::CallCookies { id, calls, proof };
            self.ask_extension(request, message, turn);
        }
    }
}

impl InJar {
    /// What the extension answers, as a tab would say it.
    fn read(&self, answers: &Payload) -> Result<Payload, Error> {
        let unreadable = |error: shared_protocol::Unreadable| Error::server(error.to_string());
        let answers: CookieAnswers<Payload> = answers.read().map_err(unreadable)?;
        if let Some(why) = answers.error {
            let deed = if matches!(self.question, Question::Set(_)) { "set" } else { "cleared" };
            return Err(Error::server(match self.names.get(answers.cookies.len()) {
                Some(name) => format!("the cookie {name:?} could not be {deed}: {why}"),
                None => format!("the browser does not tell its cookies: {why}"),
            }));
        }
        if !self.names.is_empty() {
            return Ok(Payload::empty_object());
        }
        let found: Result<Vec<Vec<Value>>, _> =
            answers.cookies.iter().map(shared_protocol::Payload::read).collect();
        let found = found.map_err(unreadable)?;
        let cookies: Vec<Value> = found.iter().flatten().filter_map(shapes::told).collect();
        Ok(Payload::of(&json!({ "cookies": cookies })))
    }
}

fn settings(command: &Command) -> Result<Vec<Call>, Error> {
    let new: NewCookies = params(command)?;
    let call = |cookie: NewCookie| Ok(Call { details: cookie.setting()?, name: Some(cookie.name) });
    new.cookies.into_iter().map(call).collect()
}

/// How many messages it takes to make these calls.
fn messages(calls: &[Call]) -> usize {
    calls.len().div_ceil(MAX_COOKIE_CALLS)
}
