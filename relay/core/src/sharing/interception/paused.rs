//! The requests that Chrome has paused, and which session decides about each next.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use shared_protocol::Payload as _;

use crate::cdp::payload::Payload;
use crate::ids::SessionRef;
use crate::turn::Turn;

/// The largest number of held requests that are followed on one target; the oldest are left to the
/// sessions that have them. Chrome does not tell when a page gives up a held request.
const MAX_PAUSED: usize = 4096;

/// The requests that Chrome holds for us, oldest first.
#[derive(Debug, Default)]
pub(crate) struct PausedRequests(pub(super) VecDeque<Paused>);

#[derive(Debug)]
pub(super) struct Paused {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) event: Payload,
    pub(super) at_response: bool,
    pub(super) holder: SessionRef,
    /// The sessions that are asked next, the last first.
    pub(super) next: Vec<SessionRef>,
    /// The changes that sessions asked for when they continued the request.
    pub(super) changes: Map<String, Value>,
    /// The sessions that want to see the response.
    pub(super) wants_response: Vec<SessionRef>,
    /// True if Chrome has the request, and only its response is awaited.
    pub(super) awaits_response: bool,
}

impl PausedRequests {
    pub(super) fn add(&mut self, paused: Paused) {
        if self.0.len() >= MAX_PAUSED {
            let resting = self.0.iter().position(|paused| paused.awaits_response);
            self.0.remove(resting.unwrap_or(0));
        }
        self.0.push_back(paused);
    }

    /// Records that Chrome continues a request, which may come back with its response.
    pub(super) fn released_to_chrome(&mut self, id: &str) {
        let Some(index) = self.0.iter().position(|paused| paused.id == id) else { return };
        if self.0[index].wants_response.is_empty() {
            self.0.remove(index);
        } else {
            self.0[index].await_response();
        }
    }

    /// A session wants to decide about nothing any more, except what it holds.
    pub(super) fn forget(&mut self, session_ref: &SessionRef) {
        for paused in &mut self.0 {
            paused.next.retain(|other| other != session_ref);
            paused.wants_response.retain(|other| other != session_ref);
        }
        self.0.retain(|paused| !paused.awaits_response || !paused.wants_response.is_empty());
    }

    /// Returns the requests that somebody has to decide about, and who.
    #[cfg(test)]
    pub(crate) fn undecided(&self) -> impl Iterator<Item = (&str, &SessionRef)> {
        let waiting = self.0.iter().filter(|paused| !paused.awaits_response);
        waiting.map(|paused| (paused.id.as_str(), &paused.holder))
    }

    #[cfg(test)]
    pub(crate) fn leftovers(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|paused| format!("{paused:?}"))
    }

    pub(super) fn find(&mut self, id: &str) -> Option<&mut Paused> {
        self.0.iter_mut().find(|paused| paused.id == id)
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Paused> {
        let index = self.0.iter().position(|paused| paused.id == id)?;
        self.0.remove(index)
    }
}

impl Paused {
    pub(super) fn offer_to_next(&mut self, turn: &mut Turn) {
        if let Some(next) = self.next.pop() {
            turn.raw_event(&next, self.method.clone(), Some(self.event.clone()));
            self.holder = next;
        }
    }

    /// Adds what another session wants changed. Each gives all headers; what it added, changed or
    /// left out is told by those that the request came with.
    pub(super) fn merge(&mut self, mut changes: Map<String, Value>) {
        const RESPONSE: &str = "interceptResponse";
        if self.changes.get(RESPONSE) == Some(&Value::Bool(true)) {
            changes.insert(RESPONSE.to_owned(), true.into());
        }
        let both = |map: &Map<String, Value>| map.get("headers").cloned();
        let (Some(earlier), Some(later)) = (both(&self.changes), both(&changes)) else {
            return self.changes.extend(changes);
        };
        changes.remove("headers");
        let original: BTreeMap<String, String> = self
            .event
            .read::<RequestHeaders>()
            .map(|event| event.request.headers)
            .unwrap_or_default()
            .into_iter()
            .map(|(name, value)| (name.to_lowercase(), value))
            .collect();
        let mut merged = header_list(earlier);
        let later = header_list(later);
        merged.retain(|(name, _)| {
            let name = name.to_lowercase();
            !original.contains_key(&name) || later.iter().any(|it| it.0.to_lowercase() == name)
        });
        for (name, value) in later {
            if original.get(&name.to_lowercase()) != Some(&value) {
                merged.retain(|it| !it.0.eq_ignore_ascii_case(&name));
                merged.push((name, value));
            }
        }
        let headers: Vec<Value> =
            merged.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        self.changes.extend(changes);
        self.changes.insert("headers".to_owned(), headers.into());
    }

    fn await_response(&mut self) {
        self.awaits_response = true;
        self.event = Payload::empty_object();
        self.changes = Map::new();
    }
}

#[derive(Deserialize)]
struct RequestHeaders {
    request: HeadersOfRequest,
}

#[derive(Deserialize)]
struct HeadersOfRequest {
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

fn header_list(headers: Value) -> Vec<(String, String)> {
    #[derive(Deserialize)]
    struct Header {
        name: String,
        value: String,
    }

    let headers: Vec<Header> = serde_json::from_value(headers).unwrap_or_default();
    headers.into_iter().map(|Header { name, value }| (name, value)).collect()
}
