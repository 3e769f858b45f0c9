//! The bodies of `/json/version` and `/json/list`, from which clients learn where to connect.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use shared_protocol::TargetId;

use crate::trust::Token;
use relay_core::Relay;
use relay_core::payload::TargetInfo;

/// The address at which the caller reached the relay. The addresses in answers follow the caller's
/// own `Host`, so that they work through a tunnel, and carry the token that it has shown: some
/// clients have no other place for it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) host: String,
    /// True if a proxy between them encrypts.
    pub(crate) is_encrypted: bool,
    pub(crate) token: Option<Token>,
    /// The query parameters of the caller's own address for browser and windows, for the same reason.
    pub(crate) forwarded_query: Vec<String>,
}

/// Parameters of the socket's address that an address for discovery may have, too.
const FORWARDED: [&str; 2] = ["extensionId", "separateWindow"];

impl Address {
    fn socket(&self, path: &str) -> String {
        let token = self.token.as_ref().map(Token::as_query);
        let query: Vec<&str> = token
            .iter()
            .map(String::as_str)
            .chain(self.forwarded_query.iter().map(String::as_str))
            .collect();
        let question = if query.is_empty() { "" } else { "?" };
        let scheme = if self.is_encrypted { "wss" } else { "ws" };
        format!("{scheme}://{}{path}{question}{}", self.host, query.join("&"))
    }

    /// Returns the browser that the caller wants, if there are several.
    fn extension(&self) -> Option<String> {
        let named =
            self.forwarded_query.iter().find_map(|pair| pair.strip_prefix("extensionId="))?;
        Some(percent_decode_str(named).decode_utf8_lossy().into_owned())
    }
}

/// Returns the forwarded parameters of a query, as they are written there.
pub(crate) fn forwarded_query(query: &str) -> Vec<String> {
    let is_forwarded =
        |pair: &&str| FORWARDED.contains(&pair.split('=').next().unwrap_or_default());
    query.split('&').filter(is_forwarded).map(str::to_owned).collect()
}

/// `/json/version`
pub(crate) fn version(relay: &Relay, browser_id: &TargetId, address: &Address) -> Value {
    let url = address.socket(&format!("/devtools/browser/{browser_id}"));
    relay.browser_version(address.extension().as_deref()).http(&url)
}

/// `/json/list`; with `?for_tab`, also the tabs around the pages.
pub(crate) fn list(relay: &Relay, for_tab: bool, address: &Address) -> Value {
    let entry =
        |info: &TargetInfo| entry(&info.target_id, &info.kind, &info.title, &info.url, address);
    let tabs: Vec<TargetInfo> = if for_tab { relay.tabs().collect() } else { Vec::new() };
    relay.pages().chain(&tabs).map(entry).collect()
}

/// Returns one page of `/json/list`; the relay need not know the page yet.
pub(crate) fn page(relay: &Relay, id: &TargetId, url: &str, address: &Address) -> Value {
    match relay.pages().find(|info| info.target_id == *id) {
        Some(info) => entry(id, &info.kind, &info.title, &info.url, address),
        None => entry(id, "page", "", url, address),
    }
}

fn entry(id: &TargetId, kind: &str, title: &str, url: &str, address: &Address) -> Value {
    json!({
        "description": "",
        "devtoolsFrontendUrl": "",
        "id": id,
        "title": title,
        "type": kind,
        "url": url,
        "webSocketDebuggerUrl": address.socket(&format!("/devtools/page/{id}")),
    })
}
