//! The bodies of `/json/version` and `/json/list`, from which clients learn where to connect.

use serde_json::{Value, json};
use shared_protocol::TargetId;

use crate::browser_version::BrowserVersion;
use crate::state::Relay;

/// `/json/version`. The address follows the client's own `Host`, so that it works through a tunnel.
pub(crate) fn version(relay: &Relay, browser_id: &TargetId, host: &str) -> Value {
    let url = format!("ws://{host}/devtools/browser/{browser_id}");
    BrowserVersion::of(relay.default_user_agent()).http(&url)
}

/// `/json/list`
pub(crate) fn list(relay: &Relay, host: &str) -> Value {
    let entry = |info: &crate::payload::TargetInfo| {
        let id = &info.target_id;
        json!({
            "description": "",
            "devtoolsFrontendUrl": "",
            "id": id,
            "title": info.title,
            "type": info.kind,
            "url": info.url,
            "webSocketDebuggerUrl": format!("ws://{host}/devtools/page/{id}"),
        })
    };
    relay.pages().map(entry).collect()
}
