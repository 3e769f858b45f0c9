//! Who may talk to the relay. Every request passes here before anything reads it.
//!
//! The relay listens on loopback, but so does every page in every browser of this machine reach
//! it: a page can open WebSockets across origins, and can point a name of its own at 127.0.0.1.
//! Browsers cannot forge `Host`, `Origin` and `Sec-Fetch-Site`, so these three decide.

use std::sync::Arc;

use shared_protocol::ExtensionId;
use warp::http::{HeaderMap, StatusCode};
use warp::{Filter, Rejection};

/// Ours (the `key` in `extension-shell/manifest.json`), and the two in the field.
const EXTENSIONS: [&str; 3] =
    [crate::EXTENSION_ID, "jfeammnjpkecdekppnclgkkffahnhfhe", "pebbngnfojnignonigcnkdilknapkgid"];

/// Which door a request knocks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Only an extension of ours.
    Extension,
    /// Programs of this user: anything that is no web page.
    Client,
}

/// The names under which the relay may be called.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    hosts: Vec<String>,
}

/// Why a request was not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) reason: String,
}

impl warp::reject::Reject for Refusal {}

/// Lets a request pass or rejects it with a [`Refusal`].
pub(crate) fn admitted(
    policy: Arc<Policy>,
    door: Door,
) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    warp::header::headers_cloned()
        .and_then(move |headers: HeaderMap| {
            let verdict = policy.admit(door, &headers).map_err(warp::reject::custom);
            std::future::ready(verdict)
        })
        .untuple_one()
}

impl Policy {
    /// Loopback by its three names, and the host that the user bound.
    pub(crate) fn new(host: &str) -> Self {
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        let bound = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        if !hosts.contains(&bound) {
            hosts.push(bound);
        }
        Self { hosts }
    }

    fn admit(&self, door: Door, headers: &HeaderMap) -> Result<(), Refusal> {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = header("host").ok_or_else(|| refusal("the Host header is missing"))?;
        if !self.hosts.iter().any(|allowed| host_name(host).eq_ignore_ascii_case(allowed)) {
            return Err(refusal("this Host is not allowed; use 127.0.0.1 or localhost"));
        }
        let origin = headers.get("origin").map(|value| value.to_str().unwrap_or("unreadable"));
        match (door, origin) {
            (_, Some(origin)) if is_ours(origin) => Ok(()),
            (Door::Extension, _) => Err(refusal("only the Playwriter extension may connect here")),
            (Door::Client, Some(_)) => Err(refusal("web pages may not talk to the relay")),
            (Door::Client, None) => match header("sec-fetch-site") {
                None | Some("none") => Ok(()),
                Some(_) => Err(refusal("web pages may not talk to the relay")),
            },
        }
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

fn refusal(reason: &str) -> Refusal {
    Refusal { status: StatusCode::FORBIDDEN, reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_on_this_machine_come_in() {
        for host in ["127.0.0.1:19988", "localhost:19988", "LOCALHOST", "[::1]:19988"] {
            assert!(admit(Door::Client, &[("host", host)]), "{host}");
        }
    }

    #[test]
    fn a_foreign_name_for_this_machine_is_refused() {
        for host in ["evil.example:19988", "0.0.0.0:19988", "127.0.0.1.evil.example", ""] {
            assert!(!admit(Door::Client, &[("host", host)]), "{host}");
        }
        assert!(!admit(Door::Client, &[]));
    }

    #[test]
    fn a_web_page_is_refused_at_every_door() {
        for header in [
            ("origin", "https://evil.example"),
            ("origin", "http://127.0.0.1:19988"),
            ("origin", "null"),
            ("origin", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            for door in [Door::Client, Door::Extension] {
                assert!(!admit(door, &[("host", "127.0.0.1:19988"), header]), "{header:?}");
            }
        }
    }

    #[test]
    fn only_our_extensions_come_in_as_extensions() {
        let host = ("host", "127.0.0.1:19988");
        assert!(!admit(Door::Extension, &[host]));
        for id in EXTENSIONS {
            let origin = format!("chrome-extension://{id}");
            assert!(admit(Door::Extension, &[host, ("origin", &origin)]), "{id}");
        }
    }

    #[test]
    fn an_address_typed_into_the_browser_is_no_web_page() {
        assert!(admit(Door::Client, &[("host", "localhost:1"), ("sec-fetch-site", "none")]));
    }

    fn admit(door: Door, headers: &[(&'static str, &str)]) -> bool {
        let map = headers.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect();
        Policy::new("127.0.0.1").admit(door, &map).is_ok()
    }
}
