//! Commands to the tab, replies to the asker, events to whom they concern.

use crate::tests::*;

#[test]
fn a_command_goes_to_the_tab_and_its_reply_to_the_asker() {
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
    let effects = relay.reply(EXTENSION, 2, Err("Cannot reload"));
    let error = Error::server("Cannot reload");
    assert_eq!(effects, [failure(Some("pw-tab-1"), 2, error)]);
}

#[test]
fn events_go_to_every_session_over_their_tab_and_to_no_other() {
    let mut relay = Stage::with_attached_client();
    relay.command(None, 2, "Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#);
    relay.attach_tab(EXTENSION, "pw-tab-2", "T2");
    relay.command(Some("pw-tab-1"), 3, "Page.enable", "{}");
    relay.reply(EXTENSION, 1, Ok(json!({})));
    for session in ["pw-tab-1.2", "pw-tab-2"] {
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
fn a_reply_for_a_client_that_left_is_dropped() {
    let mut relay = Stage::with_attached_client();
    relay.command(Some("pw-tab-1"), 1, "Runtime.evaluate", "{}");
    relay.handle(Input::ClientDisconnected { client: CLIENT });
    assert_eq!(relay.reply(EXTENSION, 1, Ok(json!({}))), []);
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
