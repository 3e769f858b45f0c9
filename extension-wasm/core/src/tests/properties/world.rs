//! The world around the machine: Chrome, the clock and the relay. It checks everything that the relay
//! hears.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use shared_protocol::http::RELAY_NAME;
use shared_protocol::pairing::{Key, KeyId, RelayHello, VERSION};
use shared_protocol::{CdpEvent, ExtensionMessage, TabId};

use super::Move;
use crate::tests::{Json, info};
use crate::{
    Attempt, Effect, GroupId, HelloAnswer, Input, PairingKey, Place, ProofFailure, Settings,
    Snapshot, StoredKey, Unresponsive, WindowId, Worker,
};

/// A worker, and what the world around it has seen and owes it.
pub(super) struct World {
    worker: Worker<Json>,
    under_way: Vec<Effect<Json>>,
    snapshot: Snapshot<Json>,
    attempt: Attempt,
    is_open: bool,
    last_request: i64,
    next_tab: i32,
    /// The events of tabs are numbered.
    last_told: u64,
    last_heard: u64,
    /// Requests of the relay that now is.
    pub(super) unanswered: BTreeSet<i64>,
    /// Sessions that the relay has been told of and not been told to forget, by target.
    announced: BTreeMap<String, String>,
    /// All session names so far, by target: none may stand for two attachments.
    ended: BTreeSet<String>,
}

impl World {
    pub(super) fn new() -> Self {
        let mut world = Self {
            worker: Worker::default(),
            under_way: Vec::new(),
            snapshot: Snapshot::default(),
            attempt: Attempt(0),
            is_open: false,
            last_request: 0,
            next_tab: 100,
            last_told: 0,
            last_heard: 0,
            unanswered: BTreeSet::new(),
            announced: BTreeMap::new(),
            ended: BTreeSet::new(),
        };
        world.start().expect("a start breaks nothing");
        world
    }

    fn start(&mut self) -> Result<(), TestCaseError> {
        let settings = Settings { port: Some(1), tab_groups: true };
        let (hello, snapshot) = (Box::default(), Box::new(self.snapshot.clone()));
        self.feed(Input::Started { settings, hello, snapshot })
    }

    pub(super) fn make(&mut self, next: Move) -> Result<(), TestCaseError> {
        match next {
            Move::Click(tab) => self.feed(Input::IconClicked { tab: TabId(tab) }),
            Move::ReleaseAll => self.feed(Input::ReleaseAll),
            Move::Command { session, method } => {
                let session = format!("pw-tab-{session}");
                self.request(json!({ "method": method, "sessionId": session, "params": {} }))
            }
            Move::CreateTarget => self.request(json!({ "method": "Target.createTarget" })),
            Move::Request { method, params } => {
                let params = serde_json::from_str(params).expect("JSON");
                self.ask(method, params)
            }
            Move::TabUnresponsive(tab) => {
                self.feed(Input::TabUnresponsive { tab: TabId(tab), reason: Unresponsive::Blocked })
            }
            Move::TabReplaced(tab) => {
                self.next_tab += 1;
                self.feed(Input::TabReplaced { tab: TabId(tab), by: TabId(self.next_tab) })
            }
            Move::DebuggerTakenAway { tab, reason } => {
                self.feed(Input::DebuggerDetached { tab: TabId(tab), reason: reason.to_owned() })
            }
            Move::TabClosed(tab) => self.feed(Input::TabRemoved { tab: TabId(tab) }),
            Move::TabNavigated(tab) => self.feed(Input::TabNavigated { tab: TabId(tab) }),
            Move::TabRegrouped(tab, group) => {
                self.feed(Input::TabRegrouped { tab: TabId(tab), group: group.map(GroupId) })
            }
            Move::Crash(tab) => self.feed(Input::DebuggerEvent {
                tab: TabId(tab),
                session: None,
                method: "Inspector.targetCrashed".to_owned(),
                params: Json(json!({})),
            }),
            Move::Tells(tab) => {
                self.last_told += 1;
                self.feed(Input::DebuggerEvent {
                    tab: TabId(tab),
                    session: None,
                    method: "Runtime.consoleAPICalled".to_owned(),
                    params: Json(json!({ "number": self.last_told })),
                })
            }
            Move::PopupOf(opener) => {
                self.next_tab += 1;
                let (tab, opener) = (TabId(self.next_tab), TabId(opener));
                self.feed(Input::PopupOpened { tab, opener, url: "about:blank".to_owned() })
            }
            Move::RelayLost(code) => {
                let was_open = std::mem::take(&mut self.is_open);
                if was_open {
                    self.relay_forgets();
                    self.feed(Input::SocketClosed { attempt: self.attempt, code })?;
                }
                Ok(())
            }
            Move::WindowMode(separate) => self.relay_sent(
                json!({ "method": "setWindowMode", "params": { "separateWindow": separate } }),
            ),
            Move::Answer { which, fails } => self.answer(which, fails),
            Move::WorkerDies => {
                self.is_open = false;
                self.relay_forgets();
                self.under_way.clear();
                self.worker = Worker::default();
                self.attempt = Attempt(0);
                self.start()
            }
        }
    }

    fn relay_forgets(&mut self) {
        self.unanswered.clear();
        self.announced.clear();
    }

    fn request(&mut self, params: serde_json::Value) -> Result<(), TestCaseError> {
        self.ask("forwardCDPCommand", params)
    }

    fn ask(&mut self, method: &str, params: serde_json::Value) -> Result<(), TestCaseError> {
        if !self.is_open {
            return Ok(());
        }
        self.last_request += 1;
        self.unanswered.insert(self.last_request);
        self.relay_sent(json!({ "id": self.last_request, "method": method, "params": params }))
    }

    fn relay_sent(&mut self, message: serde_json::Value) -> Result<(), TestCaseError> {
        if !self.is_open {
            return Ok(());
        }
        let message = serde_json::from_value(message).expect("a message of ours");
        self.feed(Input::RelaySent { attempt: self.attempt, message })
    }

    pub(super) fn answer_everything(&mut self) -> Result<(), TestCaseError> {
        // Every retry of the connection starts another, so there is no end but this.
        for _ in 0..2000 {
            let due = self.under_way.iter().position(|effect| {
                !matches!(
                    effect,
                    Effect::RetryLater { .. }
                        | Effect::RetryAfter { .. }
                        | Effect::ReattachLater { .. }
                )
            });
            let Some(due) = due else { break };
            self.answer(due, false)?;
        }
        Ok(())
    }

    /// Ends one of the effects that are under way.
    fn answer(&mut self, which: usize, fails: bool) -> Result<(), TestCaseError> {
        if self.under_way.is_empty() {
            return Ok(());
        }
        let effect = self.under_way.remove(which % self.under_way.len());
        let why = || "Another debugger is already attached".to_owned();
        match effect {
            Effect::ReadKey { attempt } => {
                let key = PairingKey { kid: KeyId([1; 8]), key: Key([1; 32]), port: None };
                let stored = if fails { StoredKey::Key(key) } else { StoredKey::Unpaired };
                self.feed(Input::KeyRead { attempt, stored })
            }
            Effect::AskHello { attempt, .. } => {
                let answer = if fails { HelloAnswer::Other } else { hello_answer() };
                self.feed(Input::HelloAnswered { attempt, answer })
            }
            Effect::OpenSocket { attempt, key: Some(_), .. } if fails => {
                self.feed(Input::RelayUnproven { attempt, why: ProofFailure::NoProof })
            }
            Effect::RetryAfter { attempt, .. } => self.feed(Input::RetryDue { attempt }),
            Effect::Probe { attempt, .. } => self.feed(Input::Probed { attempt, found: !fails }),
            Effect::AskStatus { attempt, .. } => {
                self.feed(Input::StatusAnswered { attempt, is_taken: fails })
            }
            Effect::OpenSocket { attempt, .. } if fails => {
                self.feed(Input::SocketClosed { attempt, code: 1006 })
            }
            Effect::OpenSocket { attempt, .. } => {
                (self.attempt, self.is_open) = (attempt, true);
                self.feed(Input::SocketOpened { attempt })
            }
            Effect::RetryLater { attempt } => self.feed(Input::RetryDue { attempt }),
            Effect::GiveRelayUpLater { attempt } => self.feed(Input::RelayGivenUp { attempt }),
            Effect::Attach { tab } => {
                let target = format!("T{tab}");
                let outcome = if fails { Err(why()) } else { Ok(info(&target)) };
                self.feed(Input::Attached { tab, outcome })
            }
            Effect::Detach { tab } => self.feed(Input::Detached { tab }),
            Effect::CheckTab { tab } | Effect::ReattachLater { tab, .. } => {
                self.feed(Input::TabChecked { tab, exists: !fails })
            }
            Effect::RunCommand { request: Some(request), .. } => {
                let outcome = if fails { Err(why()) } else { Ok(Json(json!({}))) };
                self.feed(Input::CommandDone { request, outcome })
            }
            Effect::CreateTab { request, place, .. } => {
                self.next_tab += 1;
                let window = matches!(place, Place::NewSeparateWindow | Place::SeparateWindow(_));
                let tab = (TabId(self.next_tab), window.then_some(WindowId(9)));
                let outcome = if fails { Err(why()) } else { Ok(tab) };
                self.feed(Input::TabCreated { request, outcome })
            }
            Effect::ReadWindow { request, .. } => {
                let outcome = Err("No window with id: 9.".to_owned());
                self.feed(Input::WindowRead { request, outcome })
            }
            Effect::ChangeWindow { request, .. }
            | Effect::LeavePage { request, .. }
            | Effect::ActivateTab { request, .. }
            | Effect::SetPermissions { request: Some(request), .. }
            | Effect::CancelDownload { request, .. } => {
                let outcome = if fails { Err(why()) } else { Ok(()) };
                self.feed(Input::Done { request, outcome })
            }
            Effect::SearchDownload { request, .. } => {
                let state = if fails { "in_progress" } else { "complete" };
                let found = serde_json::from_value(json!({ "id": 1, "state": state }));
                let outcome = Ok(found.expect("a download"));
                self.feed(Input::DownloadSearched { request, outcome })
            }
            Effect::DownloadOverdueLater { request } => {
                self.feed(Input::DownloadOverdue { request })
            }
            Effect::CallCookies { request, .. } => {
                let answers = serde_json::from_value(json!({ "cookies": [null] }));
                let answers = answers.expect("answers");
                self.feed(Input::CookiesAnswered { request, answers })
            }
            Effect::CloseTabs { tabs } => {
                for tab in tabs {
                    self.feed(Input::TabRemoved { tab })?;
                }
                Ok(())
            }
            Effect::Group { .. } => {
                self.feed(Input::Grouped { group: (!fails).then_some(GroupId(50)) })
            }
            Effect::TryUngroup { tab, .. } => {
                self.feed(Input::UngroupTried { tab, is_dragged: Some(true) })
            }
            Effect::ReadGroup { tab } => {
                self.feed(Input::GroupRead { tab, group: fails.then_some(GroupId(50)) })
            }
            Effect::AwaitOldRelay { .. } => self.feed(Input::OldRelayDrained),
            Effect::StopRenderingLater { tab, uses } => {
                self.feed(Input::StopRenderingDue { tab, uses })
            }
            Effect::ForceFrameLater { tab, request, forced } => {
                self.feed(Input::ForceFrameDue { tab, request, forced })
            }
            Effect::ShowToolbar { tab, .. } => self.feed(Input::ToolbarShown { tab }),
            Effect::CloseSocket
            | Effect::RememberPaired
            | Effect::ShowProblem { .. }
            | Effect::Send(_)
            | Effect::ReadTargetInfo { .. }
            | Effect::RunCommand { request: None, .. }
            | Effect::SetPermissions { request: None, .. }
            | Effect::Ungroup { .. }
            | Effect::Persist(_) => Ok(()),
        }
    }

    fn feed(&mut self, input: Input<Json>) -> Result<(), TestCaseError> {
        let said = format!("{input:?}");
        for effect in self.worker.handle(input) {
            match effect {
                Effect::Send(message) => {
                    prop_assert!(self.is_open, "said to nobody, after {said}: {message:?}");
                    self.hear(message)?;
                }
                Effect::Persist(snapshot) => {
                    let stored = serde_json::to_value(&snapshot).expect("it can be stored");
                    self.snapshot = serde_json::from_value(stored).expect("it can be read again");
                }
                Effect::ReattachLater { wait, .. } if wait > Duration::from_secs(100) => {
                    prop_assert!(false, "waits for ever, after {said}");
                }
                other => self.under_way.push(other),
            }
        }
        Ok(())
    }

    /// Checks a message as the relay sees it.
    fn hear(&mut self, message: ExtensionMessage<Json>) -> Result<(), TestCaseError> {
        match message {
            ExtensionMessage::Reply { id, .. } => {
                prop_assert!(self.unanswered.remove(&id.0), "answered twice: {id}");
            }
            ExtensionMessage::Event(CdpEvent { session_id: None, method, params, .. }) => {
                let params = params.expect("an announcement says of what").0;
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                match method.as_str() {
                    "Target.attachedToTarget" => {
                        prop_assert!(!self.ended.contains(&session), "used twice: {session}");
                        let url = params["targetInfo"]["url"].as_str().unwrap_or_default();
                        prop_assert!(!url.is_empty(), "announced without an address");
                        let target = params["targetInfo"]["targetId"].to_string();
                        let known = self.announced.insert(session.clone(), target);
                        prop_assert!(known.is_none(), "announced twice: {session}");
                    }
                    "Target.detachedFromTarget" => {
                        let known = self.announced.remove(&session);
                        prop_assert!(known.is_some(), "ended before it began: {session}");
                        self.ended.insert(session);
                    }
                    _ => {}
                }
            }
            ExtensionMessage::Event(CdpEvent { session_id: Some(session), params, .. }) => {
                let known = self.announced.contains_key(session.as_str());
                prop_assert!(known, "an event of nobody: {session}");
                if let Some(number) = params.and_then(|params| params.0["number"].as_u64()) {
                    prop_assert!(number > self.last_heard, "told twice, or too late: {number}");
                    self.last_heard = number;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn hello_answer() -> HelloAnswer {
    let pairing = vec![VERSION.to_owned()];
    HelloAnswer::Relay(RelayHello { name: RELAY_NAME.to_owned(), pairing, required: false })
}
