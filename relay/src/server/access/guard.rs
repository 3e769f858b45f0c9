//! Who may talk to the relay. Every request passes here before anything reads it.
//!
//! The relay listens on loopback, but so does every page in every browser of this machine reach
//! it: a page can open WebSockets across origins, and can point a name of its own at 127.0.0.1.
//! Pages cannot forge `Host`, `Origin` and `Sec-Fetch-Site`, so these three keep pages out. Tokens
//! ([`Tokens`]) keep other programs and other machines out.

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::sleep;
use warp::http::StatusCode;
use warp::{Filter, Rejection};

use super::Access;
use super::caller::{Caller, OWN_NAMES, address_in, caller, host_name, is_ours};
use super::peer::{Remote, User};
use super::refusals::{Kind, Refusals};
use super::since::Since;
use super::tokens::Tokens;
use super::users::Users;
use crate::trust::Token;
use crate::trust::proof::Nonce;
use crate::trust::secret::Secret;
use crate::trust::token;

/// How long the answer to a wrong token takes. Those who have shown nothing are few, so that nobody can
/// try many at once.
const WRONG_TOKEN_DELAY: Duration = Duration::from_millis(500);

const NO_PAGES: &str = "web pages may not talk to the relay";

const NO_BROWSERS: &str = "only programs may ask for this, not a browser";

/// Under which names the relay may be called, and what must be shown.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    hosts: Vec<String>,
    /// Bound to all addresses of this machine, each of which is a name for it.
    any_address: bool,
    tokens: Tokens,
    /// The key for [`Access::Owner`]; nobody has that access without one.
    owner: Option<Token>,
    /// The folder of the secret with which the relay proves itself.
    secret: Option<PathBuf>,
    /// When it began to listen.
    since: Since,
    users: Arc<Users>,
    refusals: Arc<Refusals>,
    /// Whether an extension on Windows has proven itself.
    proven_on_windows: Arc<AtomicBool>,
}

/// Why a request was not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) reason: Cow<'static, str>,
    /// Whether a wrong token was shown.
    is_guess: bool,
}

impl warp::reject::Reject for Refusal {}

/// Lets a request pass or rejects it with a [`Refusal`].
pub(crate) fn admitted(
    policy: Arc<Policy>,
    access: Access,
) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    caller()
        .and_then(move |caller: Caller| {
            let policy = Arc::clone(&policy);
            async move { policy.admit(access, &caller).await }
        })
        .untuple_one()
}

impl Policy {
    /// Loopback by its three names, the host that the user bound, and other names that the user
    /// allows.
    pub(crate) fn new(host: &str, allowed: &[String], tokens: Tokens) -> Self {
        let mut hosts = OWN_NAMES.map(str::to_owned).to_vec();
        let address = address_in(host);
        // 0.0.0.0 is no name to be called by: pages have used it to get past browsers' checks.
        let any_address = address.is_some_and(|address| address.is_unspecified());
        match address {
            Some(IpAddr::V6(address)) if !any_address => hosts.push(format!("[{address}]")),
            Some(_) if any_address => {}
            Some(_) | None => hosts.push(host.to_owned()),
        }
        hosts.extend_from_slice(allowed);
        Self {
            hosts,
            any_address,
            tokens,
            owner: None,
            secret: None,
            since: Since::now(),
            users: Arc::new(Users::new(&[])),
            refusals: Arc::default(),
            proven_on_windows: Arc::default(),
        }
    }

    /// Serves these users too, and notes who was refused.
    pub(crate) fn with_users(self, users: Arc<Users>, refusals: Arc<Refusals>) -> Self {
        Self { users, refusals, ..self }
    }

    /// Opens [`Access::Owner`] to whoever shows the key.
    pub(crate) fn with_owner(self, owner: Option<Token>) -> Self {
        Self { owner, ..self }
    }

    /// Lets the relay, which listens since then, prove itself to programs that have the secret of this
    /// folder.
    pub(crate) fn with_secret(self, secret: Option<PathBuf>, since: Since) -> Self {
        Self { secret, since, ..self }
    }

    /// Proves to whoever asks with a nonce that this relay has the secret of its user, and for how many
    /// milliseconds it has listened.
    pub(crate) fn prove(&self, caller: &Caller) -> Option<(u32, String)> {
        let nonce = Nonce::in_query(&caller.query)?;
        let secret = Secret::read(self.secret.as_deref()?).ok()??;
        let listening = self.since.milliseconds();
        Some((listening, nonce.prove(&secret, caller.remote.local?, listening)))
    }

    /// Decides, and says in the log whom it refused. The query may hold a token, so it is left out.
    pub(crate) async fn admit(&self, access: Access, caller: &Caller) -> Result<(), Rejection> {
        let Err(refusal) = self.check(access, caller) else {
            // The access of `Pairing` and `Hello` is everybody's, which shows nothing about the caller.
            if !access.is_open_to_other_users() || self.is_known(&caller.remote) {
                caller.remote.has_shown_something();
            }
            return Ok(());
        };
        let Refusal { status, reason, is_guess } = &refusal;
        let user = caller.remote.identity.user;
        if let Some(times) =
            self.refusals.note(Kind::Request { user, access, reason: reason.clone() })
        {
            let (path, peer) = (&caller.path, caller.remote.address);
            // The hint is for the one who was refused.
            let reason = reason.lines().next().unwrap_or_default();
            tracing::info!(%status, path, ?peer, ?user, times, "refused a request: {reason}");
        }
        if *is_guess {
            sleep(WRONG_TOKEN_DELAY).await;
        }
        Err(warp::reject::custom(refusal))
    }

    fn check(&self, access: Access, caller: &Caller) -> Result<(), Refusal> {
        self.check_user(access, caller)?;
        self.check_host(caller)?;
        match access {
            Access::Extension | Access::Pairing => self.check_extension(access, caller),
            Access::Owner => {
                check_browser(access, caller)?;
                check_form(access, caller)?;
                self.check_owner(caller)
            }
            Access::Hello | Access::Probe | Access::Read | Access::Mutate | Access::Agents => {
                check_browser(access, caller)?;
                check_form(access, caller)?;
                self.check_token(access, caller)
            }
        }
    }

    /// Refuses other users of this machine.
    fn check_user(&self, access: Access, caller: &Caller) -> Result<(), Refusal> {
        if caller.remote.identity.is_agents {
            return Err(forbidden("agents' code may not connect to the relay by itself"));
        }
        let User::Other(uid) = caller.remote.identity.user else { return Ok(()) };
        if self.users.allow(uid) || access.is_open_to_other_users() {
            return Ok(());
        }
        let own = self.users.own();
        let reason = format!(
            "this relay is of user {own} and serves no other user; this connection is of user \
             {uid}\n\nhint: user {own} can start it with --allow-user {uid}"
        );
        Err(Refusal { status: StatusCode::FORBIDDEN, reason: reason.into(), is_guess: false })
    }

    /// Refuses requests that call the relay by a name that is not one of its own.
    fn check_host(&self, caller: &Caller) -> Result<(), Refusal> {
        let host = caller.header("host").ok_or(forbidden("the Host header is missing"))?;
        match self.knows(host_name(host)) {
            true => Ok(()),
            false => Err(forbidden(
                "this Host is not allowed; use 127.0.0.1 or localhost, or start the relay with \
                 --allow-host and this name",
            )),
        }
    }

    /// Refuses everything but an extension of ours in a browser on this machine.
    fn check_extension(&self, access: Access, caller: &Caller) -> Result<(), Refusal> {
        // Our own programs have a socket of their own, where no browser comes.
        let is_here = caller.is_on_this_machine() && caller.remote.address.is_some();
        match (caller.origin().is_some_and(is_ours), is_here) {
            (true, true) if access == Access::Pairing || self.takes_unproven(&caller.remote) => {
                Ok(())
            }
            (true, true) => Err(forbidden(
                "it cannot be told which user's this extension is, and it has not proven itself",
            )),
            (true, false) => {
                Err(forbidden("the extension must run on the same machine as the relay"))
            }
            (false, _) => Err(forbidden("only the Playwriter extension may connect here")),
        }
    }

    /// Refuses everybody but the user who started the relay, who shows the key of its file.
    fn check_owner(&self, caller: &Caller) -> Result<(), Refusal> {
        let shows = |key: &Token| key.is_shown(&caller.headers, "");
        match self.owner.as_ref().is_some_and(shows) && caller.is_on_this_machine() {
            true => Ok(()),
            false => Err(forbidden("only the user who started the relay may do this")),
        }
    }

    /// Refuses requests without the token that is needed.
    fn check_token(&self, access: Access, caller: &Caller) -> Result<(), Refusal> {
        let is_known = self.is_known(&caller.remote);
        let needs_no_token = match access {
            Access::Hello => true,
            Access::Probe => is_known,
            Access::Extension
            | Access::Pairing
            | Access::Read
            | Access::Mutate
            | Access::Agents
            | Access::Owner => false,
        };
        if needs_no_token && caller.is_on_this_machine() {
            return Ok(());
        }
        let is_opened = match access {
            Access::Agents => self.tokens.open_agents(caller),
            Access::Extension
            | Access::Pairing
            | Access::Hello
            | Access::Probe
            | Access::Read
            | Access::Mutate
            | Access::Owner => self.trusts(caller),
        };
        match is_opened {
            true => Ok(()),
            false => Err(Refusal {
                status: StatusCode::UNAUTHORIZED,
                reason: self.tokens.wanted(access, is_known).into(),
                is_guess: token::is_any_shown(&caller.headers, &caller.query),
            }),
        }
    }

    /// Returns true for connections of users whom the relay serves, as far as can be told. Other
    /// machines are told apart by the token.
    pub(crate) fn is_known(&self, remote: &Remote) -> bool {
        match remote.identity.user {
            User::Own | User::Root | User::Windows => true,
            User::Other(uid) => self.users.allow(uid),
            // Elsewhere the system is not asked, and everybody is taken for this user.
            User::Unknown => self.users.allow_all() || !cfg!(target_os = "linux"),
        }
    }

    /// Returns true for connections on which an extension may come without a proof. Users of Windows
    /// cannot be told apart, so after the first proof there, extensions without one are refused.
    fn takes_unproven(&self, remote: &Remote) -> bool {
        let is_closed =
            remote.identity.user == User::Windows && self.proven_on_windows.load(Ordering::Relaxed);
        self.is_known(remote) && !is_closed
    }

    /// Notes that the extension at the other end of a connection has proven itself.
    pub(crate) fn extension_proved_itself(&self, remote: &Remote) {
        if remote.identity.user == User::Windows {
            self.proven_on_windows.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the caller shows the token for CDP, or is a user of this machine who needs none.
    pub(crate) fn trusts(&self, caller: &Caller) -> bool {
        self.tokens.open_cdp(caller, self.is_known(&caller.remote))
    }

    /// The names under which the relay may be called; `None` if every address is one.
    pub(crate) fn hosts(&self) -> Option<&[String]> {
        (!self.any_address).then_some(&self.hosts)
    }

    /// What CDP clients must show.
    pub(crate) fn token(&self) -> Option<Token> {
        self.tokens.for_cdp()
    }

    fn knows(&self, name: &str) -> bool {
        // A name can be made to point here by anybody, an address cannot.
        let is_address = || address_in(name).is_some_and(|address| !address.is_unspecified());
        self.hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
            || (self.any_address && is_address())
    }
}

/// Refuses web pages, and browsers where only programs may ask.
///
/// The extension runs in a browser and sends only requests of its own kinds. Others could be told what to ask: whoever
/// drives a browser chooses its verbs and bodies, and what it types into the address bar comes without
/// an origin.
fn check_browser(access: Access, caller: &Caller) -> Result<(), Refusal> {
    let may_be_a_browser = matches!(access, Access::Probe | Access::Hello);
    let is_let = match (caller.origin(), may_be_a_browser) {
        (Some(origin), true) => is_ours(origin),
        (Some(_), false) => false,
        (None, true) => caller.is_same_site(),
        (None, false) => !caller.is_a_browser(),
    };
    match (is_let, caller.origin().is_none() && caller.is_same_site()) {
        (true, _) => Ok(()),
        (false, true) => Err(forbidden(NO_BROWSERS)),
        (false, false) => Err(forbidden(NO_PAGES)),
    }
}

/// Refuses requests that change something and look like what a form on a web page sends.
fn check_form(access: Access, caller: &Caller) -> Result<(), Refusal> {
    let changes = matches!(access, Access::Mutate | Access::Agents | Access::Owner);
    if !changes || !caller.sends_a_form() {
        return Ok(());
    }
    let reason = "a request that changes something may not look like a form; \
                  send no body, or application/json";
    let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    Err(Refusal { status, reason: reason.into(), is_guess: false })
}

fn forbidden(reason: &'static str) -> Refusal {
    Refusal { status: StatusCode::FORBIDDEN, reason: reason.into(), is_guess: false }
}

#[cfg(test)]
mod tests;
