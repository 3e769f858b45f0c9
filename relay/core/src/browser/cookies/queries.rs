//! Queries for cookies that several tabs have to answer, and the cookies that clients have set
//! themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::convert::NewCookie;
use super::key::{DeletedCookies, Key};
use crate::asker::Asker;
use crate::cdp::Error;
use crate::ids::ClientId;
use crate::requests::purpose::CookieQueryId;

/// The largest number of cookies that are remembered as set by one client; the oldest are forgotten
/// first.
const MAX_OWN: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct CookieQueries {
    last: u64,
    pub(super) open: BTreeMap<CookieQueryId, CookieQuery>,
    own: BTreeMap<ClientId, Vec<Own>>,
}

#[derive(Debug)]
pub(super) struct CookieQuery {
    pub(super) asker: Asker,
    pub(super) aim: CookieAction,
    /// The number of answers that are still to come.
    pub(super) missing: usize,
    /// The cookies to which the answer is limited, besides those that the client may see.
    pub(super) only: Option<BTreeSet<Key>>,
    pub(super) found: BTreeMap<Key, Box<RawValue>>,
    /// True once any tab has returned its cookies. `unreadable` is the error of a tab that did not.
    pub(super) was_read: bool,
    pub(super) unreadable: Option<Error>,
    /// The error of anything else that failed.
    pub(super) failure: Option<Error>,
}

/// The action to take on the cookies that are found.
#[derive(Debug)]
pub(super) enum CookieAction {
    Tell,
    Clear,
    /// Sets cookies; none are looked for.
    Set,
    Delete(DeletedCookies),
}

/// A cookie that a client has set. By its value it is told from one of the user's that has the same
/// name at the same address.
#[derive(Debug)]
struct Own {
    name: String,
    value: String,
    url: String,
}

impl CookieQueries {
    pub(super) fn open(&mut self, job: CookieQuery) -> CookieQueryId {
        self.last += 1;
        self.open.insert(CookieQueryId(self.last), job);
        CookieQueryId(self.last)
    }

    /// Records cookies that a client sets.
    pub(super) fn record_own(&mut self, client: ClientId, cookies: Vec<NewCookie>) {
        let own = self.own.entry(client).or_default();
        own.extend(cookies.into_iter().filter_map(Own::new));
        let surplus = own.len().saturating_sub(MAX_OWN);
        own.drain(..surplus);
    }

    /// Returns whether a client has set this cookie.
    pub(super) fn is_own(&self, client: ClientId, raw: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct Content {
            name: String,
            value: String,
        }

        let Ok(found) = serde_json::from_str::<Content>(raw.get()) else { return false };
        let mut own = self.own.get(&client).into_iter().flatten();
        own.any(|it| it.name == found.name && it.value == found.value)
    }

    /// Returns the addresses for which a client has set cookies.
    pub(super) fn addresses_of(&self, client: ClientId) -> Vec<String> {
        let own = self.own.get(&client).into_iter().flatten();
        own.map(|it| it.url.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Forgets the cookies and queries of a client that has gone.
    pub(crate) fn forget(&mut self, client: ClientId) {
        self.own.remove(&client);
        self.open.retain(|_, job| job.asker.session.client != client);
    }

    #[cfg(test)]
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let open = self.open.values().map(|job| format!("{job:?}"));
        open.chain(self.own.keys().map(|client| format!("{client:?}"))).collect()
    }
}

impl CookieQuery {
    pub(super) fn new(asker: Asker, aim: CookieAction, missing: usize) -> Self {
        Self {
            asker,
            aim,
            missing,
            only: None,
            found: BTreeMap::new(),
            was_read: false,
            unreadable: None,
            failure: None,
        }
    }
}

impl Own {
    fn new(cookie: NewCookie) -> Option<Self> {
        let url = cookie.address()?;
        Some(Self { name: cookie.name, value: cookie.value, url })
    }
}
