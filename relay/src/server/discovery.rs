//! The bodies of `/json/version` and `/json/list`, from which clients learn where to connect.

use serde_json::{Value, json};
use shared_protocol::TargetId;

use super::token::Token;
use crate::payload::TargetInfo;
use crate::state::Relay;

/// Where the asker reached the relay. Addresses follow its own `Host`, so that they work through a
/// tunnel, and carry the token that it has shown: some clients have no other place for it.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) token: Option<Token>,
}

impl Address {
    fn socket(&self, path: &str) -> String {
        let query = self.token.as_ref().map(|token| format!("?{}", token.as_query()));
        format!("ws://{}{path}{}", self.host, query.unwrap_or_default())
    }
}

/// `/json/version`
pub(crate) fn version(relay: &Relay, browser_id: &TargetId, address: &Address) -> Value {
    let url = address.socket(&format!("/devtools/browser/{browser_id}"));
    relay.browser_version().http(&url)
}

/// `/json/list`
pub(crate) fn list(relay: &Relay, address: &Address) -> Value {
    let entry =
        |info: &TargetInfo| entry(&info.target_id, &info.kind, &info.title, &info.url, address);
    relay.pages().map(entry).collect()
}

/// One page of `/json/list`, whether or not it is there yet.
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
