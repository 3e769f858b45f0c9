use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use shared_protocol::{CdpCommand, CdpEvent, Extra, RequestId, SessionId};
use tempfile::TempDir;

use super::traffic::Cause;
use super::*;
use relay_core::cdp::{Command, Frame};
use relay_core::payload::{ExtensionMessage, Payload, RelayMessage};
use relay_core::{ClientHello, ClientId, ConnectionId, Effect, Input};

const CLIENT: ClientId = ClientId(1);
const EXTENSION: ConnectionId = ConnectionId(2);

#[tokio::test]
async fn a_command_and_its_answer_leave_four_lines() {
    let mut log = Log::new();
    log.traffic.note_input(&connected(CLIENT, Some("me")));
    log.ask(1, "Page.enable", json!({}));
    log.reply(1, json!({ "ok": true }));
    let lines = log.lines().await;
    let seen: Vec<Value> = lines
        .iter()
        .map(|line| json!([line["direction"], line["clientId"], line["source"], line["message"]]))
        .collect();
    let asked = json!({ "id": 1, "method": "Page.enable", "sessionId": "S", "params": {} });
    let forwarded =
        json!({ "id": 101, "method": "Page.enable", "sessionId": "pw-tab-1", "params": {} });
    let answered = json!({ "id": 1, "sessionId": "S", "result": { "ok": true } });
    assert_eq!(
        seen,
        [
            json!(["from-playwright", "me", "client", asked]),
            json!(["to-extension", "me", "client", forwarded]),
            json!(["from-extension", "me", "extension", { "id": 101, "result": { "ok": true } }]),
            json!(["to-playwright", "me", "extension", answered]),
        ]
    );
}

#[tokio::test]
async fn an_event_is_logged_as_it_came_and_as_it_went() {
    let mut log = Log::new();
    log.event("Page.loadEventFired", json!({ "timestamp": 1.5 }));
    let lines = log.lines().await;
    assert_eq!(lines[0]["direction"], "from-extension");
    assert_eq!(lines[1]["direction"], "to-playwright");
    assert_eq!(lines[1]["clientId"], "client-1");
    for line in lines {
        assert_eq!(line["message"]["method"], "Page.loadEventFired");
        assert_eq!(line["message"]["params"], json!({ "timestamp": 1.5 }));
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'));
    }
}

#[tokio::test]
async fn cookies_and_answers_to_questions_about_them_are_not_shown() {
    let mut log = Log::new();
    log.ask(1, "Network.setCookie", json!({ "name": "sid", "value": "s3cret" }));
    log.reply(1, json!({ "echo": "s3cret" }));
    log.ask(2, "Runtime.evaluate", json!({ "expression": "document.cookie" }));
    log.reply(2, json!({ "result": { "value": "s3cret" } }));
    log.event("Network.requestWillBeSentExtraInfo", json!({ "headers": { "Cookie": "s3cret" } }));
    log.ask(3, "Storage.getState", json!({}));
    log.reply(3, json!({ "value": "s3cret", "name": "Set-Cookie" }));
    let lines = log.lines().await;
    assert_eq!(lines.len(), 14);
    let text = serde_json::to_string(&lines).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let hidden = |line: &Value, part: &str| line["message"][part]["hidden"].clone();
    assert_eq!(hidden(&lines[0], "params"), "mentions cookies");
    assert_eq!(hidden(&lines[2], "result"), "answers something that is not shown");
    assert_eq!(lines[8]["message"]["params"]["length"], 31);
}

#[tokio::test]
async fn an_answer_to_nothing_that_was_asked_is_not_shown() {
    let mut log = Log::new();
    log.reply(1, json!({ "value": "s3cret" }));
    let text = serde_json::to_string(&log.lines().await).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
}

#[tokio::test]
async fn a_question_too_long_to_look_through_has_no_answer_in_the_log() {
    let mut log = Log::new();
    let long = format!("{}; document.cookie", "x".repeat(100_000));
    log.ask(1, "Runtime.evaluate", json!({ "expression": long }));
    log.reply(1, json!({ "value": "s3cret" }));
    let lines = log.lines().await;
    assert_eq!(lines[0]["message"]["params"], json!({ "cut": "", "length": 100_034 }));
    assert!(!serde_json::to_string(&lines).unwrap().contains("s3cret"));
}

#[tokio::test]
async fn the_token_is_not_shown() {
    let mut log = Log::with_token("t0ken");
    log.event("Page.frameNavigated", json!({ "url": "http://127.0.0.1/json?token=t0ken" }));
    let text = serde_json::to_string(&log.lines().await).unwrap();
    assert!(!text.contains("t0ken"), "{text}");
}

#[tokio::test]
async fn a_client_that_left_is_forgotten() {
    let mut log = Log::new();
    log.traffic.note_input(&connected(CLIENT, Some("me")));
    log.ask(1, "Page.enable", json!({}));
    log.traffic.note_input(&Input::ClientDisconnected { client: CLIENT });
    log.traffic.note_input(&Input::ExtensionDisconnected { connection: EXTENSION });
    log.reply(1, json!({}));
    let lines = log.lines().await;
    assert_eq!(lines[2]["clientId"], Value::Null);
    assert_eq!(lines[3]["clientId"], "client-1");
}

#[tokio::test]
async fn dropped_log_lines_are_counted() {
    let mut log = Log::new();
    for _ in 0..WAITING {
        log.event("A.b", json!({}));
    }
    log.logs.lines.text(b"a line\n");
    log.logs.open();
    log.logs.written().await;
    log.event("A.last", json!({}));
    log.logs.lines.text(b"the next line\n");
    let lines = log.lines().await;
    let dropped = &lines[WAITING]["message"];
    assert_eq!(*dropped, json!({ "method": "dropped", "params": { "entries": WAITING } }));
    assert_eq!(lines.len(), WAITING + 3, "two more and the count");
    let text = fs::read_to_string(log.folder.path().join("logs/relay-server.log")).unwrap();
    assert_eq!(text, "1 lines are missing here\nthe next line\n");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_no_reason_to_fail() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let logs = Logs::in_folder(file.join("logs"));
    assert!(!logs.open());
    logs.traffic(None).note_input(&connected(CLIENT, None));
}

#[tokio::test]
async fn the_files_are_for_their_owner_only() {
    let mut log = Log::new();
    log.event("A.b", json!({}));
    log.lines().await;
    let folder = log.folder.path().join("logs");
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.clone()), 0o700);
    for name in ["cdp.jsonl", "relay-server.log"] {
        assert_eq!(mode(folder.join(name)), 0o600, "{name}");
    }
}

/// A log in a folder of its own, with one client on one tab. It is opened when it is read.
struct Log {
    folder: TempDir,
    logs: Logs,
    traffic: Traffic,
}

impl Log {
    fn new() -> Self {
        Self::guarded(None)
    }

    fn with_token(token: &str) -> Self {
        Self::guarded(Some(Token::new(token)))
    }

    fn guarded(token: Option<Token>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let logs = Logs::in_folder(folder.path().join("logs"));
        let traffic = logs.traffic(token);
        Self { folder, logs, traffic }
    }

    /// A client's command, forwarded.
    fn ask(&mut self, id: i64, method: &str, params: Value) {
        let params = Some(Payload::of(&params));
        let (session, method) = (Some(SessionId::new("S")), method.to_owned());
        let command = Command { id: RequestId(id), session, method, params };
        let forwarded = CdpCommand {
            method: command.method.clone(),
            session_id: Some(SessionId::new("pw-tab-1")),
            params: command.params.clone(),
            source: None,
            extra: Extra::default(),
        };
        let cause = self.traffic.note_input(&Input::ClientSent { client: CLIENT, command });
        let message = RelayMessage::Command { id: RequestId(100 + id), command: forwarded };
        let effect = Effect::SendToExtension { connection: EXTENSION, message };
        self.traffic.note_effect(&effect, cause);
    }

    /// The extension's answer, forwarded.
    fn reply(&mut self, id: i64, result: Value) {
        let result = Payload::of(&result);
        let message =
            ExtensionMessage::Reply { id: RequestId(100 + id), outcome: Ok(Some(result.clone())) };
        let input = Input::ExtensionSent { connection: EXTENSION, message };
        let cause = self.traffic.note_input(&input);
        assert_eq!(cause, Cause::Extension);
        let (id, session) = (RequestId(id), Some(SessionId::new("S")));
        let frame = Frame::Reply { id, session, outcome: Ok(result) };
        self.traffic.note_effect(&Effect::SendToClient { client: CLIENT, frame }, cause);
    }

    /// An event of the tab, forwarded.
    fn event(&mut self, method: &str, params: Value) {
        let (method, params) = (method.to_owned(), Some(Payload::of(&params)));
        let event = CdpEvent {
            session_id: Some(SessionId::new("pw-tab-1")),
            method: method.clone(),
            params: params.clone(),
            extra: Extra::default(),
        };
        let message = ExtensionMessage::Event(event);
        let cause =
            self.traffic.note_input(&Input::ExtensionSent { connection: EXTENSION, message });
        let frame = Frame::Event { session: Some(SessionId::new("S")), method, params };
        self.traffic.note_effect(&Effect::SendToClient { client: CLIENT, frame }, cause);
    }

    async fn lines(&self) -> Vec<Value> {
        assert!(self.logs.open());
        self.logs.written().await;
        let text = fs::read_to_string(self.folder.path().join("logs/cdp.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn connected(client: ClientId, name: Option<&str>) -> Input {
    Input::ClientConnected {
        client,
        hello: ClientHello { name: name.map(str::to_owned), ..ClientHello::default() },
    }
}
