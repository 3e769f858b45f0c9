//! Cookies are gathered from all tabs and frames that see them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use shared_protocol::Payload as _;

use super::queries::{CookieAction, CookieQuery};
use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{ExtensionSessionId, SessionRef};
use crate::requests::purpose::{CookieQuestion, Purpose};
use crate::turn::Turn;

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Box<RawValue>>,
}

impl Relay {
    /// Asks every tab and frame for the cookies that it can see.
    pub(super) fn gather_cookies(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        urls: Option<Vec<String>>,
        aim: CookieAction,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        let Some(connection) = self.connection_of(session_ref) else { return };
        let Some(extension) = self.extensions.get(connection) else { return };
        let mut questions: Vec<(ExtensionSessionId, Option<Payload>)> = extension
            .targets
            .iter()
            .filter(|it| matches!(it.info.kind.as_str(), "page" | "iframe") && !it.is_crashed)
            .filter(|it| self.is_visible_to(session_ref, it))
            .map(|target| (target.session.clone(), None))
            .collect();
        let mut tabs =
            extension.targets.living_tabs().filter(|tab| self.is_visible_to(session_ref, tab));
        let first = tabs.next().map(|tab| tab.session.clone());
        drop(tabs);
        let own = self.cookie_queries.addresses_of(session_ref.client);
        let ask_for = |urls: &[String]| Some(Payload::of(&json!({ "urls": urls })));
        if let Some(first) = first {
            if !own.is_empty() {
                questions.push((first.clone(), ask_for(&own)));
            }
            if let Some(urls) = &urls {
                questions.push((first, ask_for(urls)));
            }
        }
        let limited = urls.is_some() && !questions.is_empty();
        if questions.is_empty() {
            return turn.fail(&asker, self.no_tab(session_ref));
        }
        let job = self.cookie_queries.open(CookieQuery::new(asker, aim, questions.len()));
        let last = questions.len() - 1;
        for (index, (extension_session, params)) in questions.into_iter().enumerate() {
            let question = match (limited && index == last, params.is_some()) {
                (true, _) => CookieQuestion::Limit(job),
                (false, true) => CookieQuestion::Own(job),
                (false, false) => CookieQuestion::Visible(job),
            };
            let command = ("Network.getCookies", params);
            let purpose = Purpose::Cookies(question);
            self.ask(connection, None, Some(&extension_session), command, purpose, turn);
        }
    }

    /// Handles the answer of a tab, or of the extension, to a query for cookies.
    ///
    /// The function is long because each part of a query counts differently.
    pub(crate) fn cookie_answer(
        &mut self,
        question: CookieQuestion,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let id = question.job();
        let Some(mut job) = self.cookie_queries.open.remove(&id) else { return };
        job.missing -= 1;
        let cookies = match (&question, outcome) {
            (CookieQuestion::Cleared(_) | CookieQuestion::Set(_), Ok(_)) => Vec::new(),
            (question, Ok(result)) => {
                job.was_read |= matches!(question, CookieQuestion::Visible(_));
                result.read::<Cookies>().map(|it| it.cookies).unwrap_or_default()
            }
            // A tab may be frozen, or have gone; other tabs often see the same cookies.
            (CookieQuestion::Visible(_), Err(error)) => {
                job.unreadable = Some(error);
                Vec::new()
            }
            (_, Err(error)) => {
                job.failure = Some(error);
                Vec::new()
            }
        };
        let cookies = cookies.into_iter();
        let keyed = cookies.filter_map(|raw| Some((serde_json::from_str(raw.get()).ok()?, raw)));
        match question {
            CookieQuestion::Visible(_) => job.found.extend(keyed),
            CookieQuestion::Own(_) => {
                let client = job.asker.session.client;
                let own = keyed.filter(|(_, raw)| self.cookie_queries.is_own(client, raw));
                job.found.extend(own);
            }
            CookieQuestion::Limit(_) => job.only = Some(keyed.map(|(key, _)| key).collect()),
            CookieQuestion::Cleared(_) | CookieQuestion::Set(_) => {}
        }
        if job.missing > 0 {
            self.cookie_queries.open.insert(id, job);
            return;
        }
        let unreadable = job.unreadable.take().filter(|_| !job.was_read);
        if let Some(failure) = job.failure.take().or(unreadable) {
            return turn.fail(&job.asker, failure);
        }
        match &job.aim {
            CookieAction::Tell => {
                if let Some(only) = &job.only {
                    job.found.retain(|key, _| only.contains(key));
                }
                let cookies: Vec<Box<RawValue>> = job.found.into_values().collect();
                let result = Payload::of(&BTreeMap::from([("cookies", cookies)]));
                turn.reply(&job.asker, Ok(result));
            }
            CookieAction::Set => turn.ok(&job.asker),
            CookieAction::Clear => self.clear_cookies(job, turn),
            CookieAction::Delete(deleted) => {
                job.found.retain(|key, _| deleted.names(key));
                self.clear_cookies(job, turn);
            }
        }
    }

    /// Clears the cookies that were found, one by one, and answers after the last.
    pub(super) fn clear_cookies(&mut self, mut job: CookieQuery, turn: &mut Turn) {
        let Some(connection) = self.connection_of(&job.asker.session) else { return };
        let tab = self.extensions.get(connection).and_then(|it| it.targets.living_tabs().next());
        let extension_session = tab.map(|tab| tab.session.clone());
        let found = std::mem::take(&mut job.found);
        if found.is_empty() {
            return turn.ok(&job.asker);
        }
        let Some(extension_session) = extension_session else {
            return self.clear_without_tab(job, connection, found.into_values(), turn);
        };
        job.missing = found.len();
        let id = self.cookie_queries.open(job);
        for (key, raw) in found {
            let mut params = Map::from_iter([
                ("name".to_owned(), Value::from(key.name)),
                ("domain".to_owned(), Value::from(key.domain)),
                ("path".to_owned(), Value::from(key.path)),
            ]);
            let all = serde_json::from_str::<Map<String, Value>>(raw.get()).unwrap_or_default();
            params.extend(all.into_iter().filter(|(name, _)| name == "partitionKey"));
            let command = ("Network.deleteCookies", Some(Payload::of(&params)));
            let purpose = Purpose::Cookies(CookieQuestion::Cleared(id));
            self.ask(connection, None, Some(&extension_session), command, purpose, turn);
        }
    }
}
