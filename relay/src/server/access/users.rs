//! The users of this machine whom a relay serves beside its own.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use nix::unistd;

use crate::system::users::own_user;

/// Users whom a relay serves beside its own and root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllowedUser {
    /// Everybody on this machine.
    All,
    /// One user, by number.
    Uid(u32),
}

/// The error for a name that no user has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no user {0:?} on this machine; use a name, a number, or `all`")]
pub struct NoSuchUser(String);

impl FromStr for AllowedUser {
    type Err = NoSuchUser;

    fn from_str(text: &str) -> Result<Self, NoSuchUser> {
        if text == "all" {
            return Ok(Self::All);
        }
        if let Ok(uid) = text.parse() {
            return Ok(Self::Uid(uid));
        }
        match unistd::User::from_name(text) {
            Ok(Some(user)) => Ok(Self::Uid(user.uid.as_raw())),
            Ok(None) | Err(_) => Err(NoSuchUser(text.to_owned())),
        }
    }
}

impl fmt::Display for AllowedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Uid(uid) => uid.fmt(f),
        }
    }
}

/// The user of a relay, and those whom it serves too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Users {
    own: u32,
    allowed: BTreeSet<AllowedUser>,
}

impl Users {
    pub(crate) fn new(allowed: &[AllowedUser]) -> Self {
        Self { own: own_user(), allowed: allowed.iter().copied().collect() }
    }

    /// The user of this relay.
    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// Returns true if another user may come in like this one.
    pub(crate) fn allow(&self, uid: u32) -> bool {
        self.allow_all() || self.allowed.contains(&AllowedUser::Uid(uid))
    }

    /// Returns true if everybody on this machine may come in.
    pub(crate) fn allow_all(&self) -> bool {
        self.allowed.contains(&AllowedUser::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_or_numbered() {
        assert_eq!("root".parse(), Ok(AllowedUser::Uid(0)));
        assert_eq!("1001".parse(), Ok(AllowedUser::Uid(1001)));
        assert_eq!("all".parse(), Ok(AllowedUser::All));
        let nobody = "no such user".parse::<AllowedUser>().unwrap_err();
        assert!(nobody.to_string().contains("no such user"), "{nobody}");
    }

    #[test]
    fn one_is_admitted_and_no_other() {
        let users = Users::new(&[AllowedUser::Uid(1001)]);
        assert!(users.allow(1001) && !users.allow(1002) && !users.allow_all());
        assert!(Users::new(&[AllowedUser::All]).allow(1002));
    }
}
