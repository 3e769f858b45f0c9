//! The state of the one Chrome session that all client sessions over a target share: which domains are
//! on, and the events that a new session has to be sent again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Deserialize;
use shared_protocol::{Payload as _, RequestId};

use crate::cdp::event::{Event, Recorded};
use crate::cdp::payload::Payload;
use crate::ids::CommandNumber;
use crate::requests::deferred_replies::DeferredReply;
use crate::settings::auto_attach::ChildAttachment;
use crate::sharing::breakpoints::PauseState;
use crate::sharing::dialogs::Dialog;
use crate::sharing::interception::paused::PausedRequests;
use crate::sharing::screencast::Acknowledged;

/// The largest number of execution contexts that are kept per target; the oldest go first.
const MAX_CONTEXTS: usize = 4096;

/// The largest number of bytes of other events that are kept per target; the oldest go first.
const MAX_REPLAY_LOG: usize = 8 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct TargetState {
    /// The domains that are on in Chrome for clients.
    pub(crate) domains: BTreeMap<String, Domain>,
    /// The domains that have ever been switched on: their events are for those who did.
    pub(crate) switched: BTreeSet<String>,
    contexts: Vec<(i64, Payload)>,
    pub(crate) worker_loaded: Option<Payload>,
    replay_log: ReplayLog,
    /// The auto-attach setting that Chrome has.
    pub(crate) auto_attach: ChildAttachment,
    /// The last request to run something in the page that has ended.
    pub(crate) last_completed_run: RequestId,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) pause: PauseState,
    pub(crate) paused: PausedRequests,
    /// The last screencast frame that any session has acknowledged.
    pub(crate) acknowledged: Acknowledged,
    pub(crate) has_fonts: bool,
}

/// A domain that is on, or about to be.
#[derive(Debug)]
pub(crate) struct Domain {
    /// Tells it from the same domain before it was off, when that is answered late.
    pub(crate) attempt: CommandNumber,
    pub(crate) params: Option<Payload>,
    /// Chrome's answer, once there is one.
    pub(crate) result: Option<Payload>,
    /// The replies to the others that asked before Chrome had answered.
    pub(crate) waiting: Vec<DeferredReply>,
}

/// The events that Chrome sends only once, to the first session that asks.
#[derive(Debug, Default)]
struct ReplayLog {
    entries: VecDeque<(String, Payload)>,
    bytes: usize,
}

impl TargetState {
    /// Keeps what a later session will have to be told.
    pub(crate) fn record(&mut self, event: Event, method: &str, params: &Payload) {
        let (domain, _) = method.split_once('.').unwrap_or_default();
        if event.is_sent_once && !self.domains.contains_key(domain) {
            // It was on its way when the last who wanted it left.
            return;
        }
        match event.recorded {
            Recorded::Not => {}
            Recorded::ContextCreated => {
                if let Ok(ContextCreated { context }) = params.read() {
                    self.contexts.retain(|(id, _)| *id != context.id);
                    if self.contexts.len() >= MAX_CONTEXTS {
                        self.contexts.remove(0);
                    }
                    self.contexts.push((context.id, params.clone()));
                }
            }
            Recorded::ContextDestroyed => {
                if let Ok(ContextDestroyed { execution_context_id }) = params.read() {
                    self.contexts.retain(|(id, _)| *id != execution_context_id);
                }
            }
            Recorded::ContextsCleared => self.contexts.clear(),
            Recorded::Resumed => self.pause.is_paused = false,
            Recorded::WorkerScriptLoaded => self.worker_loaded = Some(params.clone()),
            Recorded::Replayed => self.replay_log.add(method, params.clone()),
            Recorded::StyleSheetRemoved => {
                if let Ok(StyleSheetRemoved { style_sheet_id }) = params.read() {
                    self.replay_log.remove_style_sheet(&style_sheet_id);
                }
            }
        }
    }

    /// The page itself has navigated.
    pub(crate) fn document_gone(&mut self) {
        self.replay_log = ReplayLog::default();
    }

    /// Returns what Chrome has told about a domain so far, in order.
    pub(crate) fn replay(&self, domain: &str) -> Vec<(String, Payload)> {
        let of_domain = |method: &str| method.split('.').next() == Some(domain);
        let mut events: Vec<(String, Payload)> = self
            .replay_log
            .entries
            .iter()
            .filter(|(method, _)| of_domain(method))
            .cloned()
            .collect();
        if domain == "Runtime" {
            let created = |(_, params): &(i64, Payload)| {
                ("Runtime.executionContextCreated".to_owned(), params.clone())
            };
            events.extend(self.contexts.iter().map(created));
        }
        events
    }

    /// Returns what is on for clients that have all gone; Page stays on.
    #[cfg(test)]
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let domains = self.domains.keys().filter(|domain| *domain != "Page").cloned();
        let auto_attach = self.auto_attach.is_on().then(|| "auto-attach".to_owned());
        domains.chain(auto_attach).chain(self.paused.leftovers()).collect()
    }

    /// A domain is off in Chrome.
    pub(crate) fn forget(&mut self, domain: &str) {
        self.domains.remove(domain);
        self.replay_log.forget(domain);
        match domain {
            "Runtime" => self.contexts.clear(),
            "Debugger" => self.pause = PauseState::default(),
            _ => {}
        }
    }
}

impl ReplayLog {
    fn add(&mut self, method: &str, params: Payload) {
        self.bytes += params.as_str().len();
        self.entries.push_back((method.to_owned(), params));
        while self.bytes > MAX_REPLAY_LOG
            && let Some((_, oldest)) = self.entries.pop_front()
        {
            self.bytes -= oldest.as_str().len();
        }
    }

    fn forget(&mut self, domain: &str) {
        self.retain(|method, _| method.split('.').next() != Some(domain));
    }

    fn remove_style_sheet(&mut self, id: &str) {
        let named = format!("\"styleSheetId\":\"{id}\"");
        self.retain(|method, params| {
            method != "CSS.styleSheetAdded" || !params.as_str().contains(&named)
        });
    }

    fn retain(&mut self, stays: impl Fn(&str, &Payload) -> bool) {
        self.entries.retain(|(method, params)| stays(method, params));
        self.bytes = self.entries.iter().map(|(_, params)| params.as_str().len()).sum();
    }
}

#[derive(Deserialize)]
struct ContextCreated {
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextDestroyed {
    execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StyleSheetRemoved {
    style_sheet_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_newcomer_hears_of_the_contexts_that_are_left_in_order() {
        let mut state = listening();
        for id in [3, 1, 2, 3] {
            record(
                &mut state,
                "Runtime.executionContextCreated",
                &json!({ "context": { "id": id } }),
            );
        }
        record(
            &mut state,
            "Runtime.executionContextDestroyed",
            &json!({ "executionContextId": 2 }),
        );
        assert_eq!(
            replayed(&state, "Runtime"),
            [json!({ "context": { "id": 1 } }), json!({ "context": { "id": 3 } })]
        );
        record(&mut state, "Runtime.executionContextsCleared", &json!({}));
        assert_eq!(replayed(&state, "Runtime"), Vec::<serde_json::Value>::new());
    }

    #[test]
    fn a_navigation_of_the_page_clears_the_replay_of_its_document() {
        let mut state = listening();
        record(&mut state, "Debugger.scriptParsed", &json!({ "scriptId": "1" }));
        assert_eq!(replayed(&state, "Debugger"), [json!({ "scriptId": "1" })]);
        state.document_gone();
        assert!(replayed(&state, "Debugger").is_empty());
    }

    #[test]
    fn a_style_sheet_that_has_gone_is_not_told() {
        let mut state = listening();
        for id in ["1", "2"] {
            let header = json!({ "header": { "styleSheetId": id } });
            record(&mut state, "CSS.styleSheetAdded", &header);
        }
        record(&mut state, "CSS.styleSheetRemoved", &json!({ "styleSheetId": "1" }));
        assert_eq!(replayed(&state, "CSS"), [json!({ "header": { "styleSheetId": "2" } })]);
    }

    #[test]
    fn the_journal_loses_its_oldest_entries_at_its_limit() {
        let mut state = listening();
        let long = "x".repeat(MAX_REPLAY_LOG / 2);
        for id in 1..=3 {
            record(&mut state, "Log.entryAdded", &json!({ "id": id, "text": long }));
        }
        let ids: Vec<_> =
            replayed(&state, "Log").into_iter().map(|entry| entry["id"].clone()).collect();
        assert_eq!(ids, [json!(3)]);
    }

    #[test]
    fn what_comes_after_a_domain_was_switched_off_is_not_kept() {
        let mut state = listening();
        state.forget("Log");
        record(&mut state, "Log.entryAdded", &json!({ "id": 1 }));
        assert_eq!(replayed(&state, "Log"), Vec::<serde_json::Value>::new());
    }

    fn listening() -> TargetState {
        let mut state = TargetState::default();
        for domain in ["Runtime", "Debugger", "CSS", "Log"] {
            let session = Domain {
                attempt: CommandNumber::default(),
                params: None,
                result: None,
                waiting: Vec::new(),
            };
            state.domains.insert(domain.to_owned(), session);
        }
        state
    }

    fn record(state: &mut TargetState, method: &str, params: &serde_json::Value) {
        state.record(Event::of(method), method, &Payload::of(params));
    }

    fn replayed(state: &TargetState, domain: &str) -> Vec<serde_json::Value> {
        let events = state.replay(domain).into_iter();
        events.map(|(_, params)| serde_json::from_str(params.as_str()).unwrap()).collect()
    }
}
