//! The events that tell clients of tabs and their children, and their order.

use crate::tests::*;

#[test]
fn tabs_are_announced_before_auto_attach_is_answered() {
    let mut relay = Stage::with_client();
    let effects = relay.command(None, 1, "Target.setAutoAttach", AUTO_ATTACH);
    assert_eq!(effects, [attached(None, "pw-tab-1", "T1"), reply(None, 1, json!({}))]);
}

#[test]
fn a_later_tab_is_announced_to_sessions_with_auto_attach() {
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
fn a_paused_child_that_nobody_takes_goes_on() {
    let mut relay = Stage::with_client();
    let child = json!({
        "sessionId": "CHILD", "targetInfo": info("F1"), "waitingForDebugger": true,
    });
    let effects = relay.event(EXTENSION, Some("pw-tab-1"), "Target.attachedToTarget", child);
    assert_eq!(methods(&effects), ["Runtime.runIfWaitingForDebugger"]);
}

#[test]
fn children_are_announced_before_auto_attach_is_answered() {
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

/// A page comes into the tab after so many seconds.
fn main_frame_goes(relay: &mut Stage, seconds: u64) -> Vec<Effect> {
    let main = json!({ "frame": { "id": "T1", "url": "http://main/" } });
    let after = Duration::from_secs(seconds);
    relay.event_at(after, EXTENSION, Some("pw-tab-1"), "Page.frameNavigated", main)
}

#[test]
fn a_page_that_comes_while_its_tab_is_closed_is_closed_as_well() {
    let mut relay = Stage::with_attached_client();
    relay.command(None, 1, "Target.closeTarget", r#"{"targetId":"T1"}"#);
    relay.reply(EXTENSION, 1, Ok(json!({ "success": true })));
    let frame = json!({ "frame": { "id": "F", "parentId": "T1", "url": "http://frame/" } });
    assert_eq!(relay.event(EXTENSION, Some("pw-tab-1"), "Page.frameNavigated", frame), []);
    assert_eq!(methods(&main_frame_goes(&mut relay, 4)), ["Runtime.getIsolateId"]);
    let effects = relay.reply(EXTENSION, 2, Ok(json!({ "id": "an isolate" })));
    assert_eq!(methods(&effects), ["Target.closeTarget"]);
    let later = main_frame_goes(&mut relay, 6);
    assert!(methods(&later).is_empty(), "the user opened it: {later:?}");
}

#[test]
fn a_page_that_answers_too_late_is_not_closed() {
    let mut relay = Stage::with_attached_client();
    relay.command(None, 1, "Target.closeTarget", r#"{"targetId":"T1"}"#);
    relay.reply(EXTENSION, 1, Ok(json!({ "success": true })));
    assert_eq!(methods(&main_frame_goes(&mut relay, 4)), ["Runtime.getIsolateId"]);
    let outcome = Ok(Some(Payload::of(&json!({ "id": "an isolate" }))));
    let message = ExtensionMessage::Reply { id: RequestId(2), outcome };
    let answered = Input::ExtensionSent { connection: EXTENSION, message };
    let effects = relay.at(Duration::from_secs(6), answered);
    assert!(methods(&effects).is_empty(), "{effects:?}");
}

#[test]
fn a_tab_that_could_not_be_closed_stays() {
    let mut relay = Stage::with_attached_client();
    relay.command(None, 1, "Target.closeTarget", r#"{"targetId":"T1"}"#);
    relay.reply(EXTENSION, 1, Err("it cannot be closed"));
    let effects = main_frame_goes(&mut relay, 0);
    assert!(methods(&effects).is_empty(), "{effects:?}");
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
fn a_session_that_did_not_ask_for_children_is_told_of_none() {
    let mut relay = Stage::with_attached_client();
    let child = json!({
        "sessionId": "CHILD", "targetInfo": info("F1"), "waitingForDebugger": true,
    });
    let effects = relay.event(EXTENSION, Some("pw-tab-1"), "Target.attachedToTarget", child);
    assert_eq!(methods(&effects), ["Runtime.runIfWaitingForDebugger"], "it goes on at once");
}

#[test]
fn target_info_follows_the_events_of_the_extension() {
    let mut relay = Stage::with_client();
    let mut changed = info("T1");
    changed["title"] = "a title".into();
    let params = json!({ "targetInfo": changed });
    relay.event(EXTENSION, None, "Target.targetInfoChanged", params);
    assert_eq!(relay.0.pages_status().pages[0].title, "a title");
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
