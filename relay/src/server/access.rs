//! Decides who gets in: the user at the other end of a connection, the headers of a request, its
//! token, and the proof of an extension, in the order in which a request meets these checks.
//!
//! `accept` takes connections and `peer` looks up their users. `guard` decides on each request, with
//! the facts about the request from `caller`, and the relay's `tokens` and `users`. The answers to
//! admitted requests are in `server/http`.

pub(crate) mod accept;
pub(crate) mod caller;
pub(crate) mod guard;
pub(crate) mod pairing;
pub(crate) mod peer;
pub(crate) mod places;
pub(crate) mod refusals;
pub(crate) mod since;
pub(crate) mod strangers;
pub(crate) mod tokens;
pub(crate) mod users;

/// The access that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// The extension's socket: only an extension of ours, in a browser on this machine.
    Extension,
    /// The same as [`Access::Extension`], for one that is about to prove itself, whatever its user.
    Pairing,
    /// The request of such an extension before that. Its answer tells nothing about the relay but what
    /// it is.
    Hello,
    /// The requests of the extension before it connects. It has no token, and Chrome sends no `Origin`
    /// with what an extension fetches, so anybody on this machine may ask.
    Probe,
    /// Programs of this user: everything but web pages.
    Read,
    /// The same as [`Access::Read`], for requests that open and close tabs.
    Mutate,
    /// The same as [`Access::Mutate`], for requests that run agents' code: a token is always needed.
    Agents,
    /// The same as [`Access::Mutate`], for the user who started the relay: on this machine, with the
    /// key that only this user can read, in place of the token.
    Owner,
}

impl Access {
    /// Returns true where a proof is asked for, so that the user does not matter.
    fn is_open_to_other_users(self) -> bool {
        match self {
            Self::Pairing | Self::Hello => true,
            Self::Extension
            | Self::Probe
            | Self::Read
            | Self::Mutate
            | Self::Agents
            | Self::Owner => false,
        }
    }
}
