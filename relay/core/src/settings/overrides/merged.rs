//! Values that are merged from all sessions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use shared_protocol::Payload as _;

use super::OverrideValue;
use crate::cdp::payload::Payload;

/// Returns the headers of all, oldest first, later ones over earlier ones.
pub(super) fn headers(wishes: &[&OverrideValue]) -> Payload {
    #[derive(Deserialize)]
    struct Headers {
        headers: Map<String, Value>,
    }

    let mut merged: BTreeMap<String, (String, Value)> = BTreeMap::new();
    for Headers { headers } in wishes.iter().filter_map(|wish| wish.params.read().ok()) {
        for (name, value) in headers {
            merged.insert(name.to_lowercase(), (name, value));
        }
    }
    let headers: Map<String, Value> = merged.into_values().collect();
    Payload::of(&json!({ "headers": headers }))
}

/// Merges what all sessions want blocked. Chrome takes the first pattern that fits, and the newest goes
/// first; `urls` is an older form, which Chrome looks at last.
pub(super) fn blocked(wishes: &[&OverrideValue]) -> Payload {
    #[derive(Default, Deserialize, Serialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Blocked {
        #[serde(skip_serializing_if = "Vec::is_empty")]
        url_patterns: Vec<Value>,
        urls: BTreeSet<String>,
    }

    let mut merged = Blocked::default();
    for wish in wishes.iter().rev() {
        let blocked: Blocked = wish.params.read().unwrap_or_default();
        merged.url_patterns.extend(blocked.url_patterns);
        merged.urls.extend(blocked.urls);
    }
    Payload::of(&merged)
}
