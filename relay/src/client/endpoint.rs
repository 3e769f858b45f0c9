//! The endpoint at which a relay can be reached.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use shared_protocol::DEFAULT_PORT;
use warp::http::Uri;

/// The address of a relay, on this machine or another.
///
/// ```
/// use relay::client::Endpoint;
///
/// assert_eq!(Endpoint::local(19988).to_string(), "http://127.0.0.1:19988");
/// let tunnel: Endpoint = "wss://relay.example/chrome/".parse()?;
/// assert_eq!(tunnel.to_string(), "https://relay.example:443/chrome");
/// let machine: Endpoint = "192.168.1.7".parse()?;
/// assert_eq!(machine.to_string(), "http://192.168.1.7:19988");
/// # Ok::<(), relay::client::UnreadableEndpoint>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    is_encrypted: bool,
    /// The host as an address has it: IPv6 in brackets.
    host: String,
    port: u16,
    /// The prefix that a proxy wants before every path: empty, or `/…` without a slash at its end.
    prefix: String,
    /// True if the endpoint was given as a port of this machine.
    is_here: bool,
}

/// A text that names no relay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the address of a relay\n\nhint: use a host, or an address that begins with http://, https://, ws:// or wss://"
)]
pub struct UnreadableEndpoint(String);

impl Endpoint {
    /// A relay on this machine.
    #[must_use]
    pub fn local(port: u16) -> Self {
        let host = "127.0.0.1".to_owned();
        Self { is_encrypted: false, host, port, prefix: String::new(), is_here: true }
    }

    /// Reads a plain host, with or without a port, or a URL. The port is for those that name none
    /// and whose scheme has none.
    ///
    /// # Errors
    ///
    /// Fails for anything else, and for URLs with a user name or a query: a secret belongs into
    /// `PLAYWRITER_TOKEN`.
    pub fn parse(text: &str, port: u16) -> Result<Self, UnreadableEndpoint> {
        let unreadable = || UnreadableEndpoint(shown(text));
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let (is_encrypted, port) = match scheme {
            "" => (false, port),
            "http" | "ws" => (false, 80),
            "https" | "wss" => (true, 443),
            _ => return Err(unreadable()),
        };
        // An IPv6 address by itself has no brackets.
        let rest = match rest.parse::<std::net::Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => rest.to_owned(),
        };
        let uri: Uri = format!("http://{rest}").parse().map_err(|_| unreadable())?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(unreadable)?;
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        if has_user || uri.query().is_some() {
            return Err(unreadable());
        }
        let port = uri.port_u16().unwrap_or(port);
        let prefix = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { is_encrypted, host: host.to_owned(), port, prefix, is_here: false })
    }

    /// Returns `true` for the relay of this machine, which commands may start. An address, even one
    /// of this machine, may be the end of a tunnel.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.is_here
    }

    /// Returns `true` if the relay is reached over TLS.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address at which a relay of this machine is asked; a name has none.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.name().parse().ok()?, self.port))
    }

    /// The host without brackets, for connecting.
    pub(super) fn name(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the relay's name for the `Host` header.
    pub(super) fn authority(&self) -> String {
        let usual = if self.is_encrypted { 443 } else { 80 };
        match self.port == usual {
            true => self.host.clone(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// A path of the relay, as the one who is asked must be told it.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// `ws://…` or `wss://…`
    #[must_use]
    pub fn socket(&self, path: &str) -> String {
        let scheme = if self.is_encrypted { "wss" } else { "ws" };
        format!("{scheme}://{}{}", self.authority(), self.path(path))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}{}", self.host, self.port, self.prefix)
    }
}

impl FromStr for Endpoint {
    type Err = UnreadableEndpoint;

    fn from_str(text: &str) -> Result<Self, UnreadableEndpoint> {
        Self::parse(text, DEFAULT_PORT)
    }
}

/// Returns the part of a text that may be repeated, as somebody may have put a secret in it.
fn shown(text: &str) -> String {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let text = &text[..end];
    match text.rfind('@') {
        Some(at) => format!("…{}", &text[at..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_addresses_of_all_kinds_are_read() {
        for (text, expected, socket) in [
            ("localhost", "http://localhost:7", "ws://localhost:7/cdp"),
            ("box:20000", "http://box:20000", "ws://box:20000/cdp"),
            ("::1", "http://[::1]:7", "ws://[::1]:7/cdp"),
            ("[::1]:9", "http://[::1]:9", "ws://[::1]:9/cdp"),
            ("http://box", "http://box:80", "ws://box/cdp"),
            ("ws://box:19988/", "http://box:19988", "ws://box:19988/cdp"),
            ("https://box/a/", "https://box:443/a", "wss://box/a/cdp"),
            ("wss://box:444", "https://box:444", "wss://box:444/cdp"),
        ] {
            let endpoint = Endpoint::parse(text, 7).unwrap();
            assert_eq!((&*endpoint.to_string(), &*endpoint.socket("/cdp")), (expected, socket));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_a_secret() {
        for (text, shown) in [
            ("", ""),
            ("ftp://box", "ftp://box"),
            ("two words", "two words"),
            ("http://", "http://"),
            ("http://me:s3cret@box/", "…@box/"),
            ("http://box/?token=s3cret", "http://box/"),
        ] {
            assert_eq!(Endpoint::parse(text, 7), Err(UnreadableEndpoint(shown.to_owned())));
        }
    }
}
