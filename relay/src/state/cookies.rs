//! The user's cookies. A client sees and clears those that the controlled tabs and their frames can
//! see, and those it has set itself; the rest of the profile only when the user opened it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use shared_protocol::{Payload as _, SessionId};

use super::on_target::params;
use super::requests::{Asker, Purpose};
use super::sessions::Seat;
use super::turn::Turn;
use super::{ClientId, Relay};
use crate::cdp::{Command, Error};
use crate::payload::Payload;

/// How many cookies of its own a client is known by; the oldest are forgotten first.
const MAX_OWN: usize = 500;

/// Whether a command reaches beyond its page into the profile.
pub(super) fn is_concerned(method: &str) -> bool {
    matches!(
        method,
        "Storage.getCookies"
            | "Storage.setCookies"
            | "Storage.clearCookies"
            | "Storage.clearDataForOrigin"
            | "Storage.clearDataForStorageKey"
            | "Network.getCookies"
            | "Network.getAllCookies"
            | "Network.setCookie"
            | "Network.setCookies"
            | "Network.clearBrowserCookies"
            | "Network.clearBrowserCache"
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JobId(u64);

/// Questions about cookies that several tabs have to answer.
#[derive(Debug, Default)]
pub(crate) struct CookieJobs {
    last: u64,
    open: BTreeMap<JobId, Job>,
    /// What clients have set themselves.
    own: BTreeMap<ClientId, Vec<Own>>,
}

#[derive(Debug)]
struct Job {
    asker: Asker,
    clears: bool,
    /// How many answers are still to come.
    missing: usize,
    /// What the answer is limited to, besides what may be seen.
    only: Option<BTreeSet<Key>>,
    found: BTreeMap<Key, Box<RawValue>>,
}

/// A cookie that a client has set. By its value it is told from one of the user's that has the same
/// name at the same address.
#[derive(Debug)]
struct Own {
    name: String,
    value: String,
    url: String,
}

#[derive(Deserialize)]
struct Content {
    name: String,
    value: String,
}

/// What tells one cookie from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    name: String,
    domain: String,
    path: String,
    #[serde(default, deserialize_with = "as_text")]
    partition_key: Option<String>,
}

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Box<RawValue>>,
}

/// A cookie to be set, as far as it says where.
#[derive(Deserialize)]
struct NewCookie {
    name: String,
    value: String,
    url: Option<String>,
    domain: Option<String>,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Urls {
    urls: Option<Vec<String>>,
}

impl Relay {
    pub(super) fn profile_command(
        &mut self,
        seat: &Seat,
        real: Option<&SessionId>,
        command: Command,
        turn: &mut Turn,
    ) {
        let refusal = match (command.method.as_str(), real) {
            // Chrome has no Network domain at browser level.
            (method, None) if method.starts_with("Network.") => Error::unknown_method(method),
            ("Storage.setCookies" | "Network.setCookie" | "Network.setCookies", _) => {
                self.note_own_cookies(seat.client, &command);
                return self.in_profile(seat, real, command, turn);
            }
            _ if self.policy.whole_profile => return self.in_profile(seat, real, command, turn),
            ("Storage.getCookies" | "Network.getAllCookies", _) => {
                return self.gather_cookies(seat, &command, None, false, turn);
            }
            ("Storage.clearCookies", _) => {
                return self.gather_cookies(seat, &command, None, true, turn);
            }
            ("Network.getCookies", _) => match params::<Urls>(&command) {
                Ok(Urls { urls: Some(urls) }) => {
                    return self.gather_cookies(seat, &command, Some(urls), false, turn);
                }
                Ok(Urls { urls: None }) => return self.in_profile(seat, real, command, turn),
                Err(error) => error,
            },
            ("Storage.clearDataForOrigin" | "Storage.clearDataForStorageKey", _)
                if self.names_open_site(seat, &command) =>
            {
                return self.in_profile(seat, real, command, turn);
            }
            (method, _) => Error::server(format!(
                "{method} would reach into the user's whole profile: start the relay with \
                 `playwriter serve --cookies=profile` to allow it"
            )),
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
                let command = super::browser_domain::without_context(command);
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
        clears: bool,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(seat, command);
        let Some(connection) = self.connection_of(seat) else { return };
        let Some(extension) = self.extensions.get(connection) else { return };
        let mut questions: Vec<(SessionId, Option<Payload>)> = extension
            .targets
            .iter()
            .filter(|target| matches!(target.info.kind.as_str(), "page" | "iframe"))
            .map(|target| (target.session.clone(), None))
            .collect();
        let first = extension.targets.tabs().next().map(|tab| tab.session.clone());
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
            let nothing = if clears { json!({}) } else { json!({ "cookies": [] }) };
            return turn.effects.push(asker.reply(Ok(Payload::of(&nothing))));
        }
        let job = self.cookie_jobs.open(Job {
            asker,
            clears,
            missing: questions.len(),
            only: None,
            found: BTreeMap::new(),
        });
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

    /// A tab has told what it sees, or that it cannot.
    pub(super) fn cookies_came(
        &mut self,
        question: Question,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let id = question.job();
        let Some(job) = self.cookie_jobs.open.get_mut(&id) else { return };
        job.missing -= 1;
        let cookies = outcome.ok().and_then(|result| result.read::<Cookies>().ok());
        let cookies = cookies.map(|it| it.cookies).unwrap_or_default().into_iter();
        let keyed = cookies.filter_map(|raw| Some((serde_json::from_str(raw.get()).ok()?, raw)));
        match question {
            Question::Visible(_) => job.found.extend(keyed),
            Question::Own(_) => {
                let own = self.cookie_jobs.own.get(&job.asker.seat.client);
                let is_own = |raw: &RawValue| {
                    let content = serde_json::from_str::<Content>(raw.get()).ok();
                    let same = |it: &Own, found: &Content| {
                        it.name == found.name && it.value == found.value
                    };
                    content.is_some_and(|found| {
                        own.is_some_and(|own| own.iter().any(|it| same(it, &found)))
                    })
                };
                job.found.extend(keyed.filter(|(_, raw)| is_own(raw)));
            }
            Question::Limit(_) => job.only = Some(keyed.map(|(key, _)| key).collect()),
            Question::Cleared(_) => {}
        }
        if job.missing > 0 {
            return;
        }
        let Some(mut job) = self.cookie_jobs.open.remove(&id) else { return };
        if job.clears && !job.found.is_empty() {
            let found = std::mem::take(&mut job.found);
            return self.clear_cookies(job, found, turn);
        }
        let result = if job.clears {
            Payload::empty_object()
        } else {
            if let Some(only) = &job.only {
                job.found.retain(|key, _| only.contains(key));
            }
            let cookies: Vec<Box<RawValue>> = job.found.into_values().collect();
            Payload::of(&BTreeMap::from([("cookies", cookies)]))
        };
        turn.effects.push(job.asker.reply(Ok(result)));
    }

    fn clear_cookies(
        &mut self,
        mut job: Job,
        found: BTreeMap<Key, Box<RawValue>>,
        turn: &mut Turn,
    ) {
        let Some(connection) = self.connection_of(&job.asker.seat) else { return };
        let tab = self.extensions.get(connection).and_then(|it| it.targets.tabs().next());
        let Some(real) = tab.map(|tab| tab.session.clone()) else {
            return turn.effects.push(job.asker.reply(Ok(Payload::empty_object())));
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

    fn note_own_cookies(&mut self, client: ClientId, command: &Command) {
        #[derive(Deserialize)]
        struct NewCookies {
            cookies: Vec<NewCookie>,
        }

        let cookies = params::<NewCookies>(command)
            .map(|it| it.cookies)
            .or_else(|_| params::<NewCookie>(command).map(|cookie| vec![cookie]))
            .unwrap_or_default();
        let own = self.cookie_jobs.own.entry(client).or_default();
        own.extend(cookies.into_iter().filter_map(NewCookie::addressed));
        let surplus = own.len().saturating_sub(MAX_OWN);
        own.drain(..surplus);
    }

    /// Whether the site that a command names is open in a controlled tab.
    fn names_open_site(&self, seat: &Seat, command: &Command) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Site {
            origin: Option<String>,
            storage_key: Option<String>,
        }

        let site = params::<Site>(command).ok().and_then(|it| it.origin.or(it.storage_key));
        let Some(site) = site else { return false };
        let site = site.trim_end_matches('/');
        self.extension_of(seat).is_some_and(|extension| {
            extension.targets.iter().any(|target| origin(&target.info.url) == Some(site))
        })
    }
}

/// Which part of a job a tab is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Question {
    /// What the tab sees.
    Visible(JobId),
    /// What is at the addresses where the client has set cookies.
    Own(JobId),
    /// What is at the addresses that the client asks about.
    Limit(JobId),
    /// To clear one.
    Cleared(JobId),
}

impl Question {
    fn job(self) -> JobId {
        match self {
            Self::Visible(job) | Self::Own(job) | Self::Limit(job) | Self::Cleared(job) => job,
        }
    }
}

impl CookieJobs {
    fn open(&mut self, job: Job) -> JobId {
        self.last += 1;
        self.open.insert(JobId(self.last), job);
        JobId(self.last)
    }

    #[cfg(test)]
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let open = self.open.values().map(|job| format!("{job:?}"));
        open.chain(self.own.keys().map(|client| format!("{client:?}"))).collect()
    }

    /// A client has gone.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.own.remove(&client);
        self.open.retain(|_, job| job.asker.seat.client != client);
    }

    fn addresses_of(&self, client: ClientId) -> Vec<String> {
        let own = self.own.get(&client).map(Vec::as_slice).unwrap_or_default();
        own.iter().map(|it| it.url.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl NewCookie {
    fn addressed(self) -> Option<Own> {
        let url = self.url.or_else(|| {
            let domain = self.domain?;
            let path = self.path.unwrap_or_else(|| "/".to_owned());
            Some(format!("https://{}{path}", domain.trim_start_matches('.')))
        })?;
        Some(Own { name: self.name, value: self.value, url })
    }
}

/// `scheme://host[:port]`
fn origin(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |length| host + length);
    url.get(..end)
}

/// A partition key is text in some versions and an object in others; here only its identity counts.
fn as_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Value>::deserialize(deserializer)?.map(|key| key.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_ends_where_the_path_begins() {
        assert_eq!(origin("https://a.example:1/x/y"), Some("https://a.example:1"));
        assert_eq!(origin("https://a.example?x"), Some("https://a.example"));
        assert_eq!(origin("https://a.example"), Some("https://a.example"));
        assert_eq!(origin("about:blank"), None);
    }
}
