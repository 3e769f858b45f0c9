//! Every transition: inputs in, effects out.

#![expect(clippy::disallowed_methods, reason = "any instant will do")]

mod browser;
mod properties;
mod script;
mod sharing;
mod targets;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared_protocol::{CdpEvent, CloseCode, ExtensionHello, Extra, RequestId, SessionId, TargetId};

use super::{ClientId, ConnectionId, Effect, Input, PING_INTERVAL, Policy, Relay};
use crate::cdp::{Command, Error, Frame};
use crate::payload::{ExtensionMessage, Payload, RelayMessage};

const EXTENSION: ConnectionId = ConnectionId(1);
const CLIENT: ClientId = ClientId(2);

#[test]
fn a_client_without_an_extension_is_told_what_to_do() {
    let mut relay = Stage::new();
    let effects = relay.connect_client(CLIENT, None, None);
    let [Effect::CloseClient { client: CLIENT, code: CloseCode::NoSuchExtension, reason }] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert!(reason.contains("click its icon"), "{reason}");
}

#[test]
fn a_client_id_that_is_taken_is_refused() {
    let mut relay = Stage::with_tab();
    assert_eq!(relay.connect_client(CLIENT, Some("me"), None), []);
    let effects = relay.connect_client(ClientId(3), Some("me"), None);
    assert!(matches!(
        effects.as_slice(),
        [Effect::CloseClient { client: ClientId(3), code: CloseCode::DuplicateClient, .. }]
    ));
}

#[test]
fn of_several_extensions_the_only_one_with_tabs_serves() {
    let mut relay = Stage::with_tab();
    relay.connect_extension(ConnectionId(9), "other");
    assert_eq!(relay.connect_client(CLIENT, None, None), []);
    relay.attach_tab(ConnectionId(9), "pw-tab-1", "T9");
    let effects = relay.connect_client(ClientId(3), None, None);
    assert!(matches!(
        effects.as_slice(),
        [Effect::CloseClient { code: CloseCode::NoSuchExtension, .. }]
    ));
    assert_eq!(relay.connect_client(ClientId(4), None, Some("install:unknown:other")), []);
    assert_eq!(relay.connect_client(ClientId(5), None, Some("connection-1")), []);
}

#[test]
fn tabs_are_announced_before_auto_attach_is_answered() {
    let mut relay = Stage::with_client();
    let effects = relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH);
    assert_eq!(effects, [attached(None, "pw-tab-1", "T1"), reply(None, 1, json!({}))]);
}

#[test]
fn a_later_tab_is_announced_to_those_who_asked_for_all() {
    let mut relay = Stage::with_attached_client();
    relay.connect_client(ClientId(3), None, None);
    let effects = relay.attach_tab(EXTENSION, "pw-tab-2", "T2");
    assert_eq!(effects, [attached(None, "pw-tab-2", "T2")]);
}

#[test]
fn a_tab_without_an_address_is_announced_with_one() {
    let mut relay = Stage::with_attached_client();
    let info = json!({ "targetId": "T2", "type": "page", "url": "" });
    let params =
        json!({ "sessionId": "pw-tab-2", "targetInfo": info, "waitingForDebugger": false });
    let effects = relay.event(EXTENSION, None, "Target.attachedToTarget", params);
    let [Effect::Log { text, .. }, Effect::SendToClient { frame, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(text.contains("empty URL"), "{text}");
    let frame = serde_json::to_value(frame).unwrap();
    assert_eq!(frame["params"]["targetInfo"]["url"], "about:blank");
    assert!(frame["params"]["targetInfo"]["browserContextId"].is_string());
}

#[test]
fn a_command_goes_to_the_real_session_and_its_reply_back_to_the_asker() {
    let mut relay = Stage::with_attached_client();
    let effects = relay.command(Some("pw-tab-1"), -7, "Runtime.evaluate", r#"{"a":1.0}"#);
    let [Effect::SendToExtension { connection: EXTENSION, message }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!(
        serde_json::to_string(message).unwrap(),
        r#"{"id":1,"method":"forwardCDPCommand","params":{"method":"Runtime.evaluate","sessionId":"pw-tab-1","params":{"a":1.0}}}"#
    );
    let effects = relay.reply(EXTENSION, 1, Ok(json!({ "b": 2 })));
    assert_eq!(effects, [reply(Some("pw-tab-1"), -7, json!({ "b": 2 }))]);
    assert_eq!(relay.reply(EXTENSION, 1, Ok(json!({}))), [], "a second reply answers nobody");
}

#[test]
fn a_reply_of_another_extension_answers_nobody() {
    let mut relay = Stage::with_attached_client();
    relay.connect_extension(ConnectionId(9), "other");
    relay.command(Some("pw-tab-1"), 1, "Page.enable", "{}");
    assert_eq!(relay.reply(ConnectionId(9), 1, Ok(json!({}))), []);
    assert_eq!(relay.reply(EXTENSION, 1, Ok(json!({}))), [reply(Some("pw-tab-1"), 1, json!({}))]);
}

#[test]
fn an_absent_result_is_an_empty_one_and_an_error_has_a_code() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Page.enable", "{}");
    relay.command(Some("pw-tab-1"), 2, "Page.reload", "{}");
    let message = ExtensionMessage::Reply { id: RequestId(1), outcome: Ok(None) };
    let effects = relay.handle(Input::ExtensionSent { connection: EXTENSION, message });
    assert_eq!(effects, [reply(Some("pw-tab-1"), 1, json!({}))]);
    let effects = relay.reply(EXTENSION, 2, Err("Detached while handling command."));
    let error = Error::server("Detached while handling command.");
    assert_eq!(effects, [failure(Some("pw-tab-1"), 2, error)]);
}

#[test]
fn events_go_to_every_session_over_their_tab_and_to_no_other() {
    let mut relay = Stage::with_attached_client();
    relay.command(None, 2, "Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#);
    relay.attach_tab(EXTENSION, "pw-tab-2", "T2");
    for session in ["pw-tab-1", "pw-tab-1.2", "pw-tab-2"] {
        relay.command(Some(session), 3, "Page.enable", "{}");
    }
    let effects = relay.event(EXTENSION, Some("pw-tab-1"), "Page.loadEventFired", json!({}));
    assert_eq!(
        effects,
        [
            event(Some("pw-tab-1"), "Page.loadEventFired", json!({})),
            event(Some("pw-tab-1.2"), "Page.loadEventFired", json!({})),
        ]
    );
}

#[test]
fn flooding_events_are_dropped() {
    let mut relay = Stage::with_attached_client();
    for method in ["Network.dataReceived", "Network.resourceChangedPriority"] {
        assert_eq!(relay.event(EXTENSION, Some("pw-tab-1"), method, json!({})), []);
    }
}

#[test]
fn a_tab_that_goes_answers_what_was_pending_and_ends_its_sessions_children_first() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 4, "Target.setAutoAttach", AUTO_ATTACH);
    relay.reply(EXTENSION, 1, Ok(json!({})));
    let child = json!({
        "sessionId": "CHILD", "targetInfo": info("F1"), "waitingForDebugger": true,
    });
    relay.event(EXTENSION, Some("pw-tab-1"), "Target.attachedToTarget", child);
    relay.command(Some("CHILD"), 5, "Runtime.evaluate", "{}");
    relay.command(Some("pw-tab-1"), 6, "Runtime.evaluate", "{}");
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    let effects = relay.event(EXTENSION, None, "Target.detachedFromTarget", gone);
    let closed = || Error::server("Target closed");
    let child_gone = json!({ "sessionId": "CHILD", "targetId": "F1" });
    let tab_gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    assert_eq!(
        effects,
        [
            failure(Some("CHILD"), 5, closed()),
            event(Some("pw-tab-1"), "Target.detachedFromTarget", child_gone),
            failure(Some("pw-tab-1"), 6, closed()),
            event(None, "Target.detachedFromTarget", tab_gone),
        ]
    );
    let effects = relay.command(Some("pw-tab-1"), 7, "Page.enable", "{}");
    assert_eq!(effects, [failure(Some("pw-tab-1"), 7, Error::unknown_session())]);
}

#[test]
fn a_lost_extension_answers_what_was_pending_and_in_time_closes_its_clients() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    let effects = relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    let disconnected = || Error::server("Extension disconnected");
    assert_eq!(without_logs(effects), [failure(Some("pw-tab-1"), 1, disconnected())]);
    assert!(!relay.0.pages_status().connected);
    assert_eq!(relay.command(Some("pw-tab-1"), 2, "Page.enable", "{}"), [], "it waits");
    let deadline = relay.0.next_deadline().unwrap() - relay.1;
    assert_eq!(
        relay.at(deadline, Input::DeadlinePassed),
        [Effect::CloseClient {
            client: CLIENT,
            code: CloseCode::Normal,
            reason: "Extension disconnected".to_owned(),
        }]
    );
    assert_eq!(relay.0.next_deadline(), None);
}

#[test]
fn a_worker_that_comes_back_finds_its_clients_and_what_they_sent_meanwhile() {
    let mut relay = Stage::with_attached_client();
    relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    let successor = ConnectionId(9);
    assert_eq!(without_logs(relay.connect_extension(successor, "one")), []);
    assert_eq!(relay.command(Some("pw-tab-1"), 2, "Runtime.evaluate", "{}"), [], "in order");
    let effects = relay.attach_tab(successor, "pw-tab-1", "T1");
    assert_eq!(
        methods(&effects),
        ["Runtime.evaluate", "Runtime.evaluate"],
        "the client saw nothing"
    );
}

#[test]
fn a_tab_that_did_not_come_back_with_its_worker_is_gone() {
    let mut relay = Stage::with_attached_client();
    relay.attach_tab(EXTENSION, "pw-tab-2", "T2");
    relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    let successor = ConnectionId(9);
    relay.connect_extension(successor, "one");
    assert_eq!(relay.attach_tab(successor, "pw-tab-2", "T2"), []);
    let ready = ExtensionMessage::Ready;
    let effects = relay.handle(Input::ExtensionSent { connection: successor, message: ready });
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    assert_eq!(effects, [event(None, "Target.detachedFromTarget", gone)]);
}

#[test]
fn an_extension_that_cannot_say_that_it_is_ready_is_so_in_time() {
    let mut relay = Stage::with_attached_client();
    relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    relay.connect_extension(ConnectionId(9), "one");
    let deadline = relay.0.next_deadline().unwrap() - relay.1;
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    let effects = relay.at(deadline, Input::DeadlinePassed);
    assert_eq!(effects, [event(None, "Target.detachedFromTarget", gone)]);
}

#[test]
fn a_successor_takes_over_the_clients_of_the_connection_that_it_replaces() {
    let mut relay = Stage::with_attached_client();
    let successor = ConnectionId(9);
    let effects = relay.connect_extension(successor, "one");
    assert_eq!(
        without_logs(effects),
        [Effect::CloseExtension {
            connection: EXTENSION,
            code: CloseCode::ExtensionReplaced,
            reason: "Extension Replaced".to_owned(),
        }]
    );
    assert_eq!(
        relay.attach_tab(successor, "pw-tab-1", "T1"),
        [],
        "the client has this tab already"
    );
    let effects = relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    assert_eq!(without_logs(effects), [], "the client stays");
    let effects = relay.command(Some("pw-tab-1"), 3, "Page.enable", "{}");
    assert!(matches!(
        effects.as_slice(),
        [Effect::SendToExtension { connection, .. }] if *connection == successor
    ));
}

#[test]
fn a_reply_for_a_client_that_left_is_dropped() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    relay.handle(Input::ClientDisconnected { client: CLIENT });
    assert_eq!(relay.reply(EXTENSION, 1, Ok(json!({}))), []);
}

#[test]
fn a_paused_child_that_nobody_takes_goes_on() {
    let mut relay = Stage::with_client();
    let child = json!({
        "sessionId": "CHILD", "targetInfo": info("F1"), "waitingForDebugger": true,
    });
    let effects = relay.event(EXTENSION, Some("pw-tab-1"), "Target.attachedToTarget", child);
    assert_eq!(methods(&effects), ["Runtime.runIfWaitingForDebugger"]);
}

#[test]
fn children_that_are_there_already_are_announced_before_auto_attach_is_answered() {
    let mut relay = Stage::with_client();
    let child = json!({
        "sessionId": "CHILD", "targetInfo": info("F1"), "waitingForDebugger": false,
    });
    relay.event(EXTENSION, Some("pw-tab-1"), "Target.attachedToTarget", child);
    relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH);
    let effects = relay.command(Some("pw-tab-1"), 2, "Target.setAutoAttach", AUTO_ATTACH);
    assert_eq!(methods(&effects), ["Target.setAutoAttach"], "not before earlier replies");
    let effects = relay.reply(EXTENSION, 1, Ok(json!({})));
    assert_eq!(
        effects,
        [attached(Some("pw-tab-1"), "CHILD", "F1"), reply(Some("pw-tab-1"), 2, json!({}))]
    );
}

#[test]
fn closing_a_target_succeeds_when_the_target_goes_first() {
    let mut relay = Stage::with_attached_client();
    relay.command(None, 1, "Target.closeTarget", r#"{"targetId":"T1"}"#);
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    let effects = relay.event(EXTENSION, None, "Target.detachedFromTarget", gone);
    assert_eq!(effects.first(), Some(&reply(None, 1, json!({ "success": true }))));
}

#[test]
fn the_same_session_name_on_another_target_is_another_tab() {
    let mut relay = Stage::with_attached_client();
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    assert_eq!(
        relay.attach_tab(EXTENSION, "pw-tab-1", "T9"),
        [event(None, "Target.detachedFromTarget", gone), attached(None, "pw-tab-1", "T9")]
    );
}

#[test]
fn a_tab_that_was_taken_away_and_back_unheard_ends_before_it_begins_again() {
    let mut relay = Stage::with_attached_client();
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    assert_eq!(
        relay.attach_tab(EXTENSION, "pw-tab-2", "T1"),
        [event(None, "Target.detachedFromTarget", gone), attached(None, "pw-tab-2", "T1")]
    );
}

#[test]
fn a_session_that_did_not_ask_for_children_is_told_of_none() {
    let mut relay = Stage::with_attached_client();
    let child = json!({
        "sessionId": "CHILD", "targetInfo": info("F1"), "waitingForDebugger": true,
    });
    let effects = relay.event(EXTENSION, Some("pw-tab-1"), "Target.attachedToTarget", child);
    assert_eq!(methods(&effects), ["Runtime.runIfWaitingForDebugger"], "it goes on at once");
}

#[test]
fn a_client_waits_until_an_extension_that_says_so_has_announced_its_tabs() {
    let mut relay = Stage::new();
    let hello = ExtensionHello {
        capabilities: Some("inventory-ready-v1".to_owned()),
        ..ExtensionHello::default()
    };
    let user_agent = String::new();
    relay.handle(Input::ExtensionConnected { connection: EXTENSION, hello, user_agent });
    relay.connect_client(CLIENT, None, None);
    assert_eq!(relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH), []);
    assert_eq!(relay.attach_tab(EXTENSION, "pw-tab-1", "T1"), []);
    let ready = ExtensionMessage::Ready;
    let effects = relay.handle(Input::ExtensionSent { connection: EXTENSION, message: ready });
    assert_eq!(effects, [attached(None, "pw-tab-1", "T1"), reply(None, 1, json!({}))]);
}

#[test]
fn what_a_tab_shows_follows_what_the_extension_says() {
    let mut relay = Stage::with_client();
    let mut changed = info("T1");
    changed["title"] = "a title".into();
    let params = json!({ "targetInfo": changed });
    relay.event(EXTENSION, None, "Target.targetInfoChanged", params);
    assert_eq!(relay.0.pages_status().pages[0].title, "a title");
}

#[test]
fn a_quick_command_fails_at_its_deadline_and_a_long_one_does_not() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Page.enable", "{}");
    relay.command(Some("pw-tab-1"), 2, "Runtime.evaluate", "{}");
    let effects = relay.at(Duration::from_secs(10), Input::DeadlinePassed);
    let [Effect::SendToExtension { message: RelayMessage::Ping, .. }, failed] = effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert!(matches!(
        failed,
        Effect::SendToClient { frame: Frame::Reply { id: RequestId(1), outcome: Err(_), .. }, .. }
    ));
    assert_eq!(relay.reply(EXTENSION, 1, Ok(json!({}))), [], "too late");
    assert_eq!(relay.reply(EXTENSION, 2, Ok(json!({}))), [reply(Some("pw-tab-1"), 2, json!({}))]);
}

#[test]
fn an_extension_is_pinged_at_its_pace() {
    let mut relay = Stage::new();
    assert_eq!(relay.0.next_deadline(), None);
    relay.connect_extension(EXTENSION, "one");
    assert_eq!(relay.0.next_deadline(), Some(relay.1 + PING_INTERVAL));
    let ping = Effect::SendToExtension { connection: EXTENSION, message: RelayMessage::Ping };
    assert_eq!(relay.at(PING_INTERVAL, Input::DeadlinePassed), [ping]);
    assert_eq!(relay.0.next_deadline(), Some(relay.1 + PING_INTERVAL * 2));
}

#[test]
fn closing_the_browser_closes_the_client_only() {
    let mut relay = Stage::with_attached_client();
    let effects = relay.command(None, 1, "Browser.close", "{}");
    assert_eq!(effects.first(), Some(&reply(None, 1, json!({}))));
    assert_eq!(
        effects.last(),
        Some(&Effect::CloseClient {
            client: CLIENT,
            code: CloseCode::Normal,
            reason: "Browser.close".to_owned(),
        })
    );
    assert_eq!(relay.0.pages_status().page_count, 1);
}

#[test]
fn a_browser_context_is_refused_readably() {
    let mut relay = Stage::with_attached_client();
    let effects = relay.command(None, 1, "Target.createBrowserContext", "{}");
    let [Effect::SendToClient { frame: Frame::Reply { outcome: Err(error), .. }, .. }] =
        effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert_eq!(error.code, -32000);
    assert!(error.message.contains("use the default context"));
}

#[test]
fn a_cdp_session_is_the_askers_own_and_ends_alone() {
    let mut relay = Stage::with_attached_client();
    let effects = relay.command(None, 1, "Target.attachToBrowserTarget", "{}");
    assert_eq!(effects.last(), Some(&reply(None, 1, json!({ "sessionId": "browser.2" }))));
    let target = r#"{"targetId":"T1","flatten":true}"#;
    let effects = relay.command(Some("browser.2"), 2, "Target.attachToTarget", target);
    assert_eq!(
        effects,
        [
            attached(Some("browser.2"), "pw-tab-1.3", "T1"),
            reply(Some("browser.2"), 2, json!({ "sessionId": "pw-tab-1.3" })),
        ]
    );
    let session = r#"{"sessionId":"pw-tab-1.3"}"#;
    let effects = relay.command(Some("browser.2"), 3, "Target.detachFromTarget", session);
    assert_eq!(effects.last(), Some(&reply(Some("browser.2"), 3, json!({}))));
    let effects = relay.command(Some("pw-tab-1.3"), 4, "Page.enable", "{}");
    assert_eq!(effects, [failure(Some("pw-tab-1.3"), 4, Error::unknown_session())]);
    let effects = relay.command(Some("pw-tab-1"), 5, "Page.enable", "{}");
    assert!(matches!(effects.as_slice(), [Effect::SendToExtension { .. }]));
}

#[test]
fn the_address_of_a_tab_follows_its_main_frame() {
    let mut relay = Stage::with_client();
    relay.command(None, 1, "Target.setDiscoverTargets", r#"{"discover":true}"#);
    let frame = json!({ "frame": { "id": "F", "parentId": "T1", "url": "http://frame/" } });
    assert_eq!(relay.event(EXTENSION, Some("pw-tab-1"), "Page.frameNavigated", frame), []);
    let main = json!({ "frame": { "id": "T1", "url": "http://main/" } });
    let effects = relay.event(EXTENSION, Some("pw-tab-1"), "Page.frameNavigated", main);
    let [Effect::SendToClient { frame: Frame::Event { method, .. }, .. }] = effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert_eq!(method, "Target.targetInfoChanged");
    assert_eq!(relay.0.pages_status().pages[0].url, "http://main/");
}

#[test]
fn only_an_extension_that_understands_it_is_told_the_window_mode() {
    let mut relay =
        Relay::new(TargetId::new("BROWSER"), Policy { separate_window: true, ..Policy::default() });
    let mut connect = |number: u64, capabilities: Option<&str>| {
        let hello = ExtensionHello {
            install_id: Some(number.to_string()),
            capabilities: capabilities.map(str::to_owned),
            ..ExtensionHello::default()
        };
        let connection = ConnectionId(number);
        let user_agent = String::new();
        let connected = Input::ExtensionConnected { connection, hello, user_agent };
        relay.handle(connected, Instant::now())
    };
    let told = |effects: Vec<Effect>| {
        effects.into_iter().any(|effect| {
            let Effect::SendToExtension { message, .. } = effect else { return false };
            matches!(message, RelayMessage::SetWindowMode(mode) if mode.separate_window)
        })
    };
    assert!(told(connect(1, Some("inventory-ready-v1,window-mode-v1"))));
    assert!(!told(connect(2, Some("inventory-ready-v1"))));
    assert!(!told(connect(3, None)));
}

const AUTO_ATTACH: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#;

struct Stage(Relay, Instant);

impl Stage {
    fn new() -> Self {
        Self(Relay::new(TargetId::new("BROWSER"), Policy::default()), Instant::now())
    }

    fn with_tab() -> Self {
        let mut stage = Self::new();
        stage.connect_extension(EXTENSION, "one");
        stage.attach_tab(EXTENSION, "pw-tab-1", "T1");
        stage
    }

    fn with_client() -> Self {
        let mut stage = Self::with_tab();
        stage.connect_client(CLIENT, None, None);
        stage
    }

    fn with_attached_client() -> Self {
        let mut stage = Self::with_client();
        stage.command(None, 0, "Target.setAutoAttach", AUTO_ATTACH);
        stage
    }

    fn handle(&mut self, input: Input) -> Vec<Effect> {
        self.at(Duration::ZERO, input)
    }

    fn at(&mut self, after: Duration, input: Input) -> Vec<Effect> {
        self.0.handle(input, self.1 + after)
    }

    fn connect_extension(&mut self, connection: ConnectionId, install_id: &str) -> Vec<Effect> {
        let install_id = Some(install_id.to_owned());
        let hello = ExtensionHello { install_id, ..ExtensionHello::default() };
        self.handle(Input::ExtensionConnected { connection, hello, user_agent: String::new() })
    }

    fn connect_client(
        &mut self,
        client: ClientId,
        name: Option<&str>,
        extension: Option<&str>,
    ) -> Vec<Effect> {
        let (name, extension) = (name.map(str::to_owned), extension.map(str::to_owned));
        self.handle(Input::ClientConnected { client, name, extension, page: None })
    }

    fn attach_tab(&mut self, connection: ConnectionId, session: &str, target: &str) -> Vec<Effect> {
        let params = json!({
            "sessionId": session, "targetInfo": info(target), "waitingForDebugger": false,
        });
        self.event(connection, None, "Target.attachedToTarget", params)
    }

    fn event(
        &mut self,
        connection: ConnectionId,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect> {
        let message = ExtensionMessage::Event(CdpEvent {
            session_id: session.map(SessionId::new),
            method: method.to_owned(),
            params: Some(Payload::of(&params)),
            extra: Extra::default(),
        });
        self.handle(Input::ExtensionSent { connection, message })
    }

    fn command(
        &mut self,
        session: Option<&str>,
        id: i64,
        method: &str,
        params: &str,
    ) -> Vec<Effect> {
        let command = Command {
            id: RequestId(id),
            session: session.map(SessionId::new),
            method: method.to_owned(),
            params: Some(serde_json::from_str(params).unwrap()),
        };
        self.handle(Input::ClientSent { client: CLIENT, command })
    }

    fn reply(
        &mut self,
        connection: ConnectionId,
        id: i64,
        outcome: Result<Value, &str>,
    ) -> Vec<Effect> {
        let outcome = outcome.map(|result| Some(Payload::of(&result))).map_err(str::to_owned);
        let message = ExtensionMessage::Reply { id: RequestId(id), outcome };
        self.handle(Input::ExtensionSent { connection, message })
    }
}

fn info(target: &str) -> Value {
    json!({
        "targetId": target,
        "type": "page",
        "title": "",
        "url": "about:blank",
        "attached": true,
        "canAccessOpener": false,
        "browserContextId": "C",
    })
}

fn attached(parent: Option<&str>, session: &str, target: &str) -> Effect {
    let params =
        json!({ "sessionId": session, "targetInfo": info(target), "waitingForDebugger": false });
    // In the order of the wire, which `json!` does not keep.
    let params: shared_protocol::AttachedToTarget<Payload> =
        serde_json::from_str(&params.to_string()).unwrap();
    send(parent, "Target.attachedToTarget", Payload::of(&params))
}

fn event(session: Option<&str>, method: &str, params: Value) -> Effect {
    send(session, method, Payload::of(&params))
}

fn send(session: Option<&str>, method: &str, params: Payload) -> Effect {
    let session = session.map(SessionId::new);
    let frame = Frame::Event { session, method: method.to_owned(), params: Some(params) };
    Effect::SendToClient { client: CLIENT, frame }
}

fn reply(session: Option<&str>, id: i64, result: Value) -> Effect {
    answer(session, id, Ok(Payload::of(&result)))
}

fn failure(session: Option<&str>, id: i64, error: Error) -> Effect {
    answer(session, id, Err(error))
}

fn answer(session: Option<&str>, id: i64, outcome: Result<Payload, Error>) -> Effect {
    let (id, session) = (RequestId(id), session.map(SessionId::new));
    Effect::SendToClient { client: CLIENT, frame: Frame::Reply { id, session, outcome } }
}

/// The commands that go to the extension, if nothing else happens.
fn methods(effects: &[Effect]) -> Vec<&str> {
    let method = |effect| {
        let &Effect::SendToExtension { message: RelayMessage::Command { ref command, .. }, .. } =
            effect
        else {
            panic!("{effect:?}")
        };
        command.method.as_str()
    };
    effects.iter().map(method).collect()
}

fn without_logs(effects: Vec<Effect>) -> Vec<Effect> {
    effects.into_iter().filter(|effect| !matches!(effect, Effect::Log { .. })).collect()
}
