//! Cookies while no tab is controlled: the extension is asked through `chrome.cookies`. A client sees
//! and clears what it has set itself, or the whole profile.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use shared_protocol::{
    CookieAnswers, CookieCalls, CookieFunction, Extra, Feature, MAX_COOKIE_CALLS, Payload as _,
    Understood,
};

use super::convert::NewCookie;
use super::queries::{CookieAction, CookieQuery};
use super::{NewCookies, convert};
use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::{Command, Error};
use crate::ids::{ConnectionId, SessionRef};
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::{CookieCall, CookieQuestion, Purpose};
use crate::turn::Turn;

/// Shows that the extension can be asked for cookies.
type Proof = Understood<{ Feature::Cookies as u8 }>;

/// One call of `chrome.cookies`.
struct Call {
    /// The name of the cookie that the call sets or clears.
    name: Option<String>,
    details: Payload,
}

impl Relay {
    pub(super) fn is_without_tab(&self, session_ref: &SessionRef) -> bool {
        let extension = self.extension_of(session_ref);
        extension.is_some_and(|it| it.targets.tabs().all(|tab| tab.restriction.is_some()))
    }

    /// `Storage.setCookies`, `Storage.getCookies` or `Storage.clearCookies`, without a tab.
    pub(super) fn cookies_without_tab(
        &mut self,
        session_ref: &SessionRef,
        aim: CookieAction,
        command: &Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        let calls = if matches!(aim, CookieAction::Set) {
            self.record_own_cookies(session_ref, command);
            settings(command)
        } else {
            Ok(self.cookie_queries(session_ref))
        };
        let calls = match calls {
            Ok(calls) => calls,
            Err(error) => return turn.fail(&asker, error),
        };
        let Some(connection) = self.connection_of(session_ref) else { return };
        let nothing = match aim {
            CookieAction::Tell => json!({ "cookies": [] }),
            CookieAction::Set | CookieAction::Clear | CookieAction::Delete(_) => json!({}),
        };
        if calls.is_empty() {
            return turn.reply(&asker, Ok(Payload::of(&nothing)));
        }
        let Some(proof) = self.proof(connection, turn) else {
            // The answer would hold none of the user's cookies, and clearing would clear none. That
            // must not look like success.
            let is_misleading = matches!(aim, CookieAction::Set) || self.policy.whole_profile;
            let outcome = if is_misleading {
                Err(self.no_tab(session_ref))
            } else {
                Ok(Payload::of(&nothing))
            };
            return turn.reply(&asker, outcome);
        };
        let (function, question): (_, fn(_) -> _) = match aim {
            CookieAction::Set => (CookieFunction::Set, CookieQuestion::Set),
            CookieAction::Tell | CookieAction::Clear | CookieAction::Delete(_)
                if self.policy.whole_profile =>
            {
                (CookieFunction::GetAll, CookieQuestion::Visible)
            }
            CookieAction::Tell | CookieAction::Clear | CookieAction::Delete(_) => {
                (CookieFunction::GetAll, CookieQuestion::Own)
            }
        };
        let job = CookieQuery::new(asker, aim, messages(&calls));
        let question = question(self.cookie_queries.open(job));
        self.call_cookies((connection, proof), question, function, calls, turn);
    }

    /// Clears the cookies that were found, and answers after the last.
    pub(super) fn clear_without_tab(
        &mut self,
        mut job: CookieQuery,
        connection: ConnectionId,
        found: impl Iterator<Item = Box<RawValue>>,
        turn: &mut Turn,
    ) {
        let Some(proof) = self.proof(connection, turn) else {
            let why = self.no_tab(&job.asker.session);
            return turn.fail(&job.asker, why);
        };
        let removal = |raw: Box<RawValue>| {
            let cookie = serde_json::from_str::<NewCookie>(raw.get());
            let cookie = cookie.map_err(|error| Error::server(error.to_string()))?;
            Ok(Call { details: cookie.removal()?, name: Some(cookie.name) })
        };
        let calls: Vec<Call> = match found.map(removal).collect() {
            Ok(calls) => calls,
            Err(error) => return turn.fail(&job.asker, error),
        };
        job.missing = messages(&calls);
        let question = CookieQuestion::Cleared(self.cookie_queries.open(job));
        self.call_cookies((connection, proof), question, CookieFunction::Set, calls, turn);
    }

    /// The extension has answered.
    pub(crate) fn cookie_call_answered(
        &mut self,
        asked: CookieCall,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let outcome = outcome.and_then(|answers| asked.read(&answers));
        self.cookie_answer(asked.question, outcome, turn);
    }

    /// Returns the calls that find all cookies that a client may see.
    fn cookie_queries(&self, session_ref: &SessionRef) -> Vec<Call> {
        let query = |url: Option<&str>| Call { name: None, details: convert::query(url) };
        if self.policy.whole_profile {
            return vec![query(None)];
        }
        let addresses = self.cookie_queries.addresses_of(session_ref.client);
        addresses.iter().map(|url| query(Some(url))).collect()
    }

    fn call_cookies(
        &mut self,
        (connection, proof): (ConnectionId, Proof),
        question: CookieQuestion,
        function: CookieFunction,
        calls: Vec<Call>,
        turn: &mut Turn,
    ) {
        for calls in calls.chunks(MAX_COOKIE_CALLS) {
            let names = calls.iter().filter_map(|call| call.name.clone()).collect();
            let details = calls.iter().map(|call| call.details.clone()).collect();
            let request = Request::to_extension(
                connection,
                Purpose::CookieCalls(CookieCall { question, names }),
            )
            .until(turn.now + QUICK);
            let calls = CookieCalls { function, details, extra: Extra::default() };
            let message = |id| RelayMessage::CallCookies { id, calls, proof };
            self.ask_extension(request, message, turn);
        }
    }
}

impl CookieCall {
    /// Returns what the extension answers, as a tab would say it.
    fn read(&self, answers: &Payload) -> Result<Payload, Error> {
        let unreadable = |error: shared_protocol::Unreadable| Error::server(error.to_string());
        let answers: CookieAnswers<Payload> = answers.read().map_err(unreadable)?;
        if let Some(why) = answers.error {
            let deed =
                if matches!(self.question, CookieQuestion::Set(_)) { "set" } else { "cleared" };
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
        let cookies: Vec<Value> = found.iter().flatten().filter_map(convert::to_cdp).collect();
        Ok(Payload::of(&json!({ "cookies": cookies })))
    }
}

fn settings(command: &Command) -> Result<Vec<Call>, Error> {
    let new: NewCookies = command.read_params()?;
    let call = |cookie: NewCookie| Ok(Call { details: cookie.setting()?, name: Some(cookie.name) });
    new.cookies.into_iter().map(call).collect()
}

/// Returns how many messages it takes to make these calls.
fn messages(calls: &[Call]) -> usize {
    calls.len().div_ceil(MAX_COOKIE_CALLS)
}
