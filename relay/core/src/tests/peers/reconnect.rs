//! Tabs and extensions that go, and come back or do not.

use crate::tests::script::{A, Script};
use crate::tests::*;

#[test]
fn a_client_that_comes_while_the_worker_is_away_waits_for_it() {
    let mut relay = Stage::with_tab();
    relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    assert_eq!(relay.connect_client(CLIENT, None, None), []);
    assert_eq!(relay.command(None, 0, "Target.setAutoAttach", AUTO_ATTACH), []);
    let next = ConnectionId(9);
    relay.connect_extension(next, "one");
    let effects = relay.attach_tab(next, "pw-tab-1", "T1");
    let told = [attached(None, "pw-tab-1", "T1"), reply(None, 0, json!({}))];
    assert_eq!(without_logs(effects), told);
}

#[test]
fn events_of_a_returning_worker_come_before_held_commands() {
    let mut script = Script::with_capabilities("inventory-ready-v1");
    script.handle(Input::ExtensionSent { connection: EXTENSION, message: ExtensionMessage::Ready });
    script.does(A, "pw-tab-1 2 Runtime.enable", "{}");
    script.worker_dies();
    assert_eq!(script.says(A, "pw-tab-1 3 Runtime.evaluate", "{}"), [""; 0]);
    let next = ConnectionId(9);
    script.worker_comes(next);
    let cleared = script.chrome_says("pw-tab-1", "Runtime.executionContextsCleared", "{}");
    assert_eq!(cleared, ["A pw-tab-1 Runtime.executionContextsCleared {}"]);
    let ready = Input::ExtensionSent { connection: next, message: ExtensionMessage::Ready };
    assert_eq!(script.handle(ready), ["> pw-tab-1 Runtime.evaluate {}"]);
}

#[test]
fn a_client_that_waits_for_a_worker_in_vain_is_told_what_to_do() {
    let mut relay = Stage::with_tab();
    relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    relay.connect_client(CLIENT, None, None);
    let effects = relay.at(Duration::from_secs(5), Input::DeadlinePassed);
    assert!(
        matches!(
            effects.as_slice(),
            [Effect::CloseClient { client: CLIENT, code: CloseCode::NoSuchExtension, .. }]
        ),
        "{effects:?}"
    );
}

#[test]
fn an_extension_that_stops_to_answer_is_let_go() {
    let mut relay = Stage::with_client();
    let connection = EXTENSION;
    relay.handle(Input::ExtensionSent { connection, message: ExtensionMessage::Pong });
    let is_closed = |effects: &[Effect]| {
        effects.iter().any(|effect| matches!(effect, Effect::CloseExtension { .. }))
    };
    for pings in 1..12 {
        let effects = relay.at(PING_INTERVAL * pings, Input::DeadlinePassed);
        assert!(!is_closed(&effects), "ping {pings}");
    }
    assert!(is_closed(&relay.at(PING_INTERVAL * 12, Input::DeadlinePassed)));

    let mut never_answers = Stage::with_client();
    for pings in 1..30 {
        let effects = never_answers.at(PING_INTERVAL * pings, Input::DeadlinePassed);
        assert!(!is_closed(&effects), "the first ones did not know pings");
    }
}

#[test]
fn a_closed_tab_ends_its_sessions_and_then_fails_its_requests() {
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
            event(Some("pw-tab-1"), "Target.detachedFromTarget", child_gone),
            failure(Some("CHILD"), 5, closed()),
            event(None, "Target.detachedFromTarget", tab_gone),
            failure(Some("pw-tab-1"), 6, closed()),
        ]
    );
    let effects = relay.command(Some("pw-tab-1"), 7, "Page.enable", "{}");
    assert_eq!(effects, [failure(Some("pw-tab-1"), 7, Error::unknown_session())]);
}

#[test]
fn a_closed_tab_is_told_before_the_failures_of_its_requests() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    relay.command(None, 2, "Target.closeTarget", r#"{"targetId":"T1"}"#);
    for id in [1, 2] {
        assert_eq!(relay.reply(EXTENSION, id, Err("Detached while handling command.")), []);
    }
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    let effects = relay.event(EXTENSION, None, "Target.detachedFromTarget", gone.clone());
    assert_eq!(
        effects,
        [
            reply(None, 2, json!({ "success": true })),
            event(None, "Target.detachedFromTarget", gone),
            failure(Some("pw-tab-1"), 1, Error::server("Target closed")),
        ]
    );
    relay.attach_tab(EXTENSION, "pw-tab-2", "T2");
    relay.command(Some("pw-tab-2"), 3, "Runtime.evaluate", "{}");
    assert_eq!(relay.reply(EXTENSION, 3, Err("Detached while handling command.")), []);
    let deadline = relay.0.next_deadline().unwrap() - relay.1;
    let late = relay.at(deadline.max(Duration::from_secs(10)), Input::DeadlinePassed);
    let answers: Vec<_> =
        late.iter().filter(|it| matches!(it, Effect::SendToClient { .. })).collect();
    assert_eq!(answers.len(), 1, "nobody waits for ever: {late:?}");
}

#[test]
fn requests_of_a_dead_worker_fail_after_the_tabs_that_went() {
    let mut relay = Stage::with_attached_client();
    relay.attach_tab(EXTENSION, "pw-tab-2", "T2");
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    relay.command(Some("pw-tab-2"), 2, "Runtime.evaluate", "{}");
    relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    let next = ConnectionId(50);
    relay.connect_extension(next, "one");
    relay.attach_tab(next, "pw-tab-2", "T2");
    let ready = ExtensionMessage::Ready;
    let effects = relay.handle(Input::ExtensionSent { connection: next, message: ready });
    let disconnected = || Error::server("Extension disconnected");
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    assert_eq!(
        without_logs(effects),
        [
            event(None, "Target.detachedFromTarget", gone),
            failure(Some("pw-tab-1"), 1, disconnected()),
            failure(Some("pw-tab-2"), 2, disconnected()),
        ]
    );
}

#[test]
fn an_extension_that_stays_away_takes_its_clients_along() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    let effects = relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
    assert_eq!(without_logs(effects), []);
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
fn an_end_that_is_told_twice_counts_once() {
    let mut relay = Stage::with_attached_client();
    let ended = || Input::ExtensionDisconnected { connection: EXTENSION };
    relay.handle(ended());
    let deadline = relay.0.next_deadline();
    assert_eq!(relay.at(Duration::from_secs(1), ended()), []);
    assert_eq!(relay.0.next_deadline(), deadline, "nobody waits longer");
}

#[test]
fn a_worker_that_is_back_gets_the_commands_held_for_it() {
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
fn a_new_connection_takes_over_the_clients_of_the_old_one() {
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
fn a_tab_reattached_unheard_ends_before_it_begins_again() {
    let mut relay = Stage::with_attached_client();
    let gone = json!({ "sessionId": "pw-tab-1", "targetId": "T1" });
    assert_eq!(
        relay.attach_tab(EXTENSION, "pw-tab-2", "T1"),
        [event(None, "Target.detachedFromTarget", gone), attached(None, "pw-tab-2", "T1")]
    );
}
