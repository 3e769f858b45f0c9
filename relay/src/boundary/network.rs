//! The ports that agents' code may connect to.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Web servers, and those that developers run: what `page.request`, `route.fetch` and `fetch` are
/// used for. The gaps are databases (5432), remote desktops (5900) and window systems (6000).
const WEB: [RangeInclusive<u16>; 9] = [
    80..=80,
    443..=443,
    3000..=3999,
    4000..=4999,
    5000..=5431,
    5500..=5899,
    7000..=7999,
    8000..=8999,
    9000..=9199,
];

/// Names that do not fit into a datagram are asked for over TCP.
const DNS: u16 = 53;

/// The servers that agents' code may connect to by itself, beside the browser. Never a relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentsNetwork {
    /// Allows no server, and no lookups of names.
    None,
    /// The usual ports of web servers and development servers, and these.
    Web(Vec<u16>),
    /// Allows every port but those of relays.
    All,
}

/// A word that names no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not one of none, web, all, or web and more ports such as web,9443")]
pub struct UnknownNetwork(String);

/// Ports from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports(pub(crate) u16, pub(crate) u16);

impl AgentsNetwork {
    /// Returns the ports that are open, but for `closed`.
    pub(crate) fn ports(&self, closed: &BTreeSet<u16>) -> Vec<Ports> {
        let open: Vec<RangeInclusive<u16>> = match self {
            Self::None => Vec::new(),
            Self::Web(more) => {
                let more = more.iter().copied().chain([DNS]).map(|port| port..=port);
                WEB.into_iter().chain(more).collect()
            }
            Self::All => vec![1..=u16::MAX],
        };
        open.into_iter().flat_map(|ports| without(ports, closed)).collect()
    }

    /// Returns whether datagrams may be sent, which looking up names needs.
    pub(crate) fn has_datagrams(&self) -> bool {
        *self != Self::None
    }
}

impl Default for AgentsNetwork {
    fn default() -> Self {
        Self::Web(Vec::new())
    }
}

impl fmt::Display for AgentsNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Web(more) => {
                f.write_str("web")?;
                more.iter().try_for_each(|port| write!(f, ",{port}"))
            }
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for AgentsNetwork {
    type Err = UnknownNetwork;

    fn from_str(said: &str) -> Result<Self, UnknownNetwork> {
        let unknown = || UnknownNetwork(said.to_owned());
        match said {
            "none" => return Ok(Self::None),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let mut words = said.split(',');
        if words.next() != Some("web") {
            return Err(unknown());
        }
        let more = words.map(|port| port.parse().ok().filter(|port| *port > 0));
        more.collect::<Option<_>>().map(Self::Web).ok_or_else(unknown)
    }
}

/// Returns the parts of a range between the ports that are closed.
fn without(ports: RangeInclusive<u16>, closed: &BTreeSet<u16>) -> Vec<Ports> {
    let mut parts = Vec::new();
    let mut first = Some(*ports.start());
    for &port in closed.range(ports.clone()) {
        if let Some(first) = first.filter(|first| *first < port) {
            parts.push(Ports(first, port - 1));
        }
        first = port.checked_add(1);
    }
    parts.extend(first.filter(|first| first <= ports.end()).map(|it| Ports(it, *ports.end())));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read_as_they_are_shown() {
        for said in ["none", "web", "web,9443", "web,9443,22", "all"] {
            assert_eq!(said.parse::<AgentsNetwork>().unwrap().to_string(), said);
        }
        for said in ["", "none,80", "all,1", "web,", "web,0", "web,70000", "9443", "WEB"] {
            assert!(said.parse::<AgentsNetwork>().is_err(), "{said}");
        }
    }

    #[test]
    fn a_relay_s_port_is_in_no_network() {
        let closed = BTreeSet::from([1, 443, 8000, 8500, 9443, 65535]);
        for said in ["none", "web", "web,9443", "all"] {
            let network: AgentsNetwork = said.parse().unwrap();
            let ports = network.ports(&closed);
            let is_open = |port| ports.iter().any(|it| it.0 <= port && port <= it.1);
            assert!(closed.iter().all(|port| !is_open(*port)), "{said}: {ports:?}");
            for port in [80, 3000, 8001, 8499, 8501, 9199] {
                assert_eq!(is_open(port), said != "none", "{said} {port}");
            }
            for port in [22, 5432, 19988, 65534] {
                assert_eq!(is_open(port), said == "all", "{said} {port}");
            }
            assert!(ports.iter().all(|it| it.0 <= it.1));
        }
    }
}
