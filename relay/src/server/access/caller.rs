//! The one who sends a request: its headers, its address, and the user at the other end.

use std::convert::Infallible;
use std::net::IpAddr;

use shared_protocol::ExtensionId;
use warp::Filter;
use warp::http::{HeaderMap, HeaderName};

use super::peer::Remote;
use crate::trust::Token;

/// Ours (the `key` in `extension-shell/manifest.json`), and the two in the field.
pub(super) const EXTENSIONS: [&str; 3] =
    [crate::EXTENSION_ID, "jfeammnjpkecdekppnclgkkffahnhfhe", "pebbngnfojnignonigcnkdilknapkgid"];

/// The content types that a web page may send across origins without a preflight request.
pub(super) const FORM_TYPES: [&str; 3] =
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// The names that this machine has for itself.
pub(super) const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The headers that a proxy adds to forwarded requests.
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

/// The beginning of most names of headers that a proxy adds.
const FORWARDED_AS: &str = "x-forwarded";

/// The facts about a request that are known before it is let in.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(super) headers: HeaderMap,
    pub(crate) query: String,
    pub(super) path: String,
    pub(crate) remote: Remote,
}

/// Extracts the caller of a request.
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

impl Caller {
    /// Returns `true` if the request shows a token, in its header or in its address.
    pub(crate) fn shows(&self, token: &Token) -> bool {
        token.is_shown(&self.headers, &self.query)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The `Origin`; one that cannot be read is none of ours.
    pub(super) fn origin(&self) -> Option<&str> {
        self.headers.get("origin").map(|value| value.to_str().unwrap_or("unreadable"))
    }

    /// A proxy on this machine speaks for others: what it passes on is not of this machine.
    pub(super) fn is_on_this_machine(&self) -> bool {
        let calls_it_own =
            |host| OWN_NAMES.iter().any(|name| host_name(host).eq_ignore_ascii_case(name));
        self.remote.is_loopback()
            && self.header("host").is_some_and(calls_it_own)
            && !self.headers.keys().map(HeaderName::as_str).any(is_of_a_proxy)
    }

    /// Returns `true` for a browser: browsers name the site of a request; other programs send no such
    /// header.
    pub(super) fn is_a_browser(&self) -> bool {
        self.headers.contains_key("sec-fetch-site")
    }

    /// Returns `true` if no web page made a browser send the request.
    pub(super) fn is_same_site(&self) -> bool {
        self.headers.get("sec-fetch-site").is_none_or(|site| site == "none")
    }

    pub(super) fn sends_a_form(&self) -> bool {
        let Some(kind) = self.header("content-type") else { return false };
        let kind = kind.split(';').next().unwrap_or_default().trim();
        FORM_TYPES.iter().any(|form| kind.eq_ignore_ascii_case(form))
    }
}

fn is_of_a_proxy(header: &str) -> bool {
    header.starts_with(FORWARDED_AS) || FORWARDED.contains(&header)
}

pub(super) fn is_ours(origin: &str) -> bool {
    origin
        .strip_prefix("chrome-extension://")
        .is_some_and(|id| EXTENSIONS.map(ExtensionId::new).contains(&ExtensionId::new(id)))
}

/// The name in a `Host` header, without the port.
pub(super) fn host_name(host: &str) -> &str {
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
