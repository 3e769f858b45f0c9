//! Random histories: whatever clients, tabs and Chrome do, and in whatever order, every command gets
//! one answer, nothing is told about a session that is not there, and nothing is left behind.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

const HISTORIES: u64 = 300;
const STEPS: usize = 250;

const CAPABILITIES: &str = "inventory-ready-v1,windows-v1,permissions-v1,downloads-v1";

/// What clients send, on whatever session.
const COMMANDS: [(&str, &str); 40] = [
    ("Target.setAutoAttach", AUTO_ATTACH),
    ("Target.setAutoAttach", r#"{"autoAttach":false,"waitForDebuggerOnStart":false}"#),
    (
        "Target.setAutoAttach",
        r#"{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{}]}"#,
    ),
    ("Target.setDiscoverTargets", r#"{"discover":true,"filter":[{}]}"#),
    ("Target.setDiscoverTargets", r#"{"discover":false}"#),
    ("Target.getTargets", "{}"),
    ("Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#),
    ("Target.attachToTarget", r#"{"targetId":"T2"}"#),
    ("Target.attachToTarget", r#"{"targetId":"target-service_worker"}"#),
    ("Target.attachToBrowserTarget", "{}"),
    ("Target.detachFromTarget", r#"{"sessionId":"pw-tab-1"}"#),
    ("Target.detachFromTarget", r#"{"sessionId":"browser"}"#),
    ("Target.createTarget", r#"{"url":"about:blank"}"#),
    ("Target.closeTarget", r#"{"targetId":"T1"}"#),
    ("Browser.getVersion", "{}"),
    ("Browser.getWindowForTarget", "{}"),
    ("Browser.setContentsSize", r#"{"windowId":1,"width":800,"height":600}"#),
    ("Browser.grantPermissions", r#"{"permissions":["geolocation"]}"#),
    ("Browser.resetPermissions", "{}"),
    (
        "Browser.setDownloadBehavior",
        r#"{"behavior":"allowAndName","downloadPath":"/d","eventsEnabled":true}"#,
    ),
    ("Browser.cancelDownload", r#"{"guid":"G"}"#),
    ("Storage.getCookies", "{}"),
    ("Storage.clearCookies", "{}"),
    ("Network.getCookies", r#"{"urls":["https://a.example/"]}"#),
    ("Runtime.enable", "{}"),
    ("Runtime.disable", "{}"),
    ("Page.enable", "{}"),
    ("Page.getFrameTree", "{}"),
    ("Page.addScriptToEvaluateOnNewDocument", r#"{"source":""}"#),
    ("Page.removeScriptToEvaluateOnNewDocument", r#"{"identifier":"1"}"#),
    ("Page.handleJavaScriptDialog", r#"{"accept":true}"#),
    ("Page.startScreencast", "{}"),
    ("Runtime.addBinding", r#"{"name":"b"}"#),
    ("Runtime.runIfWaitingForDebugger", "{}"),
    ("Runtime.evaluate", r#"{"expression":"1"}"#),
    ("Emulation.setTimezoneOverride", r#"{"timezoneId":"Asia/Tokyo"}"#),
    ("Fetch.enable", "{}"),
    ("Fetch.disable", "{}"),
    ("Fetch.continueRequest", r#"{"requestId":"R"}"#),
    ("Tracing.start", "{}"),
];

#[test]
fn every_command_has_one_answer_and_nothing_is_left_behind() {
    for seed in 0..HISTORIES {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.settle();
    }
}

/// Clients and an extension that do as the dice say, and what they have seen.
struct World {
    seed: u64,
    dice: u64,
    stage: Stage,
    now: Duration,
    extension: Option<ConnectionId>,
    last_id: u64,
    /// Real sessions, by their parents.
    real: BTreeMap<String, Option<String>>,
    clients: BTreeMap<ClientId, Seen>,
    /// What the extension has to answer.
    asked: Vec<(i64, String)>,
}

#[derive(Default)]
struct Seen {
    /// The sessions that were announced and have not ended, and what they are attached to.
    sessions: BTreeMap<String, String>,
    /// Every session it ever heard of.
    known: BTreeSet<String>,
    waiting: BTreeSet<i64>,
    answered: BTreeSet<i64>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            seed,
            dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            stage: Stage::new(),
            now: Duration::ZERO,
            extension: None,
            last_id: 0,
            real: BTreeMap::new(),
            clients: BTreeMap::new(),
            asked: Vec::new(),
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

    fn step(&mut self) {
        match self.roll(20) {
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
    }

    fn connect_extension(&mut self) {
        self.last_id += 1;
        let connection = ConnectionId(self.last_id);
        let hello = ExtensionHello {
            install_id: Some("one".to_owned()),
            capabilities: Some(CAPABILITIES.to_owned()),
            ..ExtensionHello::default()
        };
        let user_agent = String::new();
        self.extension = Some(connection);
        self.asked.clear();
        self.handle(Input::ExtensionConnected { connection, hello, user_agent });
        // The tabs first, then what is in them.
        let mut all: Vec<_> = self.real.clone().into_iter().collect();
        all.sort_by_key(|(_, parent)| parent.is_some());
        for (session, parent) in all {
            self.announce(&session, parent.as_deref());
        }
        self.extension_says(ExtensionMessage::Ready);
    }

    fn extension_blinks(&mut self) {
        if let Some(connection) = self.extension.take() {
            self.handle(Input::ExtensionDisconnected { connection });
        }
        self.connect_extension();
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
        self.handle(Input::ClientConnected { client, name: None, extension: None, page });
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
        let (method, params) = self.pick(&COMMANDS).unwrap();
        self.last_id += 1;
        let id = i64::try_from(self.last_id).unwrap();
        self.clients.get_mut(&client).unwrap().waiting.insert(id);
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
        let (id, method) = self.asked.remove(index);
        self.chrome_answers_to(id, &method);
    }

    fn chrome_answers_to(&mut self, id: i64, method: &str) {
        let mut result = match method {
            "Page.addScriptToEvaluateOnNewDocument" => json!({ "identifier": "1" }),
            "Network.getCookies" => {
                json!({ "cookies": [{ "name": "a", "domain": "d", "path": "/" }] })
            }
            "getWindow" => json!({
                "windowId": 1, "left": 0, "top": 0, "width": 9, "height": 9, "state": "normal",
            }),
            _ => json!({}),
        };
        match method {
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
        let outcome = match self.roll(8) {
            0 if method != "createInitialTab" => Err("it did not work".to_owned()),
            _ => Ok(Some(Payload::of(&result))),
        };
        self.extension_says(ExtensionMessage::Reply { id: RequestId(id), outcome });
    }

    fn target_comes(&mut self) {
        let parents: Vec<String> = self.real.keys().cloned().collect();
        let Some(parent) = self.pick(&parents).filter(|_| self.real.len() < 8) else {
            return self.tab_comes();
        };
        if self.roll(3) == 0 {
            return self.tab_comes();
        }
        self.last_id += 1;
        let kind = self.pick(&["iframe", "worker", "service_worker"]).unwrap();
        let session = format!("{kind} {}", self.last_id);
        self.real.insert(session.clone(), Some(parent.clone()));
        self.announce(&session, Some(&parent));
    }

    fn tab_comes(&mut self) {
        let tab = self.free_tab();
        let session = format!("pw-tab-{tab}");
        self.real.insert(session.clone(), None);
        self.announce(&session, None);
    }

    fn free_tab(&self) -> usize {
        (1..).find(|tab| !self.real.contains_key(&format!("pw-tab-{tab}"))).unwrap()
    }

    fn announce(&mut self, session: &str, parent: Option<&str>) {
        let info = match session.strip_prefix("pw-tab-") {
            Some(tab) => info(&format!("T{tab}")),
            None => {
                let kind = session.split(' ').next().unwrap();
                let target = match kind {
                    "service_worker" => "target-service_worker".to_owned(),
                    _ => format!("target of {session}"),
                };
                json!({ "targetId": target, "type": kind, "url": "x:" })
            }
        };
        let waiting = parent.is_some() && self.roll(2) == 0;
        let params =
            json!({ "sessionId": session, "targetInfo": info, "waitingForDebugger": waiting });
        self.chrome_says(parent, "Target.attachedToTarget", &params);
    }

    fn target_goes(&mut self) {
        let all: Vec<String> = self.real.keys().cloned().collect();
        if let Some(session) = self.pick(&all) {
            self.real_goes(&session);
        }
    }

    fn real_goes(&mut self, session: &str) {
        let Some(parent) = self.real.remove(session) else { return };
        let mut gone = vec![session.to_owned()];
        while let Some(next) = gone.pop() {
            let below = |(_, parent): &(&String, &Option<String>)| parent.as_ref() == Some(&next);
            let children: Vec<String> =
                self.real.iter().filter(below).map(|(child, _)| child.clone()).collect();
            for child in children {
                self.real.remove(&child);
                gone.push(child);
            }
        }
        let params = json!({ "sessionId": session });
        self.chrome_says(parent.as_deref(), "Target.detachedFromTarget", &params);
    }

    fn chrome_tells(&mut self) {
        let all: Vec<String> = self.real.keys().cloned().collect();
        let Some(session) = self.pick(&all) else { return };
        let events = [
            ("Runtime.executionContextCreated", json!({ "context": { "id": 1 } })),
            ("Page.javascriptDialogOpening", json!({})),
            ("Page.javascriptDialogClosed", json!({})),
            ("Fetch.requestPaused", json!({ "requestId": "R", "request": { "url": "x:" } })),
            ("Runtime.bindingCalled", json!({ "name": "b", "payload": "" })),
            ("Page.downloadWillBegin", json!({ "guid": "G", "url": "x:" })),
            ("Page.downloadProgress", json!({ "guid": "G", "state": "completed" })),
            ("Page.loadEventFired", json!({})),
        ];
        let (method, params) = self.pick(&events).unwrap();
        self.chrome_says(Some(&session), method, &params);
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
                    if Some(connection) == self.extension {
                        self.extension_got(&message);
                    }
                }
                Effect::CopyDownload { connection, guid, .. } => {
                    let outcome = Ok(());
                    self.handle(Input::DownloadCopied { connection, guid, outcome });
                }
                Effect::CloseExtension { .. } | Effect::Log { .. } => {}
            }
        }
    }

    fn extension_got(&mut self, message: &RelayMessage) {
        let message = serde_json::to_value(message).unwrap();
        let Some(id) = message["id"].as_i64() else { return };
        let method = message["params"]["method"].as_str().or(message["method"].as_str()).unwrap();
        self.asked.push((id, method.to_owned()));
    }

    fn client_got(&mut self, client: ClientId, frame: &Frame) {
        let seed = self.seed;
        // What is on its way to a client that has left is lost, rightly.
        let Some(seen) = self.clients.get_mut(&client) else { return };
        let frame = serde_json::to_value(frame).unwrap();
        let session = frame["sessionId"].as_str().unwrap_or_default();
        if let Some(id) = frame["id"].as_i64() {
            assert!(seen.waiting.remove(&id), "seed {seed}: an answer to nothing: {frame}");
            assert!(seen.answered.insert(id), "seed {seed}: a second answer: {frame}");
            return;
        }
        assert!(seen.sessions.contains_key(session), "seed {seed}: no such session: {frame}");
        let params = &frame["params"];
        match frame["method"].as_str().unwrap() {
            "Target.attachedToTarget" => {
                let new = params["sessionId"].as_str().unwrap().to_owned();
                let target = params["targetInfo"]["targetId"].as_str().unwrap().to_owned();
                seen.known.insert(new.clone());
                let old = seen.sessions.insert(new, target);
                assert_eq!(old, None, "seed {seed}: announced twice: {frame}");
            }
            "Target.detachedFromTarget" => {
                let ended = params["sessionId"].as_str().unwrap();
                assert!(seen.sessions.remove(ended).is_some(), "seed {seed}: ended twice: {frame}");
            }
            "Target.targetDestroyed" => {
                let gone = params["targetId"].as_str().unwrap();
                let is_attached = seen.sessions.values().any(|target| target == gone);
                assert!(!is_attached, "seed {seed}: destroyed before its sessions ended: {frame}");
            }
            _ => {}
        }
    }

    /// Chrome answers everything, time passes, all leave.
    fn settle(&mut self) {
        for _ in 0..50 {
            for (id, method) in std::mem::take(&mut self.asked) {
                self.chrome_answers_to(id, &method);
            }
        }
        for _ in 0..20 {
            self.time_passes();
            for (id, method) in std::mem::take(&mut self.asked) {
                self.chrome_answers_to(id, &method);
            }
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
        }
        let nothing: [&str; 0] = [];
        assert_eq!(self.stage.0.leftovers(), nothing, "seed {}", self.seed);
    }
}
