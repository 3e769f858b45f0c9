//! The tokens of a relay, and which of them opens what.
//!
//! A token that the user chose is asked for everywhere, and no other is good. Without one, tokens are
//! derived from the secret of this user, so that our own programs need not be told: agents' code
//! always needs one, CDP clients only where the relay runs with `--paired`.

use std::path::PathBuf;

use super::Access;
use super::caller::Caller;
use crate::trust::Token;
use crate::trust::secret::Secret;

/// The tokens that programs must show.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    source: Source,
    /// True if CDP clients need a token, too.
    is_paired: bool,
}

#[derive(Debug, Clone)]
enum Source {
    /// The user's own.
    Chosen(Token),
    /// Derived from the secret in a folder. It is read whenever a token is shown, so that a new secret
    /// counts at once.
    Kept(PathBuf),
    /// Derived from a secret of this relay alone.
    Made(Secret),
}

impl Tokens {
    pub(crate) fn chosen(token: Token) -> Self {
        Self { source: Source::Chosen(token), is_paired: true }
    }

    pub(crate) fn of_user(folder: PathBuf, is_paired: bool) -> Self {
        Self { source: Source::Kept(folder), is_paired }
    }

    /// Makes the tokens of a relay without a folder: only its own process can derive them.
    pub(crate) fn of_relay(secret: Secret, is_paired: bool) -> Self {
        Self { source: Source::Made(secret), is_paired }
    }

    /// Returns `true` if the request may use CDP. A request of an unknown user needs a token in any
    /// case.
    pub(crate) fn open_cdp(&self, caller: &Caller, is_known: bool) -> bool {
        match &self.source {
            Source::Chosen(token) => caller.shows(token),
            Source::Kept(_) | Source::Made(_) if is_known && !self.is_paired => true,
            Source::Kept(_) | Source::Made(_) => {
                self.secret().is_some_and(|secret| caller.shows(&secret.cdp_token()))
            }
        }
    }

    /// Returns `true` if the request may run agents' code. A program that may use CDP may do more
    /// than that.
    pub(crate) fn open_agents(&self, caller: &Caller) -> bool {
        match &self.source {
            Source::Chosen(token) => caller.shows(token),
            Source::Kept(_) | Source::Made(_) => self.secret().is_some_and(|secret| {
                caller.shows(&secret.agents_token()) || caller.shows(&secret.cdp_token())
            }),
        }
    }

    /// The token for CDP clients, if they need one.
    pub(crate) fn for_cdp(&self) -> Option<Token> {
        if !self.is_paired {
            return None;
        }
        match &self.source {
            Source::Chosen(token) => Some(token.clone()),
            Source::Kept(_) | Source::Made(_) => self.secret().map(|secret| secret.cdp_token()),
        }
    }

    /// The token for agents.
    pub(crate) fn for_agents(&self) -> Option<Token> {
        match &self.source {
            Source::Chosen(token) => Some(token.clone()),
            Source::Kept(_) | Source::Made(_) => self.secret().map(|secret| secret.agents_token()),
        }
    }

    /// Returns the hint for a request without a token.
    pub(crate) fn wanted(&self, access: Access, is_known: bool) -> &'static str {
        match (&self.source, access) {
            (Source::Chosen(_), _) => {
                "this relay wants its token: send the header `Authorization: Bearer <token>`, \
                 or add `?token=<token>` to the address"
            }
            (Source::Kept(_) | Source::Made(_), Access::Agents) => {
                "agents' code needs a token: `playwriter mcp-url` prints the address that has it, \
                 `playwriter token --agents` the token for the header `Authorization: Bearer <token>`"
            }
            (Source::Kept(_) | Source::Made(_), _) if is_known => {
                "this relay takes paired programs only: `playwriter connect` prints an address that \
                 has the token; others add `?token=$(playwriter token)` to theirs"
            }
            (Source::Kept(_) | Source::Made(_), _) => {
                "the relay cannot tell which user's connection this is, so it wants a token: add \
                 `?token=$(playwriter token)` to the address, or start the relay with --allow-user all"
            }
        }
    }

    fn secret(&self) -> Option<Secret> {
        match &self.source {
            Source::Chosen(_) => None,
            Source::Made(secret) => Some(secret.clone()),
            Source::Kept(folder) => Secret::read(folder).unwrap_or_else(|error| {
                tracing::warn!("every token is refused: {error}");
                None
            }),
        }
    }
}
