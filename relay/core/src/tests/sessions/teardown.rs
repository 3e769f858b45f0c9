//! Teardown: sessions and peers that end, fail or are away leave nothing behind.

use crate::tests::script::{A, B, Script};
use crate::tests::*;

const NEXT_WORKER: ConnectionId = ConnectionId(50);

#[test]
fn a_trace_ends_with_its_owner_and_with_nobody_else() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Tracing.start", "{}");
    let complete = script.chrome_says("pw-tab-1", "Tracing.tracingComplete", "{}");
    assert_eq!(complete, ["A pw-tab-1 Tracing.tracingComplete {}"]);
    script.does(B, "- 2 Tracing.start", "{}");
    script.says(A, "pw-tab-1 2 Tracing.start", "{}");
    script.chrome_fails("Tracing has already been started");
    let usage = script.chrome_says("pw-tab-1", "Tracing.bufferUsage", "{}");
    assert_eq!(usage, ["B - Tracing.bufferUsage {}"]);
    assert!(!script.leaves(A).contains(&"> pw-tab-1 Tracing.end".to_owned()));
    assert!(script.leaves(B).contains(&"> pw-tab-1 Tracing.end".to_owned()));
}

#[test]
fn changes_of_clients_are_undone_when_the_relay_ends() {
    let mut script = Script::new();
    let offline = r#"{"cacheDisabled":true}"#;
    script.does(A, "pw-tab-1 1 Network.setCacheDisabled", offline);
    let undone = script.handle(Input::Closing);
    let cache = r#"> pw-tab-1 Network.setCacheDisabled {"cacheDisabled":false}"#.to_owned();
    assert!(undone.contains(&cache), "{undone:?}");
}

#[test]
fn cleanup_for_an_absent_worker_is_sent_when_it_is_back() {
    let mut script = Script::with_capabilities("permissions-v1");
    let zone = r#"{"timezoneId":"Asia/Tokyo"}"#;
    script.does(B, "pw-tab-1 2 Emulation.setTimezoneOverride", zone);
    script.worker_dies();
    assert_eq!(script.leaves(B), [""; 0]);
    let said = script.worker_comes(NEXT_WORKER);
    assert!(said.contains(&r#"> setPermissions {"rules":[]}"#.to_owned()), "{said:?}");
    let reset = r#"> pw-tab-1 Emulation.setTimezoneOverride {"timezoneId":""}"#;
    assert!(said.contains(&reset.to_owned()), "{said:?}");
}

#[test]
fn an_answer_that_comes_after_the_next_worker_counts_for_all() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 2 Runtime.enable", "{}");
    let asked = script.last_request();
    script.worker_comes(NEXT_WORKER);
    let reply = ExtensionMessage::Reply { id: RequestId(asked), outcome: Ok(None) };
    let late = Input::ExtensionSent { connection: EXTENSION, message: reply };
    assert_eq!(script.handle(late), ["A pw-tab-1 #2 {}"]);
    assert_eq!(script.says(B, "pw-tab-1 2 Runtime.enable", "{}"), ["B pw-tab-1 #2 {}"]);
}

#[test]
fn a_dialog_that_was_answered_wrongly_can_be_answered_again() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.enable", "{}");
    script.chrome_says("pw-tab-1", "Page.javascriptDialogOpening", "{}");
    script.says(A, "pw-tab-1 2 Page.handleJavaScriptDialog", "{}");
    script.chrome_fails("Invalid parameters");
    let accept = r#"{"accept":true}"#;
    let again = script.says(A, "pw-tab-1 3 Page.handleJavaScriptDialog", accept);
    assert_eq!(again, [r#"> pw-tab-1 Page.handleJavaScriptDialog {"accept":true}"#]);
}

#[test]
fn auto_attach_that_failed_is_tried_again() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 2 Target.setAutoAttach", AUTO_ATTACH);
    script.chrome_fails("no");
    let again = script.says(A, "pw-tab-1 3 Target.setAutoAttach", AUTO_ATTACH);
    assert!(again[0].starts_with("> pw-tab-1 Target.setAutoAttach"), "{again:?}");
}

#[test]
fn a_client_that_leaves_while_a_domain_is_being_enabled_is_answered() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 2 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 2 Runtime.enable", "{}");
    let left = script.says(B, "- 3 Target.detachFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    assert!(left[0].starts_with("B - Target.detachedFromTarget"), "{left:?}");
    assert!(left[1].starts_with("B pw-tab-1 #2 ") && left[1].contains("Target closed"), "{left:?}");
}

#[test]
fn unreadable_cookies_are_an_error_and_not_an_empty_list() {
    let mut script = Script::new();
    script.says(A, "- 2 Storage.getCookies", "{}");
    let failed = script.chrome_fails("frozen");
    assert!(failed[0].contains("frozen"), "{failed:?}");
    script.says(A, "- 3 Storage.clearCookies", "{}");
    script.chrome_answers(r#"{"cookies":[{"name":"a","domain":"d","path":"/"}]}"#);
    let failed = script.chrome_fails("frozen");
    assert!(failed[0].contains("frozen"), "{failed:?}");
}

#[test]
fn a_command_for_which_there_is_no_room_is_refused_and_no_more() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 2 Fetch.fulfillRequest", r#"{"requestId":"R"}"#);
    let id = RequestId(script.last_request());
    let refused = script.handle(Input::CommandRefused { connection: EXTENSION, id });
    assert!(refused[0].contains("send less at once"), "{refused:?}");
}

#[test]
fn breakpoints_and_a_standstill_end_with_their_owner() {
    let mut script = Script::new();
    for (client, id) in [(A, 2), (B, 2)] {
        script.does(client, &format!("pw-tab-1 {id} Debugger.enable"), "{}");
    }
    script.does(B, "pw-tab-1 3 Overlay.setInspectMode", r#"{"mode":"searchForNode"}"#);
    for (client, id) in [(A, "a"), (B, "b")] {
        script.says(client, "pw-tab-1 4 Debugger.setBreakpointByUrl", r#"{"lineNumber":1}"#);
        script.chrome_answers(&format!(r#"{{"breakpointId":"{id}","locations":[]}}"#));
    }
    let others = r#"{"breakpointId":"a"}"#;
    let told = script.says(B, "pw-tab-1 5 Debugger.removeBreakpoint", others);
    assert_eq!(told, ["B pw-tab-1 #5 {}"], "it is not its own");
    script.chrome_says("pw-tab-1", "Debugger.paused", r#"{"hitBreakpoints":["b"]}"#);
    assert_eq!(
        script.leaves(B),
        [
            r#"> pw-tab-1 Debugger.removeBreakpoint {"breakpointId":"b"}"#,
            "> pw-tab-1 Debugger.resume",
            r#"> pw-tab-1 Overlay.setInspectMode {"mode":"none"}"#,
        ]
    );
    script.chrome_says("pw-tab-1", "Debugger.resumed", "{}");

    script.comes(B);
    script.does(B, "pw-tab-1 2 Debugger.enable", "{}");
    script.says(B, "pw-tab-1 3 Debugger.setBreakpointByUrl", "{}");
    let late = script.last_request();
    script.does(A, "pw-tab-1 6 Debugger.pause", "{}");
    script.chrome_says("pw-tab-1", "Debugger.paused", r#"{"hitBreakpoints":[]}"#);
    let told = script.leaves(B);
    assert_eq!(told, [""; 0], "it stands still for the other one");
    let told = script.chrome_answers_to(late, r#"{"breakpointId":"c"}"#);
    assert_eq!(told, [r#"> pw-tab-1 Debugger.removeBreakpoint {"breakpointId":"c"}"#]);
    let told = script.says(A, "pw-tab-1 7 Debugger.disable", "{}");
    assert_eq!(told, ["> pw-tab-1 Debugger.disable {}"], "which ends all that is left");
}

#[test]
fn dom_breakpoints_end_with_the_session_that_set_them() {
    let mut script = Script::new();
    let (both, own) = (r#"{"url":"/both"}"#, r#"{"eventName":"click"}"#);
    for client in [A, B] {
        script.does(client, "pw-tab-1 2 Debugger.enable", "{}");
        script.does(client, "pw-tab-1 3 DOMDebugger.setXHRBreakpoint", both);
    }
    script.does(B, "pw-tab-1 4 DOMDebugger.setEventListenerBreakpoint", own);
    let removed = script.says(A, "pw-tab-1 4 DOMDebugger.removeXHRBreakpoint", both);
    assert_eq!(removed, ["A pw-tab-1 #4 {}"], "the other one still wants it");
    script.chrome_says("pw-tab-1", "Debugger.paused", r#"{"reason":"XHR","hitBreakpoints":[]}"#);
    assert_eq!(
        script.leaves(B),
        [
            format!("> pw-tab-1 DOMDebugger.removeXHRBreakpoint {both}"),
            format!("> pw-tab-1 DOMDebugger.removeEventListenerBreakpoint {own}"),
            "> pw-tab-1 Debugger.resume".to_owned(),
        ]
    );
}

#[test]
fn a_session_that_disables_its_debugger_leaves_nothing_to_the_others() {
    let mut script = Script::new();
    for client in [A, B] {
        script.does(client, "pw-tab-1 2 Debugger.enable", "{}");
    }
    script.says(A, "pw-tab-1 3 Debugger.setBreakpoint", "{}");
    script.chrome_answers(r#"{"breakpointId":"a"}"#);
    script.does(A, "pw-tab-1 4 Debugger.stepOver", "{}");
    script.chrome_says("pw-tab-1", "Debugger.paused", "{}");
    assert_eq!(
        script.says(A, "pw-tab-1 5 Debugger.disable", "{}"),
        [
            r#"> pw-tab-1 Debugger.removeBreakpoint {"breakpointId":"a"}"#,
            "> pw-tab-1 Debugger.resume",
            "A pw-tab-1 #5 {}",
        ]
    );
}

#[test]
fn a_session_can_be_left_by_the_name_of_its_target() {
    let mut script = Script::new();
    let left = script.says(A, "- 2 Target.detachFromTarget", r#"{"targetId":"T1"}"#);
    assert!(left[0].starts_with("A - Target.detachedFromTarget"), "{left:?}");
    assert_eq!(left[1], "A - #2 {}");
    let again = script.says(A, "- 3 Target.detachFromTarget", r#"{"targetId":"T1"}"#);
    assert_eq!(again, [r#"A - #3 ! "No session for given target id""#]);
}

#[test]
fn a_frozen_tab_does_not_keep_clients_from_starting() {
    let mut script = Script::new();
    for (id, method) in [
        (2, "Page.createIsolatedWorld"),
        (3, "Emulation.setDeviceMetricsOverride"),
        (4, "Network.setCacheDisabled"),
    ] {
        script.says(A, &format!("pw-tab-1 {id} {method}"), r#"{"cacheDisabled":true}"#);
    }
    let told = script.after(Duration::from_secs(10)).join("\n");
    for id in [2, 3, 4] {
        assert!(told.contains(&format!("A pw-tab-1 #{id} ! \"no answer from the tab")), "{told}");
    }
}
