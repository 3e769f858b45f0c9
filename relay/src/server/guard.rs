//! Who may talk to the relay. Every request passes here before anything reads it.
//!
//! The relay listens on loopback, but so does every page in every browser of this machine reach
//! it: a page can open WebSockets across origins, and can point a name of its own at 127.0.0.1.
//! Browsers cannot forge `Host`, `Origin` and `Sec-Fetch-Site`, so these three keep pages out. The
//! token, where there is one, keeps other programs and other machines out.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use shared_protocol::ExtensionId;
use warp::http::{HeaderMap, StatusCode};
use warp::{Filter, Rejection};

use super::token::Token;

/// Ours (the `key` in `extension-shell/manifest.json`), and the two in the field.
const EXTENSIONS: [&str; 3] =
    [crate::EXTENSION_ID, "jfeammnjpkecdekppnclgkkffahnhfhe", "pebbngnfojnignonigcnkdilknapkgid"];

/// What a web page may send across origins without asking first.
const FORM_TYPES: [&str; 3] =
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// What this machine calls itself.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What a proxy adds to what it passes on.
const FORWARDED: [&str; 5] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "via"];

const NO_PAGES: &str = "web pages may not talk to the relay";

/// Which door a request knocks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// The extension's socket: only an extension of ours, in a browser on this machine.
    Extension,
    /// What the extension asks before it connects. It has no token, and Chrome sends no `Origin`
    /// with what an extension fetches, so anybody on this machine may ask.
    Doorbell,
    /// Programs of this user: anything that is no web page.
    Client,
    /// As [`Door::Client`], for requests that open and close tabs.
    Change,
    /// As [`Door::Change`], for whoever started the relay: on this machine, with the key that only
    /// this user can read, in place of the token.
    Owner,
}

/// Under which names the relay may be called, and what must be shown.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    hosts: Vec<String>,
    /// Bound to all addresses of this machine, each of which is a name for it.
    any_address: bool,
    token: Option<Token>,
    /// The key for [`Door::Owner`], if that door is there.
    owner: Option<Token>,
}

/// What is known of a request before it is let in.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    headers: HeaderMap,
    pub(crate) query: String,
    path: String,
    peer: Option<SocketAddr>,
}

/// Why a request was not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) reason: &'static str,
}

impl warp::reject::Reject for Refusal {}

/// Lets a request pass or rejects it with a [`Refusal`].
pub(crate) fn admitted(
    policy: Arc<Policy>,
    door: Door,
) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    caller()
        .and_then(move |caller: Caller| {
            std::future::ready(policy.admit(door, &caller).map_err(warp::reject::custom))
        })
        .untuple_one()
}

/// Who knocks.
pub(crate) fn caller() -> impl Filter<Extract = (Caller,), Error = Infallible> + Clone {
    let query = warp::query::raw().or_else(|_| async { Ok::<_, Infallible>((String::new(),)) });
    warp::header::headers_cloned().and(query).and(warp::path::full()).and(warp::addr::remote()).map(
        |headers, query, path: warp::path::FullPath, peer| Caller {
            headers,
            query,
            path: path.as_str().to_owned(),
            peer,
        },
    )
}

impl Policy {
    /// Loopback by its three names, the host that the user bound, and other names that the user
    /// allows.
    pub(crate) fn new(host: &str, allowed: &[String], token: Option<Token>) -> Self {
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
        Self { hosts, any_address, token, owner: None }
    }

    /// Opens [`Door::Owner`] to whoever shows the key.
    pub(crate) fn with_owner(self, owner: Option<Token>) -> Self {
        Self { owner, ..self }
    }

    /// Decides, and says in the log whom it refused. The query may hold a token, so it is left out.
    pub(crate) fn admit(&self, door: Door, caller: &Caller) -> Result<(), Refusal> {
        let verdict = self.check(door, caller);
        if let Err(Refusal { status, reason }) = &verdict {
            let (path, peer) = (&caller.path, caller.peer);
            tracing::info!(%status, path, ?peer, "refused a request: {reason}");
        }
        verdict
    }

    fn check(&self, door: Door, caller: &Caller) -> Result<(), Refusal> {
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
        if door == Door::Extension {
            return match (is_ours, caller.is_on_this_machine()) {
                (true, true) => Ok(()),
                (true, false) => {
                    Err(forbidden("the extension must run on the same machine as the relay"))
                }
                (false, _) => Err(forbidden("only the Playwriter extension may connect here")),
            };
        }
        if origin.is_some() && !is_ours {
            return Err(forbidden(NO_PAGES));
        }
        let changes = matches!(door, Door::Change | Door::Owner);
        // Whoever drives a browser can give what it loads another verb and another body: a browser
        // has nothing to change here, not even for its user.
        let is_let = match changes {
            true => !caller.is_a_browser(),
            false => is_ours || caller.is_same_site(),
        };
        if !is_let {
            return Err(forbidden(NO_PAGES));
        }
        if changes && caller.sends_a_form() {
            let reason = "a request that changes something may not look like a form; \
                          send no body, or application/json";
            return Err(Refusal { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, reason });
        }
        if door == Door::Owner {
            let shows = |key: &Token| key.is_shown(&caller.headers, "");
            return match self.owner.as_ref().is_some_and(shows) && caller.is_on_this_machine() {
                true => Ok(()),
                false => Err(forbidden("only the user who started the relay may do this")),
            };
        }
        let rings = door == Door::Doorbell && caller.is_on_this_machine();
        if self.trusts(caller) || rings {
            return Ok(());
        }
        Err(Refusal {
            status: StatusCode::UNAUTHORIZED,
            reason: "this relay wants its token: send the header `Authorization: Bearer <token>`, \
                     or add `?token=<token>` to the address",
        })
    }

    /// Whether the caller shows the token, if there is one.
    pub(crate) fn trusts(&self, caller: &Caller) -> bool {
        let is_shown = |token: &Token| token.is_shown(&caller.headers, &caller.query);
        self.token.as_ref().is_none_or(is_shown)
    }

    /// The names under which the relay may be called; `None` if every address is one.
    pub(crate) fn hosts(&self) -> Option<&[String]> {
        (!self.any_address).then_some(&self.hosts)
    }

    /// What must be shown.
    pub(crate) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    fn knows(&self, name: &str) -> bool {
        // A name can be made to point here by anybody, an address cannot.
        let is_address = || address_in(name).is_some_and(|address| !address.is_unspecified());
        self.hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
            || (self.any_address && is_address())
    }
}

impl Caller {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// A proxy on this machine speaks for others: what it passes on is not of this machine.
    fn is_on_this_machine(&self) -> bool {
        let calls_it_own =
            |host| OWN_NAMES.iter().any(|name| host_name(host).eq_ignore_ascii_case(name));
        self.peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback())
            && self.header("host").is_some_and(calls_it_own)
            && !FORWARDED.iter().any(|header| self.headers.contains_key(*header))
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
    Refusal { status: StatusCode::FORBIDDEN, reason }
}

#[cfg(test)]
mod tests;
