//! Who may talk to the relay. Every request passes here before anything reads it.
//!
//! The relay listens on loopback, but so does every page in every browser of this machine reach
//! it: a page can open WebSockets across origins, and can point a name of its own at 127.0.0.1.
//! Pages cannot forge `Host`, `Origin` and `Sec-Fetch-Site`, so these three keep pages out. Tokens
//! ([`Tokens`]) keep other programs and other machines out.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shared_protocol::ExtensionId;
use tokio::time::sleep;
use warp::http::{HeaderMap, HeaderName, StatusCode};
use warp::{Filter, Rejection};

use super::listen::Since;
use super::peer::{Remote, User};
use super::refusals::{Kind, Refusals};
use super::token::{self, Token};
use super::tokens::Tokens;
use super::users::Users;
use crate::proof::Nonce;
use crate::secret::Secret;

/// Ours (the `key` in `extension-shell/manifest.json`), and the two in the field.
const EXTENSIONS: [&str; 3] =
    [crate::EXTENSION_ID, "jfeammnjpkecdekppnclgkkffahnhfhe", "pebbngnfojnignonigcnkdilknapkgid"];

/// What a web page may send across origins without asking first.
const FORM_TYPES: [&str; 3] =
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// What this machine calls itself.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a proxy adds to what it passes on.
const FORWARDED: [&str; 18] = [
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-remote-ip",
    "x-original-forwarded-for",
    "x-original-host",
    "x-envoy-external-address",
    "x-azure-clientip",
    "x-appengine-user-ip",
    "true-client-ip",
    "client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "cdn-loop",
    "forwarded-for",
];

/// How the names of most of the headers begin that a proxy adds.
const FORWARDED_AS: &str = "x-forwarded";

/// How long the answer to a wrong token takes. Those who have shown nothing are few, so that nobody can
/// try many at once.
const WRONG_TOKEN: Duration = Duration::from_millis(500);

const NO_PAGES: &str = "web pages may not talk to the relay";

const NO_BROWSERS: &str = "only programs may ask for this, not a browser";

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

/// Under which names the relay may be called, and what must be shown.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    hosts: Vec<String>,
    /// Bound to all addresses of this machine, each of which is a name for it.
    any_address: bool,
    tokens: Tokens,
    /// The key for [`Door::Owner`], if that door is there.
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

/// What is known of a request before it is let in.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    headers: HeaderMap,
    pub(crate) query: String,
    path: String,
    pub(crate) remote: Remote,
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
    door: Door,
) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    caller()
        .and_then(move |caller: Caller| {
            let policy = Arc::clone(&policy);
            async move { policy.admit(door, &caller).await }
        })
        .untuple_one()
}

/// Who knocks.
pub(crate) fn caller() -> impl Filter<Extract = (Caller,), Error = Infallible> + Clone {
    let query = warp::query::raw().or_else(|_| async { Ok::<_, Infallible>((String::new(),)) });
    let remote = warp::ext::optional::<Remote>();
    warp::header::headers_cloned().and(query).and(warp::path::full()).and(remote).map(
        |headers, query, path: warp::path::FullPath, remote: Option<Remote>| Caller {
            headers,
            query,
            path: path.as_str().to_owned(),
            remote: remote.unwrap_or_else(Remote::nowhere),
        },
    )
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

    /// Opens [`Door::Owner`] to whoever shows the key.
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
    pub(crate) async fn admit(&self, door: Door, caller: &Caller) -> Result<(), Rejection> {
        let Err(refusal) = self.check(door, caller) else {
            // Two doors are open to everybody, which shows nothing about whoever asks there.
            if !door.is_open_to_other_users() || self.is_known(&caller.remote) {
                caller.remote.has_shown_something();
            }
            return Ok(());
        };
        let Refusal { status, reason, is_guess } = &refusal;
        let user = caller.remote.identity.user;
        if let Some(times) =
            self.refusals.note(Kind::Request { user, door, reason: reason.clone() })
        {
            let (path, peer) = (&caller.path, caller.remote.address);
            // The hint is for the one who was refused.
            let reason = reason.lines().next().unwrap_or_default();
            tracing::info!(%status, path, ?peer, ?user, times, "refused a request: {reason}");
        }
        if *is_guess {
            sleep(WRONG_TOKEN).await;
        }
        Err(warp::reject::custom(refusal))
    }

    fn check(&self, door: Door, caller: &Caller) -> Result<(), Refusal> {
        self.check_user(door, caller)?;
        let host = caller.header("host").ok_or(forbidden("the Host header is missing"))?;
        if !self.knows(host_name(host)) {
            return Err(forbidden(
                "this Host is not allowed; use 127.0.0.1 or localhost, or start the relay with \
                 --allow-host and this name",
            ));
        }
        let origin =
            caller.headers.get("origin").map(|value| value.to_str().unwrap_or("unreadable"));
        let is_ours = origin.is_some_and(is_ours);
        if matches!(door, Door::Extension | Door::Proof) {
            // Our own programs have a socket of their own, where no browser comes.
            let is_here = caller.is_on_this_machine() && caller.remote.address.is_some();
            return match (is_ours, is_here) {
                (true, true) if door == Door::Proof || self.takes_unproven(&caller.remote) => {
                    Ok(())
                }
                (true, true) => Err(forbidden(
                    "it cannot be told which user's this extension is, and it has not proven itself",
                )),
                (true, false) => {
                    Err(forbidden("the extension must run on the same machine as the relay"))
                }
                (false, _) => Err(forbidden("only the Playwriter extension may connect here")),
            };
        }
        let may_be_a_browser = matches!(door, Door::Doorbell | Door::Hello);
        // The extension is a browser's and asks at its own doors only. Others could be told what to
        // ask: whoever drives a browser chooses its verbs and bodies, and what it types into the
        // address bar comes without an origin.
        let is_let = match (origin, may_be_a_browser) {
            (Some(_), true) => is_ours,
            (Some(_), false) => false,
            (None, true) => caller.is_same_site(),
            (None, false) => !caller.is_a_browser(),
        };
        if !is_let {
            let typed = origin.is_none() && caller.is_same_site();
            return Err(forbidden(if typed { NO_BROWSERS } else { NO_PAGES }));
        }
        let changes = matches!(door, Door::Change | Door::Agents | Door::Owner);
        if changes && caller.sends_a_form() {
            let reason = "a request that changes something may not look like a form; \
                          send no body, or application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Refusal { status, reason: reason.into(), is_guess: false });
        }
        if door == Door::Owner {
            let shows = |key: &Token| key.is_shown(&caller.headers, "");
            return match self.owner.as_ref().is_some_and(shows) && caller.is_on_this_machine() {
                true => Ok(()),
                false => Err(forbidden("only the user who started the relay may do this")),
            };
        }
        let is_known = self.is_known(&caller.remote);
        let needs_no_token = match door {
            Door::Hello => true,
            Door::Doorbell => is_known,
            Door::Extension
            | Door::Proof
            | Door::Client
            | Door::Change
            | Door::Agents
            | Door::Owner => false,
        };
        if needs_no_token && caller.is_on_this_machine() {
            return Ok(());
        }
        let is_opened = match door {
            Door::Agents => self.tokens.open_agents(caller),
            Door::Extension
            | Door::Proof
            | Door::Hello
            | Door::Doorbell
            | Door::Client
            | Door::Change
            | Door::Owner => self.trusts(caller),
        };
        match is_opened {
            true => Ok(()),
            false => Err(Refusal {
                status: StatusCode::UNAUTHORIZED,
                reason: self.tokens.wanted(door, is_known).into(),
                is_guess: token::is_any_shown(&caller.headers, &caller.query),
            }),
        }
    }

    /// Refuses other users of this machine.
    fn check_user(&self, door: Door, caller: &Caller) -> Result<(), Refusal> {
        if caller.remote.identity.is_agents {
            return Err(forbidden("agents' code may not connect to the relay by itself"));
        }
        let User::Other(uid) = caller.remote.identity.user else { return Ok(()) };
        if self.users.allow(uid) || door.is_open_to_other_users() {
            return Ok(());
        }
        let own = self.users.own();
        let reason = format!(
            "this relay is of user {own} and serves no other user; this connection is of user \
             {uid}\n\nhint: user {own} can start it with --allow-user {uid}"
        );
        Err(Refusal { status: StatusCode::FORBIDDEN, reason: reason.into(), is_guess: false })
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
    /// cannot be told apart, so the first proof there closes the door to all who have none.
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

impl Caller {
    /// Whether the request shows a token, in its header or in its address.
    pub(crate) fn shows(&self, token: &Token) -> bool {
        token.is_shown(&self.headers, &self.query)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A proxy on this machine speaks for others: what it passes on is not of this machine.
    fn is_on_this_machine(&self) -> bool {
        let calls_it_own =
            |host| OWN_NAMES.iter().any(|name| host_name(host).eq_ignore_ascii_case(name));
        self.remote.is_loopback()
            && self.header("host").is_some_and(calls_it_own)
            && !self.headers.keys().map(HeaderName::as_str).any(is_of_a_proxy)
    }

    /// Browsers say for whom they ask; other programs send no such header.
    fn is_a_browser(&self) -> bool {
        self.headers.contains_key("sec-fetch-site")
    }

    /// Whether no page has made a browser ask.
    fn is_same_site(&self) -> bool {
        self.headers.get("sec-fetch-site").is_none_or(|site| site == "none")
    }

    fn sends_a_form(&self) -> bool {
        let Some(kind) = self.header("content-type") else { return false };
        let kind = kind.split(';').next().unwrap_or_default().trim();
        FORM_TYPES.iter().any(|form| kind.eq_ignore_ascii_case(form))
    }
}

fn is_of_a_proxy(header: &str) -> bool {
    header.starts_with(FORWARDED_AS) || FORWARDED.contains(&header)
}

fn is_ours(origin: &str) -> bool {
    origin
        .strip_prefix("chrome-extension://")
        .is_some_and(|id| EXTENSIONS.map(ExtensionId::new).contains(&ExtensionId::new(id)))
}

/// The name in a `Host` header, without the port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

/// The address that a host is, with or without brackets, if it is none to be looked up.
pub(crate) fn address_in(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

fn forbidden(reason: &'static str) -> Refusal {
    Refusal { status: StatusCode::FORBIDDEN, reason: reason.into(), is_guess: false }
}

#[cfg(test)]
mod tests;
