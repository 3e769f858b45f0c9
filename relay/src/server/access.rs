//! Who gets in: the user at the other end of a connection, the headers of a request, its token, and the
//! proof of an extension, in the order in which a request meets them.
//!
//! `accept` takes connections and `peer` looks up their users; `guard` decides on each request, by what
//! `caller` tells of it, and `tokens` and `users` of the relay. What a request is answered once it is
//! let in is in `server/http`.

pub(crate) mod accept;
pub(crate) mod caller;
pub(crate) mod guard;
pub(crate) mod pairing;
pub(crate) mod peer;
pub(crate) mod refusals;
pub(crate) mod since;
pub(crate) mod strangers;
pub(crate) mod tokens;
pub(crate) mod users;

/// Which door a request knocks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Door {
    /// The extension's socket: only an extension of ours, in a browser on this machine.
    Extension,
    /// As [`Door::Extension`], for one that is about to prove itself, whatever its user.
    Proof,
    /// What such an extension asks before that. It tells nothing about the relay but what it is.
    Hello,
    /// What the extension asks before it connects. It has no token, and Chrome sends no `Origin`
    /// with what an extension fetches, so anybody on this machine may ask.
    Doorbell,
    /// Programs of this user: anything that is no web page.
    Client,
    /// As [`Door::Client`], for requests that open and close tabs.
    Change,
    /// As [`Door::Change`], for requests that run agents' code: a token is always needed.
    Agents,
    /// As [`Door::Change`], for whoever started the relay: on this machine, with the key that only
    /// this user can read, in place of the token.
    Owner,
}

impl Door {
    /// Returns true for doors at which a proof is asked for, so that the user does not matter.
    fn is_open_to_other_users(self) -> bool {
        match self {
            Self::Proof | Self::Hello => true,
            Self::Extension
            | Self::Doorbell
            | Self::Client
            | Self::Change
            | Self::Agents
            | Self::Owner => false,
        }
    }
}
