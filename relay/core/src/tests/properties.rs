//! Random histories: whatever clients, tabs and Chrome do, and in whatever order, every command gets
//! one answer, nothing is told twice, too early or about a session that is not there, and nothing is
//! left behind, in the relay or in Chrome.

mod chrome;
mod left;
mod seen;
mod sent;
mod tabs;

use std::collections::{BTreeMap, BTreeSet};

use shared_protocol::Features;

use super::*;
use chrome::Chrome;
use seen::Seen;
use sent::{COMMANDS, FIRST_OF_TARGETS, GENERATIONS};

const HISTORIES: u64 = 300;
const STEPS: usize = 250;

#[test]
fn every_command_has_one_answer_and_nothing_is_left_behind() {
    for seed in 0..HISTORIES {
        let history = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..STEPS {
                world.step();
            }
            world.settle();
        });
        assert!(history.is_ok(), "seed {seed}");
    }
}

/// Clients and an extension that act at random, and the messages that they have seen.
struct World {
    seed: u64,
    dice: u64,
    stage: Stage,
    now: Duration,
    extension: Option<ConnectionId>,
    /// The features that each connection understands.
    features: BTreeMap<ConnectionId, Features>,
    last_id: u64,
    /// Real sessions, by their parents.
    real: BTreeMap<String, Option<String>>,
    clients: BTreeMap<ClientId, Seen>,
    /// The commands that the extension has to answer.
    asked: Vec<Asked>,
    chrome: Chrome,
    /// True if clients get what Chrome tells in this moment, not what it told before.
    is_live: bool,
}

/// A command that the extension has been told and has to answer.
struct Asked {
    id: i64,
    method: String,
    session: Option<String>,
    /// The outcome, if Chrome executed the command.
    outcome: Result<Value, String>,
}

impl Asked {
    /// Returns `true` if the command ends a trace, which is complete when the command is answered.
    fn is_end(&self) -> bool {
        self.method == "Tracing.end" && self.outcome.is_ok()
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            seed,
            dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            stage: Stage::new(),
            now: Duration::ZERO,
            extension: None,
            features: BTreeMap::new(),
            last_id: 0,
            real: BTreeMap::new(),
            clients: BTreeMap::new(),
            asked: Vec::new(),
            chrome: Chrome::default(),
            is_live: false,
        };
        world.connect_extension();
        world
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice % sides as u64).unwrap()
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.roll(from.len())].clone()) }
    }

    /// Returns `true` for every other history: one of clients alone, on tabs that stay, with a worker
    /// that lives.
    fn is_calm(&self) -> bool {
        self.seed % 2 == 1
    }

    fn step(&mut self) {
        match self.roll(20) {
            14..=16 | 19 if self.is_calm() && !self.real.is_empty() => self.chrome_tells(),
            0 => self.connect_client(),
            1 => self.client_leaves(),
            2..=9 => self.client_sends(),
            10..=13 => self.chrome_answers(),
            14..=15 => self.target_comes(),
            16 => self.target_goes(),
            17 => self.chrome_tells(),
            18 => self.time_passes(),
            _ => self.extension_blinks(),
        }
        let undecided = self.stage.0.undecided();
        for held in self.chrome.held() {
            assert!(undecided.contains(&held), "nobody decides about {held:?}");
        }
    }

    fn connect_extension(&mut self) {
        self.last_id += 1;
        let connection = ConnectionId(self.last_id);
        // Mostly ours, so that what only it understands is seen often.
        let (version, capabilities) = GENERATIONS[self.roll(8).min(3)];
        let hello = ExtensionHello {
            install_id: Some("one".to_owned()),
            version: Some(version.to_owned()),
            capabilities: Some(capabilities.to_owned()),
            ..ExtensionHello::default()
        };
        self.features.insert(connection, Features::of(&hello));
        let user_agent = String::new();
        self.extension = Some(connection);
        self.handle(Input::ExtensionConnected { connection, hello, user_agent, proven: false });
        // The tabs first, then what is in them.
        let mut all: Vec<_> = self.real.clone().into_iter().collect();
        all.sort_by_key(|(_, parent)| parent.is_some());
        for (session, parent) in all {
            self.announce(&session, parent.as_deref());
        }
        self.extension_says(ExtensionMessage::Ready);
    }

    fn extension_blinks(&mut self) {
        let before = self.extension.take();
        for asked in std::mem::take(&mut self.asked) {
            if asked.is_end() {
                self.chrome.ends_trace();
            }
            let is_lost = self.stage.0.requests.is_pending(RequestId(asked.id));
            if let Some(session) = asked.session.filter(|_| is_lost) {
                self.chrome.is_unsure(&session);
            }
        }
        let is_replaced = self.roll(2) == 0;
        if is_replaced {
            self.connect_extension();
        }
        if let Some(connection) = before {
            self.handle(Input::ExtensionDisconnected { connection });
        }
        if !is_replaced {
            self.connect_extension();
        }
    }

    fn connect_client(&mut self) {
        if self.clients.len() >= 3 {
            return;
        }
        self.last_id += 1;
        let client = ClientId(self.last_id);
        let page =
            (self.roll(6) == 0 && self.real.contains_key("pw-tab-1")).then(|| TargetId::new("T1"));
        let mut seen = Seen::default();
        seen.sessions.insert(String::new(), "socket".to_owned());
        self.clients.insert(client, seen);
        self.handle(Input::ClientConnected {
            client,
            hello: ClientHello { page, ..ClientHello::default() },
        });
        if self.is_calm() {
            self.client_says(client, "", ("Target.setAutoAttach", AUTO_ATTACH));
        }
    }

    fn client_leaves(&mut self) {
        let clients: Vec<_> = self.clients.keys().copied().collect();
        if let Some(client) = self.pick(&clients) {
            self.clients.remove(&client);
            self.handle(Input::ClientDisconnected { client });
        }
    }

    fn client_sends(&mut self) {
        let clients: Vec<_> = self.clients.keys().copied().collect();
        let Some(client) = self.pick(&clients) else { return };
        let mut sessions: Vec<String> = self.clients[&client].sessions.keys().cloned().collect();
        sessions.extend(self.clients[&client].known.iter().next().cloned());
        let session = self.pick(&sessions).unwrap();
        let first = if self.is_calm() { FIRST_OF_TARGETS } else { 0 };
        let command = self.pick(&COMMANDS[first..]).unwrap();
        self.client_says(client, &session, command);
    }

    fn client_says(&mut self, client: ClientId, session: &str, (method, params): (&str, &str)) {
        // The client may have been refused.
        let Some(seen) = self.clients.get_mut(&client) else { return };
        self.last_id += 1;
        let id = i64::try_from(self.last_id).unwrap();
        seen.sends(session, id, method);
        let command = Command {
            id: RequestId(id),
            session: Some(SessionId::new(session)).filter(|id| !id.as_str().is_empty()),
            method: method.to_owned(),
            params: Some(serde_json::from_str(params).unwrap()),
        };
        self.handle(Input::ClientSent { client, command });
    }

    fn chrome_answers(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let index = self.roll(self.asked.len());
        let asked = self.asked.remove(index);
        self.chrome_answers_to(asked);
    }

    fn chrome_answers_to(&mut self, asked: Asked) {
        let is_end = asked.is_end();
        let Asked { id, method, session, outcome } = asked;
        let mut result = match method.as_str() {
            "Network.getCookies" => {
                json!({ "cookies": [{ "name": "a", "domain": "d", "path": "/" }] })
            }
            "callCookies" => json!({
                "cookies": [[{ "name": "a", "value": "1", "domain": "d", "path": "/" }]],
            }),
            "getWindow" => json!({
                "windowId": 1, "left": 0, "top": 0, "width": 9, "height": 9, "state": "normal",
            }),
            _ => outcome.clone().unwrap_or_default(),
        };
        match method.as_str() {
            "Target.createTarget" => {
                self.tab_comes();
                result = json!({ "targetId": "T2" });
            }
            "Target.closeTarget" => self.real_goes("pw-tab-1"),
            "createInitialTab" => {
                let tab = self.free_tab();
                self.real.insert(format!("pw-tab-{tab}"), None);
                result = json!({
                    "success": true, "tabId": 1, "sessionId": format!("pw-tab-{tab}"),
                    "targetInfo": info(&format!("T{tab}")),
                });
            }
            _ => {}
        }
        let outcome = outcome.map(|_| Some(Payload::of(&result)));
        self.extension_says(ExtensionMessage::Reply { id: RequestId(id), outcome });
        if is_end && session.as_ref().is_some_and(|session| self.real.contains_key(session)) {
            self.chrome.ends_trace();
            self.chrome_says(session.as_deref(), "Tracing.tracingComplete", &json!({}));
        }
    }

    fn chrome_tells(&mut self) {
        let all: Vec<String> = self.real.keys().cloned().collect();
        let Some(session) = self.pick(&all) else { return };
        self.last_id += 1;
        let id = i64::try_from(self.last_id).unwrap();
        let events = [
            ("Runtime.executionContextCreated", json!({ "context": { "id": id } })),
            ("Runtime.executionContextCreated", json!({ "context": { "id": id } })),
            ("Runtime.executionContextCreated", json!({ "context": { "id": id } })),
            ("Page.javascriptDialogOpening", json!({ "message": id })),
            ("Page.javascriptDialogClosed", json!({})),
            ("Fetch.requestPaused", json!({ "requestId": "R", "request": { "url": "x:" } })),
            ("Runtime.bindingCalled", json!({ "name": "b", "payload": "" })),
            ("Page.downloadWillBegin", json!({ "guid": "G", "url": "x:" })),
            ("Page.downloadProgress", json!({ "guid": "G", "state": "completed" })),
            ("Page.loadEventFired", json!({})),
        ];
        let (method, params) = self.pick(&events).unwrap();
        let is_announced_to = match method {
            "Runtime.executionContextCreated" => self.chrome.creates_context(&session, id),
            "Fetch.requestPaused" => self.chrome.holds_request(&session, "R"),
            _ => true,
        };
        if !is_announced_to {
            return;
        }
        self.is_live = true;
        self.chrome_says(Some(&session), method, &params);
        self.is_live = false;
    }

    fn time_passes(&mut self) {
        self.now += Duration::from_secs(3);
        self.handle(Input::DeadlinePassed);
    }

    fn chrome_says(&mut self, session: Option<&str>, method: &str, params: &Value) {
        self.extension_says(ExtensionMessage::Event(CdpEvent {
            session_id: session.map(SessionId::new),
            method: method.to_owned(),
            params: Some(Payload::of(params)),
            extra: Extra::default(),
        }));
    }

    fn extension_says(&mut self, message: ExtensionMessage) {
        if let Some(connection) = self.extension {
            self.handle(Input::ExtensionSent { connection, message });
        }
    }

    fn handle(&mut self, input: Input) {
        for effect in self.stage.at(self.now, input) {
            match effect {
                Effect::SendToClient { client, frame } => self.client_got(client, &frame),
                Effect::CloseClient { client, .. } => {
                    self.clients.remove(&client);
                    self.handle(Input::ClientDisconnected { client });
                }
                Effect::SendToExtension { connection, message } => {
                    let understood = self.features[&connection];
                    let is_understood = !matches!(message, RelayMessage::Unknown { .. })
                        && message.feature().is_none_or(|need| understood.has(need));
                    assert!(is_understood, "seed {}: not understood: {message:?}", self.seed);
                    if Some(connection) == self.extension {
                        self.extension_got(&message);
                    }
                }
                Effect::CopyDownload { connection, guid, .. } => {
                    let outcome = Ok(BTreeMap::new());
                    self.handle(Input::DownloadCopied { connection, guid, outcome });
                }
                Effect::CloseExtension { .. } | Effect::Log { .. } => {}
            }
        }
    }

    fn extension_got(&mut self, message: &RelayMessage) {
        let message = serde_json::to_value(message).unwrap();
        let Some(id) = message["id"].as_i64() else { return };
        let params = &message["params"];
        let method = params["method"].as_str().or(message["method"].as_str()).unwrap().to_owned();
        let session = params["sessionId"].as_str().map(str::to_owned);
        let is_asked = self.stage.0.requests.is_pending(RequestId(id));
        let refuses = self.roll(8) == 0 && is_asked && method != "createInitialTab";
        let outcome = match &session {
            Some(session) if self.real.contains_key(session) => {
                self.chrome.does(session, &method, &params["params"], refuses)
            }
            Some(_) | None if refuses => Err("it did not work".to_owned()),
            Some(_) | None => Ok(json!({})),
        };
        self.asked.push(Asked { id, method, session, outcome });
    }

    fn client_got(&mut self, client: ClientId, frame: &Frame) {
        // A message on its way to a client that has left is lost, and rightly so.
        let Some(seen) = self.clients.get_mut(&client) else { return };
        let frame = serde_json::to_value(frame).unwrap();
        if let Some((real, known)) = seen.gets(&frame, self.is_live) {
            let told = self.chrome.contexts(&real);
            assert!(known.is_superset(&told), "{told:?} of {real} was told, not {known:?}");
        }
    }

    /// Ends a history: Chrome answers everything, time passes, all clients leave.
    fn settle(&mut self) {
        for _ in 0..50 {
            self.chrome_answers_all();
        }
        for _ in 0..20 {
            self.time_passes();
            self.chrome_answers_all();
        }
        for (client, seen) in &self.clients {
            assert!(
                seen.waiting.is_empty(),
                "seed {}: {client:?} waits: {:?}",
                self.seed,
                seen.waiting
            );
        }
        for client in std::mem::take(&mut self.clients).into_keys() {
            self.handle(Input::ClientDisconnected { client });
        }
        for _ in 0..20 {
            self.time_passes();
            self.chrome_answers_all();
        }
        let nothing: [&str; 0] = [];
        assert_eq!(self.stage.0.leftovers(), nothing, "seed {}", self.seed);
        assert_eq!(self.chrome.leftovers(), nothing, "seed {}", self.seed);
    }

    fn chrome_answers_all(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            self.chrome_answers_to(asked);
        }
    }
}
