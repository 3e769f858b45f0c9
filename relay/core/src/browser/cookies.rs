//! The user's cookies. A client sees and clears those that the controlled tabs and their frames can
//! see, and those it has set itself; the rest of the profile only when the user opened it.

mod jar;
mod jobs;
pub(crate) mod key;
mod shapes;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use shared_protocol::{Payload as _, SessionId};

use crate::Relay;
use crate::browser::storage::beyond;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::Seat;
use crate::requests::asker::Asker;
use crate::requests::purpose::{Purpose, Question};
use crate::turn::Turn;
pub(crate) use jobs::CookieJobs;
use jobs::{Aim, Job};
use key::web_host;
use shapes::NewCookie;

/// Whether a command reaches beyond its page into the profile.
pub(crate) fn is_concerned(method: &str) -> bool {
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
        seat: &Seat,
        real: Option<&SessionId>,
        command: Command,
        turn: &mut Turn,
    ) {
        let refusal = match (command.method.as_str(), real) {
            // Chrome has no Network domain at browser level.
            (method, None) if method.starts_with("Network.") => Error::unknown_method(method),
            ("Storage.setCookies" | "Network.setCookie" | "Network.setCookies", _)
                if self.sets_foreign_cookies(seat, &command) =>
            {
                Error::server(
                    "this client may set cookies of the sites that are open in controlled tabs: \
                     open the site first",
                )
            }
            ("Storage.setCookies" | "Storage.getCookies" | "Storage.clearCookies", None)
                if self.is_without_tab(seat) =>
            {
                return self.jar_command(seat, &command, turn);
            }
            ("Storage.setCookies" | "Network.setCookie" | "Network.setCookies", _) => {
                self.note_own_cookies(seat, &command);
                return self.in_profile(seat, real, command, turn);
            }
            _ if self.policy.whole_profile => return self.in_profile(seat, real, command, turn),
            ("Storage.getCookies" | "Network.getAllCookies", _) => {
                return self.gather_cookies(seat, &command, None, Aim::Tell, turn);
            }
            ("Storage.clearCookies", _) => {
                return self.gather_cookies(seat, &command, None, Aim::Clear, turn);
            }
            ("Network.deleteCookies", _) => match command.read_params() {
                Ok(doomed) => {
                    return self.gather_cookies(seat, &command, None, Aim::Delete(doomed), turn);
                }
                Err(error) => error,
            },
            ("Network.getCookies", _) => match command.read_params::<Urls>() {
                Ok(Urls { urls: Some(urls) }) => {
                    return self.gather_cookies(seat, &command, Some(urls), Aim::Tell, turn);
                }
                Ok(Urls { urls: None }) => return self.in_profile(seat, real, command, turn),
                Err(error) => error,
            },
            ("Storage.clearDataForOrigin" | "Storage.clearDataForStorageKey", _)
                if self.names_open_site(seat, &command) =>
            {
                return self.in_profile(seat, real, command, turn);
            }
            (method, _) => beyond(method),
        };
        turn.effects.push(Asker::new(seat, &command).reply(Err(refusal)));
    }

    fn in_profile(
        &mut self,
        seat: &Seat,
        real: Option<&SessionId>,
        command: Command,
        turn: &mut Turn,
    ) {
        match real {
            Some(real) => {
                let command = crate::browser::profile::without_context(command);
                self.forward(seat, command, real, Purpose::Forward, turn);
            }
            None => self.any_tab_command(seat, command, turn),
        }
    }

    /// Asks every tab and frame what it can see.
    fn gather_cookies(
        &mut self,
        seat: &Seat,
        command: &Command,
        urls: Option<Vec<String>>,
        aim: Aim,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(seat, command);
        let Some(connection) = self.connection_of(seat) else { return };
        let Some(extension) = self.extensions.get(connection) else { return };
        let mut questions: Vec<(SessionId, Option<Payload>)> = extension
            .targets
            .iter()
            .filter(|it| matches!(it.info.kind.as_str(), "page" | "iframe") && !it.is_crashed)
            .filter(|it| self.is_seen(seat, it))
            .map(|target| (target.session.clone(), None))
            .collect();
        let mut tabs = extension.targets.living_tabs().filter(|tab| self.is_seen(seat, tab));
        let first = tabs.next().map(|tab| tab.session.clone());
        drop(tabs);
        let own = self.cookie_jobs.addresses_of(seat.client);
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
            return turn.effects.push(asker.reply(Err(self.no_tab(seat))));
        }
        let job = self.cookie_jobs.open(Job::new(asker, aim, questions.len()));
        let last = questions.len() - 1;
        for (index, (real, params)) in questions.into_iter().enumerate() {
            let question = match (limited && index == last, params.is_some()) {
                (true, _) => Question::Limit(job),
                (false, true) => Question::Own(job),
                (false, false) => Question::Visible(job),
            };
            let command = ("Network.getCookies", params);
            let purpose = Purpose::Cookies(question);
            self.ask(connection, None, Some(&real), command, purpose, turn);
        }
    }

    /// A tab, or the extension, has told what it sees, or that it cannot.
    pub(crate) fn cookies_came(
        &mut self,
        question: Question,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let id = question.job();
        let Some(mut job) = self.cookie_jobs.open.remove(&id) else { return };
        job.missing -= 1;
        let cookies = match (&question, outcome) {
            (Question::Cleared(_) | Question::Set(_), Ok(_)) => Vec::new(),
            (question, Ok(result)) => {
                job.is_seen |= matches!(question, Question::Visible(_));
                result.read::<Cookies>().map(|it| it.cookies).unwrap_or_default()
            }
            // A tab may be frozen, or have gone; what it sees, others often see too.
            (Question::Visible(_), Err(error)) => {
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
            Question::Visible(_) => job.found.extend(keyed),
            Question::Own(_) => {
                let client = job.asker.seat.client;
                let own = keyed.filter(|(_, raw)| self.cookie_jobs.is_own(client, raw));
                job.found.extend(own);
            }
            Question::Limit(_) => job.only = Some(keyed.map(|(key, _)| key).collect()),
            Question::Cleared(_) | Question::Set(_) => {}
        }
        if job.missing > 0 {
            self.cookie_jobs.open.insert(id, job);
            return;
        }
        let blind = job.blind.take().filter(|_| !job.is_seen);
        if let Some(failure) = job.failure.take().or(blind) {
            return turn.effects.push(job.asker.reply(Err(failure)));
        }
        match &job.aim {
            Aim::Tell => {
                if let Some(only) = &job.only {
                    job.found.retain(|key, _| only.contains(key));
                }
                let cookies: Vec<Box<RawValue>> = job.found.into_values().collect();
                let result = Payload::of(&BTreeMap::from([("cookies", cookies)]));
                turn.effects.push(job.asker.reply(Ok(result)));
            }
            Aim::Set => turn.effects.push(job.asker.reply(Ok(Payload::empty_object()))),
            Aim::Clear => self.clear_cookies(job, turn),
            Aim::Delete(doomed) => {
                job.found.retain(|key, _| doomed.names(key));
                self.clear_cookies(job, turn);
            }
        }
    }

    /// Clears what was found, one by one, and answers after the last.
    fn clear_cookies(&mut self, mut job: Job, turn: &mut Turn) {
        let Some(connection) = self.connection_of(&job.asker.seat) else { return };
        let tab = self.extensions.get(connection).and_then(|it| it.targets.living_tabs().next());
        let real = tab.map(|tab| tab.session.clone());
        let found = std::mem::take(&mut job.found);
        if found.is_empty() {
            return turn.effects.push(job.asker.reply(Ok(Payload::empty_object())));
        }
        let Some(real) = real else {
            return self.clear_in_jar(job, connection, found.into_values(), turn);
        };
        job.missing = found.len();
        let id = self.cookie_jobs.open(job);
        for (key, raw) in found {
            let mut params = Map::from_iter([
                ("name".to_owned(), Value::from(key.name)),
                ("domain".to_owned(), Value::from(key.domain)),
                ("path".to_owned(), Value::from(key.path)),
            ]);
            let all = serde_json::from_str::<Map<String, Value>>(raw.get()).unwrap_or_default();
            params.extend(all.into_iter().filter(|(name, _)| name == "partitionKey"));
            let command = ("Network.deleteCookies", Some(Payload::of(&params)));
            let purpose = Purpose::Cookies(Question::Cleared(id));
            self.ask(connection, None, Some(&real), command, purpose, turn);
        }
    }

    fn note_own_cookies(&mut self, seat: &Seat, command: &Command) {
        self.cookie_jobs.note_own(seat.client, new_cookies(command).unwrap_or_default());
    }

    /// Returns whether a confined client would set cookies of sites that no tab shows: they would count
    /// in tabs that are not controlled, for ever.
    fn sets_foreign_cookies(&self, seat: &Seat, command: &Command) -> bool {
        if self.policy.whole_profile || !self.is_confined(seat.client) {
            return false;
        }
        let Ok(cookies) = new_cookies(command) else { return true };
        let targets = self.extension_of(seat).map(|it| it.targets.iter()).into_iter().flatten();
        let seen = targets.filter(|target| self.is_seen(seat, target));
        let open: Vec<String> = seen.filter_map(|target| web_host(&target.info.url)).collect();
        !cookies.iter().all(|cookie| cookie.is_of_any(&open))
    }

    /// Whether the site that a command names is open in a controlled tab. Each command has a name
    /// of its own for it, and Chrome does not look at the other's.
    fn names_open_site(&self, seat: &Seat, command: &Command) -> bool {
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
        site.is_some_and(|site| self.is_open(seat, &site))
    }
}

/// The cookies that a command sets, which may be one.
fn new_cookies(command: &Command) -> Result<Vec<NewCookie>, Error> {
    command
        .read_params::<NewCookies>()
        .map(|it| it.cookies)
        .or_else(|_| command.read_params::<NewCookie>().map(|cookie| vec![cookie]))
}
