//! CDP commands on controlled tabs, their replies, and events.

use super::*;

#[test]
fn a_command_runs_on_its_tab_or_child_and_is_answered() {
    let mut worker = Machine::with_tab();
    let child = json!({ "sessionId": "C", "targetInfo": { "targetId": "F", "type": "iframe" } });
    worker.debugger_event(None, "Target.attachedToTarget", child);
    for (session, session_id) in [("pw-tab-1", None), ("C", Some(SessionId::new("C")))] {
        assert_eq!(
            worker.command(5, Some(session), "Page.reload", json!({ "a": 1 })),
            [Effect::RunCommand {
                request: Some(request(5)),
                debuggee: Debuggee { tab_id: TAB, session_id },
                method: "Page.reload".to_owned(),
                params: Some(Json(json!({ "a": 1 }))),
            }]
        );
    }
    let outcome = Ok(Json(json!({ "b": 2 })));
    assert_eq!(
        worker.handle(Input::CommandDone { request: request(5), outcome }),
        [reply(5, Ok(Some(json!({ "b": 2 }))))]
    );
}

#[test]
fn a_command_for_an_unknown_session_fails_readably() {
    let mut worker = Machine::with_tab();
    assert_eq!(
        worker.command(5, Some("pw-tab-9"), "Page.reload", json!({})),
        [reply(5, Err("No tab found for sessionId: pw-tab-9"))]
    );
    assert_eq!(
        worker.command(6, None, "Page.reload", json!({})),
        [reply(6, Err("No tab found for method Page.reload"))]
    );
}

#[test]
fn enabling_runtime_again_sends_the_contexts_again() {
    let mut worker = Machine::with_tab();
    let first = worker.command(1, Some("pw-tab-1"), "Runtime.enable", json!({}));
    assert_eq!(methods(&first), ["Runtime.enable"]);
    let second = worker.command(2, Some("pw-tab-1"), "Runtime.enable", json!({}));
    assert_eq!(methods(&second), ["Runtime.disable", "Runtime.enable"]);
}

#[test]
fn a_new_target_is_announced_before_its_creation_is_answered() {
    let mut worker = Machine::connected();
    let url = json!({ "url": "http://site/" });
    assert_eq!(
        worker.command(5, None, "Target.createTarget", url),
        [create_tab(5, "http://site/", Place::Anywhere)]
    );
    worker.handle(Input::TabCreated { request: request(5), outcome: Ok((TAB, None)) });
    assert_eq!(
        worker.attached(TAB, "T1"),
        [announced("pw-tab-1", "T1"), reply(5, Ok(Some(json!({ "targetId": "T1" }))))]
    );
}

#[test]
fn an_initial_tab_is_announced_by_its_answer_alone() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.relay_sent(json!({ "id": 5, "method": "createInitialTab" })),
        [create_tab(5, "about:blank", Place::Anywhere)]
    );
    worker.handle(Input::TabCreated { request: request(5), outcome: Ok((TAB, None)) });
    let answer = json!({
        "success": true, "tabId": 11, "sessionId": "pw-tab-1", "targetInfo": info_json("T1"),
    });
    assert_eq!(worker.attached(TAB, "T1"), [reply(5, Ok(Some(answer)))]);
}

#[test]
fn a_tab_that_cannot_be_created_is_an_error_reply() {
    let mut worker = Machine::connected();
    worker.command(5, None, "Target.createTarget", json!({}));
    let outcome = Err("No current window".to_owned());
    assert_eq!(
        worker.handle(Input::TabCreated { request: request(5), outcome }),
        [reply(5, Err("No current window"))]
    );
}

#[test]
fn events_carry_the_session_they_came_from() {
    let mut worker = Machine::with_tab();
    assert_eq!(
        worker.debugger_event(None, "Page.frameResized", json!({})),
        [event(Some("pw-tab-1"), "Page.frameResized", json!({}))]
    );
    assert_eq!(
        worker.debugger_event(Some("C"), "Page.frameResized", json!({})),
        [event(Some("C"), "Page.frameResized", json!({}))]
    );
}

#[test]
fn unknown_requests_are_answered_and_unknown_events_are_not() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.relay_sent(json!({ "method": "ping" })),
        [Effect::Send(ExtensionMessage::Pong)]
    );
    assert_eq!(worker.relay_sent(json!({ "id": 5, "method": "teleport" })), [reply(5, Ok(None))]);
    assert_eq!(worker.relay_sent(json!({ "method": "teleported" })), []);
}

#[test]
fn commands_on_a_crashed_tab_fail() {
    let mut worker = Machine::with_tab();
    worker.command(5, Some("pw-tab-1"), "Page.reload", json!({}));
    let effects = worker.debugger_event(None, "Inspector.targetCrashed", json!({}));
    let crashed = "Playwriter: this page has crashed; reload it to go on";
    assert_eq!(
        effects,
        [
            event(Some("pw-tab-1"), "Inspector.targetCrashed", json!({})),
            reply(5, Err("Target crashed")),
            show_badge(TAB, Icon::Grey, "!", crashed),
        ]
    );
    let effects = worker.command(6, Some("pw-tab-1"), "Page.reload", json!({}));
    assert_eq!(effects, [reply(6, Err("Target crashed"))]);
    worker.debugger_event(None, "Inspector.targetReloadedAfterCrash", json!({}));
    let effects = worker.command(7, Some("pw-tab-1"), "Page.reload", json!({}));
    assert_eq!(methods(&effects), ["Page.reload"]);
}

#[test]
fn a_command_finds_its_tab_by_the_target_in_its_parameters() {
    let mut worker = Machine::with_tab();
    for params in [json!({ "targetId": "T1" }), json!({ "sessionId": "pw-tab-1" })] {
        let effects = worker.command(5, None, "Target.closeTarget", params);
        let [Effect::RunCommand { debuggee, .. }] = effects.as_slice() else { panic!() };
        assert_eq!(debuggee, &Debuggee::tab(TAB));
    }
}

#[test]
fn auto_attach_for_all_reaches_tabs_that_come_later() {
    let mut worker = Machine::with_tab();
    let params = json!({ "autoAttach": true, "flatten": true });
    let run = |tab| Effect::RunCommand {
        request: None,
        debuggee: Debuggee::tab(tab),
        method: "Target.setAutoAttach".to_owned(),
        params: Some(Json(params.clone())),
    };
    assert_eq!(
        worker.command(5, None, "Target.setAutoAttach", params.clone()),
        [run(TAB), reply(5, Ok(Some(json!({}))))]
    );
    worker.handle(Input::IconClicked { tab: OTHER });
    assert_eq!(worker.attached(OTHER, "T2"), [run(OTHER), announced("pw-tab-2", "T2")]);
}

#[test]
fn a_hidden_tab_in_use_is_rendered_until_the_client_pauses() {
    let mut worker = Machine::with_tab();
    let mut run =
        |id, method: &str| methods(&worker.command(id, Some("pw-tab-1"), method, json!({})));
    let focus = "Emulation.setFocusEmulationEnabled";
    let moved = "Input.dispatchMouseEvent";
    assert_eq!(
        run(1, "Runtime.evaluate"),
        ["stop rendering later", focus, "Page.startScreencast", "Runtime.evaluate"]
    );
    assert_eq!(run(2, moved), [moved]);
    assert_eq!(run(3, moved), [moved]);
    let rest = |uses| Input::StopRenderingDue { tab: TAB, uses };
    assert_eq!(methods(&worker.handle(rest(1))), ["stop rendering later"], "used again meanwhile");
    assert_eq!(methods(&worker.handle(rest(3))), ["stop rendering later"], "still busy");
    for id in 1..=3 {
        worker.handle(Input::CommandDone { request: request(id), outcome: Ok(Json(json!({}))) });
    }
    assert_eq!(methods(&worker.handle(rest(3))), ["Page.stopScreencast", focus]);
}

#[test]
fn a_screenshot_that_waits_for_a_frame_gets_one() {
    let mut worker = Machine::with_tab();
    let due = |forced| Input::ForceFrameDue { tab: TAB, request: request(1), forced };
    worker.command(1, Some("pw-tab-1"), "Page.captureScreenshot", json!({}));
    let drawn = ["Page.stopScreencast", "Page.startScreencast", "force frame later"];
    assert_eq!(methods(&worker.handle(due(0))), drawn);
    assert_eq!(methods(&worker.handle(due(5))), drawn[..2], "the last time");
    worker.command(2, Some("pw-tab-1"), "Page.startScreencast", json!({}));
    assert_eq!(methods(&worker.handle(due(0))), ["force frame later"], "the client's own draws");
    worker.command(3, Some("pw-tab-1"), "Page.stopScreencast", json!({}));
    assert_eq!(methods(&worker.handle(due(1))), drawn[1..], "and has ended");
    worker.handle(Input::CommandDone { request: request(1), outcome: Ok(Json(json!({}))) });
    assert_eq!(worker.handle(due(0)), []);
}

#[test]
fn a_clients_own_screencast_replaces_ours() {
    let mut worker = Machine::with_tab();
    let mut run =
        |id, method: &str| methods(&worker.command(id, Some("pw-tab-1"), method, json!({})));
    run(1, "Page.captureScreenshot");
    assert_eq!(run(2, "Page.startScreencast"), ["Page.stopScreencast", "Page.startScreencast"]);
    assert_eq!(run(3, "Page.captureScreenshot"), ["force frame later", "Page.captureScreenshot"]);
    assert_eq!(run(4, "Page.stopScreencast"), ["Page.stopScreencast"]);
    assert_eq!(
        run(5, "Page.captureScreenshot"),
        ["Page.startScreencast", "force frame later", "Page.captureScreenshot"]
    );
}

#[test]
fn a_crashed_tab_can_be_closed() {
    let mut worker = Machine::with_tab();
    worker.debugger_event(None, "Inspector.targetCrashed", json!({}));
    assert_eq!(
        worker.command(5, Some("pw-tab-1"), "Target.closeTarget", json!({ "targetId": "T1" })),
        [Effect::CloseTabs { tabs: vec![TAB] }, reply(5, Ok(Some(json!({ "success": true }))))]
    );
}

#[test]
fn events_about_frames_come_after_the_frame_tree() {
    let mut worker = Machine::with_tab();
    worker.command(1, Some("pw-tab-1"), "Page.getFrameTree", json!({}));
    assert_eq!(worker.command(2, Some("pw-tab-1"), "Runtime.enable", json!({})), []);
    assert_eq!(
        methods(&worker.command(3, Some("pw-tab-1"), "Log.enable", json!({}))),
        ["Log.enable"]
    );
    let resume = "Runtime.runIfWaitingForDebugger";
    assert_eq!(worker.command(4, Some("pw-tab-1"), resume, json!({})), []);
    let done = |id| Input::CommandDone { request: request(id), outcome: Ok(Json(json!({}))) };
    assert_eq!(
        worker.handle(done(1)),
        [reply(1, Ok(Some(json!({})))), Effect::AwaitOldRelay { port: 19988 }],
        "first the tree, and time for an older relay to pass it on"
    );
    assert_eq!(methods(&worker.handle(Input::OldRelayDrained)), ["Runtime.enable", resume]);
    assert_eq!(worker.handle(done(2)), [reply(2, Ok(Some(json!({}))))]);
}

#[test]
fn commands_wait_until_an_older_relay_has_forwarded_both_frame_trees() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    for (id, session) in [(1, "pw-tab-1"), (2, "pw-tab-2")] {
        worker.command(id, Some(session), "Page.getFrameTree", json!({}));
    }
    assert_eq!(worker.command(3, Some("pw-tab-1"), "Runtime.enable", json!({})), []);
    let done = |id| Input::CommandDone { request: request(id), outcome: Ok(Json(json!({}))) };
    worker.handle(done(1));
    worker.handle(done(2));
    assert_eq!(worker.command(4, Some("pw-tab-2"), "Runtime.enable", json!({})), []);
    assert_eq!(
        worker.handle(Input::OldRelayDrained),
        [],
        "the second tree may still be on its way"
    );
    let enabled = ["Runtime.enable", "Runtime.enable"];
    assert_eq!(methods(&worker.handle(Input::OldRelayDrained)), enabled);
}
