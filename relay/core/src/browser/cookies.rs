//! The user's cookies. A client sees and clears those that the controlled tabs and their frames can
//! see, and those it has set itself; the rest of the profile only when the user opened it.

mod convert;
pub(crate) mod key;
mod queries;
mod without_tab;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use shared_protocol::Payload as _;

use crate::Relay;
use crate::asker::Asker;
use crate::browser::storage::needs_profile;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{ExtensionSessionId, SessionRef};
use crate::requests::purpose::{CookieQuestion, Purpose};
use crate::turn::Turn;
use convert::NewCookie;
use key::web_host;
pub(crate) use queries::CookieQueries;
use queries::{CookieAction, CookieQuery};

/// Whether a command reaches beyond its page into the profile.
pub(crate) fn is_profile_command(method: &str) -> bool {
    matches!(
        method,
        "Storage.getCookies"
            | "Storage.setCookies"
            | "Storage.clearCookies"
            | "Storage.clearDataForOrigin"
            | "Storage.clearDataForStorageKey"
            | "Network.getCookies"
            | "Network.getAllCookies"
            | "Network.deleteCookies"
            | "Network.setCookie"
            | "Network.setCookies"
            | "Network.clearBrowserCookies"
            | "Network.clearBrowserCache"
    )
}

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct NewCookies {
    cookies: Vec<NewCookie>,
}

#[derive(Deserialize)]
struct Urls {
    urls: Option<Vec<String>>,
}

impl Relay {
    pub(crate) fn profile_command(
        &mut self,
        session_ref: &SessionRef,
        extension_session: Option<&ExtensionSessionId>,
        command: Command,
        turn: &mut Turn,
    ) {
        let refusal = match (command.method.as_str(), extension_session) {
            // Chrome has no Network domain at browser level.
            (method, None) if method.starts_with("Network.") => Error::unknown_method(method),
            ("Storage.setCookies" | "Network.setCookie" | "Network.setCookies", _)
                if self.sets_foreign_cookies(session_ref, &command) =>
            {
                Error::server(
                    "this client may set cookies of the sites that are open in controlled tabs: \
                     open the site first",
                )
            }
            ("Storage.setCookies" | "Storage.getCookies" | "Storage.clearCookies", None)
                if self.is_without_tab(session_ref) =>
            {
                return self.cookies_without_tab(session_ref, &command, turn);
            }
            ("Storage.setCookies" | "Network.setCookie" | "Network.setCookies", _) => {
                self.record_own_cookies(session_ref, &command);
                return self.forward_to_profile(session_ref, extension_session, command, turn);
            }
            _ if self.policy.whole_profile => {
                return self.forward_to_profile(session_ref, extension_session, command, turn);
            }
            ("Storage.getCookies" | "Network.getAllCookies", _) => {
                return self.gather_cookies(session_ref, &command, None, CookieAction::Tell, turn);
            }
            ("Storage.clearCookies", _) => {
                return self.gather_cookies(session_ref, &command, None, CookieAction::Clear, turn);
            }
            ("Network.deleteCookies", _) => match command.read_params() {
                Ok(doomed) => {
                    return self.gather_cookies(
                        session_ref,
                        &command,
                        None,
                        CookieAction::Delete(doomed),
                        turn,
                    );
                }
                Err(error) => error,
            },
            ("Network.getCookies", _) => match command.read_params::<Urls>() {
                Ok(Urls { urls: Some(urls) }) => {
                    return self.gather_cookies(
                        session_ref,
                        &command,
                        Some(urls),
                        CookieAction::Tell,
                        turn,
                    );
                }
                Ok(Urls { urls: None }) => {
                    return self.forward_to_profile(session_ref, extension_session, command, turn);
                }
                Err(error) => error,
            },
            ("Storage.clearDataForOrigin" | "Storage.clearDataForStorageKey", _)
                if self.names_open_site(session_ref, &command) =>
            {
                return self.forward_to_profile(session_ref, extension_session, command, turn);
            }
            (method, _) => needs_profile(method),
        };
        turn.fail(&Asker::new(session_ref, &command), refusal);
    }

    fn forward_to_profile(
        &mut self,
        session_ref: &SessionRef,
        extension_session: Option<&ExtensionSessionId>,
        command: Command,
        turn: &mut Turn,
    ) {
        match extension_session {
            Some(extension_session) => {
                let command = crate::browser::profile::without_context(command);
                self.forward(session_ref, command, extension_session, Purpose::Forward, turn);
            }
            None => self.any_tab_command(session_ref, command, turn),
        }
    }

    /// Asks every tab and frame what it can see.
    fn gather_cookies(
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

    /// A tab, or the extension, has told what it sees, or that it cannot.
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
                job.is_visible_to |= matches!(question, CookieQuestion::Visible(_));
                result.read::<Cookies>().map(|it| it.cookies).unwrap_or_default()
            }
            // A tab may be frozen, or have gone; what it sees, others often see too.
            (CookieQuestion::Visible(_), Err(error)) => {
                job.blind = Some(error);
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
        let blind = job.blind.take().filter(|_| !job.is_visible_to);
        if let Some(failure) = job.failure.take().or(blind) {
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
            CookieAction::Delete(doomed) => {
                job.found.retain(|key, _| doomed.names(key));
                self.clear_cookies(job, turn);
            }
        }
    }

    /// Clears what was found, one by one, and answers after the last.
    fn clear_cookies(&mut self, mut job: CookieQuery, turn: &mut Turn) {
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

    fn record_own_cookies(&mut self, session_ref: &SessionRef, command: &Command) {
        self.cookie_queries
            .record_own(session_ref.client, new_cookies(command).unwrap_or_default());
    }

    /// Returns whether a confined client would set cookies of sites that no tab shows: they would count
    /// in tabs that are not controlled, for ever.
    fn sets_foreign_cookies(&self, session_ref: &SessionRef, command: &Command) -> bool {
        if self.policy.whole_profile || !self.is_confined(session_ref.client) {
            return false;
        }
        let Ok(cookies) = new_cookies(command) else { return true };
        let targets =
            self.extension_of(session_ref).map(|it| it.targets.iter()).into_iter().flatten();
        let seen = targets.filter(|target| self.is_visible_to(session_ref, target));
        let open: Vec<String> = seen.filter_map(|target| web_host(&target.info.url)).collect();
        !cookies.iter().all(|cookie| cookie.is_of_any(&open))
    }

    /// Whether the site that a command names is open in a controlled tab. Each command has a name
    /// of its own for it, and Chrome does not look at the other's.
    fn names_open_site(&self, session_ref: &SessionRef, command: &Command) -> bool {
        #[derive(Deserialize)]
        struct Origin {
            origin: String,
        }

        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct StorageKey {
            storage_key: String,
        }

        let site = match command.method.as_str() {
            "Storage.clearDataForOrigin" => {
                command.read_params::<Origin>().map(|it| it.origin).ok()
            }
            _ => command.read_params::<StorageKey>().map(|it| it.storage_key).ok(),
        };
        site.is_some_and(|site| self.is_site_open(session_ref, &site))
    }
}

/// The cookies that a command sets, which may be one.
fn new_cookies(command: &Command) -> Result<Vec<NewCookie>, Error> {
    command
        .read_params::<NewCookies>()
        .map(|it| it.cookies)
        .or_else(|_| command.read_params::<NewCookie>().map(|cookie| vec![cookie]))
}
