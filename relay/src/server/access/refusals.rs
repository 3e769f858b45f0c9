//! Refused requests: counts them for the log and for each user.
//!
//! Anybody on this machine can be refused as often as they like, so the log tells once a minute of each
//! kind, with how often.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shared_protocol::http::RefusedUser;
use tokio::time::Instant;

use super::Access;
use super::peer::User;

/// The interval at which the log repeats the same refusal.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The number of kinds that are kept apart at once; further ones are not logged.
const MAX_KINDS: usize = 64;

/// The number of users that are counted.
const MAX_USERS: usize = 32;

/// The kind of a refusal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A request.
    Request { user: User, access: Access, reason: Cow<'static, str> },
    /// A connection for which there was no place.
    Connection,
}

/// The latest refusals, by kind and by user.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    kinds: BTreeMap<Kind, LastLogged>,
    users: BTreeMap<u32, u64>,
}

#[derive(Debug)]
struct LastLogged {
    at: Instant,
    /// The number of refusals since then.
    unlogged: u64,
}

impl Refusals {
    /// Counts a refusal, and returns the number to log if a line is due.
    pub(crate) fn note(&self, kind: Kind) -> Option<u64> {
        self.lock().count(kind, Instant::now())
    }

    /// Logs that there was no place for a connection.
    pub(crate) fn no_place(&self) {
        if let Some(times) = self.note(Kind::Connection) {
            tracing::warn!(times, "closed a connection: there are too many");
        }
    }

    /// Returns other users who were refused, and how often.
    pub(crate) fn users(&self) -> Vec<RefusedUser> {
        self.lock().users.iter().map(|(&uid, &times)| RefusedUser { uid, times }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn count(&mut self, kind: Kind, now: Instant) -> Option<u64> {
        if let Kind::Request { user: User::Other(uid), .. } = kind
            && (self.users.contains_key(&uid) || self.users.len() < MAX_USERS)
        {
            *self.users.entry(uid).or_default() += 1;
        }
        if let Some(logged) = self.kinds.get_mut(&kind) {
            logged.unlogged += 1;
            if now.duration_since(logged.at) < LOG_INTERVAL {
                return None;
            }
            logged.at = now;
            return Some(std::mem::take(&mut logged.unlogged));
        }
        if self.kinds.len() >= MAX_KINDS {
            self.kinds.retain(|_, logged| now.duration_since(logged.at) < LOG_INTERVAL);
        }
        if self.kinds.len() >= MAX_KINDS {
            return None;
        }
        self.kinds.insert(kind, LastLogged { at: now, unlogged: 0 });
        Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_refusals_are_few_lines() {
        let mut counted = Counted::default();
        let start = Instant::now();
        let logged = (0..1000).filter_map(|_| counted.count(kind(7, "no"), start)).count();
        assert_eq!(logged, 1);
        assert_eq!(counted.count(kind(8, "no"), start), Some(1), "another user");
        assert_eq!(counted.count(kind(7, "not so"), start), Some(1), "another reason");
        assert_eq!(counted.count(kind(7, "no"), start + LOG_INTERVAL), Some(1000));
        assert_eq!(counted.users, BTreeMap::from([(7, 1002), (8, 1)]));
    }

    #[test]
    fn many_users_are_not_remembered_for_ever() {
        let mut counted = Counted::default();
        let start = Instant::now();
        for uid in 0..1000 {
            counted.count(kind(uid, "no"), start);
        }
        assert_eq!((counted.kinds.len(), counted.users.len()), (MAX_KINDS, MAX_USERS));
        assert_eq!(
            counted.count(kind(1001, "no"), start + LOG_INTERVAL),
            Some(1),
            "there is room again"
        );
    }

    fn kind(uid: u32, reason: &'static str) -> Kind {
        Kind::Request { user: User::Other(uid), access: Access::Read, reason: reason.into() }
    }
}
