//! Every transition: inputs in, effects out.

#![expect(clippy::wildcard_enum_match_arm, reason = "the rest is of no interest here")]

mod for_chrome;
mod silence;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared_protocol::{
    ExtensionHello, ExtensionMessage, Extra, Payload, RequestId, SessionId, TabId, TargetId,
    TargetInfo, Unreadable,
};

use super::{
    Attempt, Debuggee, Effect, GroupId, Icon, Input, Look, Place, Settings, Ticket, WindowId,
    Worker,
};

const TAB: TabId = TabId(11);
const OTHER: TabId = TabId(12);
const FIRST: Attempt = Attempt(1);

#[test]
fn the_relay_is_probed_before_a_socket_is_opened() {
    let mut worker = Machine::default();
    assert_eq!(worker.start()[1..], [Effect::Probe { attempt: FIRST, port: 19988 }]);
    assert_eq!(
        worker.handle(Input::Probed { attempt: FIRST, found: true }),
        [Effect::OpenSocket { attempt: FIRST, port: 19988, hello: ExtensionHello::default() }]
    );
}

#[test]
fn a_fresh_start_gives_back_what_a_closed_browser_kept() {
    let effects = Machine::default().start();
    let Effect::SetPermissions { ticket: None, clear, rules } = &effects[0] else { panic!() };
    assert_eq!((clear.len(), rules.len()), (5, 0), "all there are");
}

#[test]
fn a_relay_that_is_not_there_is_looked_for_again() {
    let mut worker = Machine::default();
    worker.start();
    assert_eq!(
        worker.handle(Input::Probed { attempt: FIRST, found: false }),
        [Effect::RetryLater { attempt: FIRST }]
    );
    let again = Attempt(2);
    assert_eq!(
        worker.handle(Input::RetryDue { attempt: FIRST }),
        [Effect::Probe { attempt: again, port: 19988 }]
    );
    assert_eq!(worker.handle(Input::RetryDue { attempt: FIRST }), [], "one search at a time");
    assert_eq!(worker.handle(Input::AlarmRang), [], "one search at a time");
    assert_eq!(worker.handle(Input::Probed { attempt: FIRST, found: true }), [], "stale news");
}

#[test]
fn another_port_is_tried_next() {
    let mut worker = Machine::connected();
    assert_eq!(worker.handle(Input::SettingsChanged(settings(19988))), []);
    assert_eq!(worker.handle(Input::SettingsChanged(settings(7))), [Effect::CloseSocket]);
    assert_eq!(
        worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 })[0],
        Effect::RetryLater { attempt: FIRST }
    );
    assert_eq!(
        worker.handle(Input::RetryDue { attempt: FIRST }),
        [Effect::Probe { attempt: Attempt(2), port: 7 }]
    );
}

#[test]
fn a_click_attaches_the_tab_and_announces_it() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.handle(Input::IconClicked { tab: TAB }),
        [Effect::Attach { tab: TAB }, show(TAB, Icon::Grey, "Playwriter: connecting")]
    );
    assert!(!worker.0.is_settled(TAB));
    let effects = worker.attached(TAB, "T1");
    assert_eq!(effects, [announced("pw-tab-1", "T1")], "the grey icon is still being shown");
    assert_eq!(
        worker.handle(Input::Shown { tab: TAB }),
        [show(TAB, Icon::Green, "Playwriter: this tab is controlled; click to release it")]
    );
    worker.handle(Input::Shown { tab: TAB });
    assert!(worker.0.is_settled(TAB) && worker.0.is_connected(TAB));
}

#[test]
fn a_second_click_releases_the_tab() {
    let mut worker = Machine::with_tab();
    let effects = worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(
        effects,
        [
            Effect::Detach { tab: TAB },
            event(
                None,
                "Target.detachedFromTarget",
                json!({"sessionId":"pw-tab-1","targetId":"T1"})
            ),
            show(TAB, Icon::Black, "Playwriter: click to control this tab"),
        ]
    );
}

#[test]
fn a_session_name_is_never_used_twice() {
    let mut worker = Machine::with_tab();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_click_while_the_tab_is_being_attached_takes_it_back() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    let effects = worker.attached(TAB, "T1");
    assert_eq!(effects, [Effect::Detach { tab: TAB }]);
    assert!(!worker.0.is_connected(TAB));
}

#[test]
fn a_page_that_cannot_be_attached_says_why() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::Shown { tab: TAB });
    let outcome = Err("Cannot access a chrome:// URL".to_owned());
    assert_eq!(
        worker.handle(Input::Attached { tab: TAB, outcome }),
        [Effect::Show {
            tab: TAB,
            look: Look {
                icon: Icon::Black,
                badge: "!",
                title: "Playwriter cannot control this page: Cannot access a chrome:// URL"
                    .to_owned(),
            },
        }]
    );
}

#[test]
fn a_tab_clicked_without_a_relay_waits_for_it() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: false });
    let effects = worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(
        effects,
        [
            Effect::Probe { attempt: Attempt(2), port: 19988 },
            show(TAB, Icon::Grey, "Playwriter: connecting"),
        ]
    );
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    let effects = worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    assert_eq!(effects, [Effect::Send(ExtensionMessage::Ready), Effect::Attach { tab: TAB }]);
}

#[test]
fn after_a_reconnect_all_tabs_are_announced_again_under_their_names() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    let effects = worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    let sent: Vec<_> =
        effects.into_iter().filter(|effect| matches!(effect, Effect::Send(_))).collect();
    let ready = Effect::Send(ExtensionMessage::Ready);
    assert_eq!(sent, [announced("pw-tab-1", "T1"), announced("pw-tab-2", "T2"), ready]);
}

#[test]
fn a_command_runs_on_its_tab_or_child_and_is_answered() {
    let mut worker = Machine::with_tab();
    let child = json!({ "sessionId": "C", "targetInfo": { "targetId": "F", "type": "iframe" } });
    worker.debugger_event(None, "Target.attachedToTarget", child);
    for (session, session_id) in [("pw-tab-1", None), ("C", Some(SessionId::new("C")))] {
        assert_eq!(
            worker.command(5, Some(session), "Page.reload", json!({ "a": 1 })),
            [Effect::RunCommand {
                ticket: Some(ticket(5)),
                debuggee: Debuggee { tab_id: TAB, session_id },
                method: "Page.reload".to_owned(),
                params: Some(Json(json!({ "a": 1 }))),
            }]
        );
    }
    let outcome = Ok(Json(json!({ "b": 2 })));
    assert_eq!(
        worker.handle(Input::CommandDone { ticket: ticket(5), outcome }),
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
fn an_answer_for_a_relay_that_has_gone_is_dropped() {
    let mut worker = Machine::with_tab();
    worker.command(5, Some("pw-tab-1"), "Page.reload", json!({}));
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    let outcome = Ok(Json(json!({})));
    assert_eq!(worker.handle(Input::CommandDone { ticket: ticket(5), outcome }), []);
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
    worker.handle(Input::TabCreated { ticket: ticket(5), outcome: Ok((TAB, None)) });
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
    worker.handle(Input::TabCreated { ticket: ticket(5), outcome: Ok((TAB, None)) });
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
        worker.handle(Input::TabCreated { ticket: ticket(5), outcome }),
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
fn a_tab_whose_debugger_was_taken_away_is_reported_gone() {
    let mut worker = Machine::with_tab();
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(
        worker.handle(Input::DebuggerDetached { tab: TAB, reason: "canceled_by_user".to_owned() }),
        [
            event(None, "Target.detachedFromTarget", gone),
            show(TAB, Icon::Black, "Playwriter: click to control this tab"),
        ]
    );
    assert_eq!(
        worker.handle(Input::DebuggerDetached { tab: TAB, reason: "canceled_by_user".to_owned() }),
        []
    );
}

#[test]
fn what_the_worker_does_not_know_is_answered_if_it_waits() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.relay_sent(json!({ "method": "ping" })),
        [Effect::Send(ExtensionMessage::Pong)]
    );
    assert_eq!(worker.relay_sent(json!({ "id": 5, "method": "teleport" })), [reply(5, Ok(None))]);
    assert_eq!(worker.relay_sent(json!({ "method": "teleported" })), []);
}

#[test]
fn releasing_all_releases_each() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    let detached: Vec<_> = worker
        .handle(Input::ReleaseAll)
        .into_iter()
        .filter(|effect| matches!(effect, Effect::Detach { .. }))
        .collect();
    assert_eq!(detached, [Effect::Detach { tab: TAB }, Effect::Detach { tab: OTHER }]);
}

#[test]
fn a_tooltip_says_that_no_relay_is_running() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: false });
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::Probed { attempt: Attempt(2), found: false });
    assert_eq!(
        worker.handle(Input::Shown { tab: TAB }),
        [show(
            TAB,
            Icon::Grey,
            "Playwriter: no relay is running; start one with `playwriter serve`"
        )]
    );
}

#[test]
fn a_displaced_worker_waits_until_the_relay_is_free() {
    let mut worker = Machine::connected();
    let later = [Effect::RetryLater { attempt: FIRST }];
    let effects = worker.handle(Input::SocketClosed { attempt: FIRST, code: 4001 });
    assert_eq!(effects[..1], later);
    assert_eq!(worker.handle(Input::AlarmRang), [], "one timer is enough");
    assert_eq!(
        worker.handle(Input::RetryDue { attempt: FIRST }),
        [Effect::AskStatus { attempt: FIRST, port: 19988 }]
    );
    assert_eq!(worker.handle(Input::StatusSeen { attempt: FIRST, taken: true }), later);
    assert_eq!(
        worker.handle(Input::StatusSeen { attempt: FIRST, taken: false }),
        [Effect::Probe { attempt: Attempt(2), port: 19988 }]
    );
}

#[test]
fn the_next_worker_takes_over_tabs_children_and_names() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    worker.handle(Input::IconClicked { tab: OTHER });
    let child = json!({ "sessionId": "C", "targetInfo": { "targetId": "F", "type": "iframe" } });
    let written = worker.0.handle(Input::DebuggerEvent {
        tab: TAB,
        session: None,
        method: "Target.attachedToTarget".to_owned(),
        params: Json(child.clone()),
    });
    let Some(Effect::Persist(snapshot)) = written.into_iter().next() else { panic!() };
    let stored = serde_json::to_string(&snapshot).unwrap();

    let mut next = Machine::default();
    assert_eq!(next.debugger_event(None, "Page.frameResized", json!({})), [], "kept for later");
    let hello = Box::default();
    let snapshot = Box::new(serde_json::from_str(&stored).unwrap());
    next.handle(Input::Started { settings: settings(19988), hello, snapshot });
    next.handle(Input::Probed { attempt: FIRST, found: true });
    let effects = next.handle(Input::SocketOpened { attempt: FIRST });
    let child_announced = event(
        Some("pw-tab-1"),
        "Target.attachedToTarget",
        serde_json::to_value(
            serde_json::from_value::<shared_protocol::AttachedToTarget<Json>>(child).unwrap(),
        )
        .unwrap(),
    );
    assert_eq!(
        effects[..3],
        [announced("pw-tab-1", "T1"), child_announced, Effect::Send(ExtensionMessage::Ready)]
    );
    next.handle(Input::IconClicked { tab: OTHER });
    assert_eq!(next.attached(OTHER, "T2"), [announced("pw-tab-3", "T2")]);
}

#[test]
fn a_tab_that_chrome_took_away_is_taken_back_under_a_new_name() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    let effects = worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(
        effects,
        [
            event(None, "Target.detachedFromTarget", gone),
            Effect::Look { tab: TAB },
            show(TAB, Icon::Grey, "Playwriter: connecting"),
        ]
    );
    assert_eq!(
        worker.handle(Input::Looked { tab: TAB, is_there: true }),
        [Effect::Attach { tab: TAB }]
    );
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_tab_that_was_closed_is_not_looked_for_again() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    worker.handle(Input::Looked { tab: TAB, is_there: false });
    assert!(!worker.0.is_connected(TAB));
    assert_eq!(worker.handle(Input::TabNavigated { tab: TAB }), []);
}

#[test]
fn taking_a_tab_back_is_tried_ever_more_slowly_and_then_given_up() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    let mut waits = Vec::new();
    for _ in 0..6 {
        worker.handle(Input::Looked { tab: TAB, is_there: true });
        let outcome = Err("Another debugger is already attached".to_owned());
        for effect in worker.handle(Input::Attached { tab: TAB, outcome }) {
            if let Effect::ReattachLater { wait, .. } = effect {
                waits.push(wait.as_millis());
            }
        }
    }
    assert_eq!(waits, [250, 1000, 4000, 16000, 64000]);
    assert_eq!(worker.0.status().tabs, []);
}

#[test]
fn a_tab_on_a_protected_page_is_ours_again_when_it_leaves_it() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    worker.handle(Input::Looked { tab: TAB, is_there: true });
    let outcome = Err("Cannot access a chrome:// URL".to_owned());
    worker.handle(Input::Attached { tab: TAB, outcome });
    assert_eq!(worker.0.status().tabs[0].state, "restricted");
    let effects = worker.handle(Input::TabNavigated { tab: TAB });
    assert!(effects.contains(&Effect::Attach { tab: TAB }), "{effects:?}");
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_crashed_tab_answers_what_was_asked_and_what_is_asked() {
    let mut worker = Machine::with_tab();
    worker.command(5, Some("pw-tab-1"), "Page.reload", json!({}));
    let effects = worker.debugger_event(None, "Inspector.targetCrashed", json!({}));
    assert_eq!(effects[0], reply(5, Err("Target crashed")));
    let effects = worker.command(6, Some("pw-tab-1"), "Page.reload", json!({}));
    assert_eq!(effects, [reply(6, Err("Target crashed"))]);
    worker.debugger_event(None, "Inspector.targetReloadedAfterCrash", json!({}));
    let effects = worker.command(7, Some("pw-tab-1"), "Page.reload", json!({}));
    assert!(matches!(effects.as_slice(), [Effect::RunCommand { .. }]));
}

#[test]
fn a_command_finds_its_tab_by_what_its_parameters_name() {
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
        ticket: None,
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
fn a_popup_of_a_controlled_tab_is_controlled_and_of_another_is_not() {
    let mut worker = Machine::with_tab();
    assert_eq!(worker.handle(Input::PopupOpened { tab: OTHER, opener: TabId(99) }), []);
    let effects = worker.handle(Input::PopupOpened { tab: OTHER, opener: TAB });
    assert_eq!(effects[0], Effect::Attach { tab: OTHER });
    assert_eq!(worker.attached(OTHER, "T2"), [announced("pw-tab-2", "T2")]);
}

#[test]
fn a_tab_in_use_is_kept_awake_until_the_client_pauses() {
    let mut worker = Machine::with_tab();
    let mut run =
        |id, method: &str| methods(&worker.command(id, Some("pw-tab-1"), method, json!({})));
    let focus = "Emulation.setFocusEmulationEnabled";
    let moved = "Input.dispatchMouseEvent";
    assert_eq!(
        run(1, "Runtime.evaluate"),
        ["rest later", focus, "Page.startScreencast", "Runtime.evaluate"]
    );
    assert_eq!(run(2, moved), [moved]);
    assert_eq!(run(3, moved), [moved]);
    let rest = |uses| Input::RestDue { tab: TAB, uses };
    assert_eq!(methods(&worker.handle(rest(1))), ["rest later"], "used again meanwhile");
    assert_eq!(methods(&worker.handle(rest(3))), ["rest later"], "still busy");
    for id in 1..=3 {
        worker.handle(Input::CommandDone { ticket: ticket(id), outcome: Ok(Json(json!({}))) });
    }
    assert_eq!(methods(&worker.handle(rest(3))), ["Page.stopScreencast", focus]);
}

#[test]
fn a_clients_own_screencast_takes_the_place_of_ours() {
    let mut worker = Machine::with_tab();
    let mut run =
        |id, method: &str| methods(&worker.command(id, Some("pw-tab-1"), method, json!({})));
    run(1, "Page.captureScreenshot");
    assert_eq!(run(2, "Page.startScreencast"), ["Page.stopScreencast", "Page.startScreencast"]);
    assert_eq!(run(3, "Page.captureScreenshot"), ["Page.captureScreenshot"]);
    assert_eq!(run(4, "Page.stopScreencast"), ["Page.stopScreencast"]);
    assert_eq!(
        run(5, "Page.captureScreenshot"),
        ["Page.startScreencast", "Page.captureScreenshot"]
    );
}

#[test]
fn tabs_are_grouped_one_after_the_other() {
    let mut worker = Machine::with_groups();
    let group = |tab, groups: &[i32]| Effect::Group {
        tab,
        groups: groups.iter().copied().map(GroupId).collect(),
    };
    worker.handle(Input::IconClicked { tab: TAB });
    assert!(worker.attached(TAB, "T1").contains(&group(TAB, &[])));
    worker.handle(Input::IconClicked { tab: OTHER });
    assert!(!worker.attached(OTHER, "T2").contains(&group(OTHER, &[])), "one at a time");
    let effects = worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    assert_eq!(effects, [group(OTHER, &[7])]);
}

#[test]
fn dragging_a_tab_in_or_out_of_the_group_is_as_good_as_a_click() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    let regroup = |tab, group: Option<i32>| Input::TabRegrouped { tab, group: group.map(GroupId) };
    assert_eq!(worker.handle(regroup(TAB, Some(7))), [], "that was us");
    assert_eq!(worker.handle(regroup(OTHER, Some(8))), [], "a group of the user's");
    assert_eq!(worker.handle(regroup(OTHER, Some(7)))[0], Effect::Attach { tab: OTHER });
    assert_eq!(worker.handle(regroup(TAB, None)), [Effect::AskPlace { tab: TAB }]);
    let effects = worker.handle(Input::Placed { tab: TAB, group: None });
    assert_eq!(effects[0], Effect::Detach { tab: TAB });
}

#[test]
fn a_tab_that_moves_to_another_window_is_grouped_there() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    // The order in which Chrome tells it.
    let left = Input::TabRegrouped { tab: TAB, group: None };
    assert_eq!(worker.handle(left), [Effect::AskPlace { tab: TAB }]);
    worker.handle(Input::TabMoved { tab: TAB });
    assert_eq!(
        worker.handle(Input::Placed { tab: TAB, group: None }),
        [Effect::Group { tab: TAB, groups: vec![GroupId(7)] }]
    );
}

#[test]
fn tabs_of_a_separate_window_open_in_one_window_and_close_with_the_last() {
    let mut worker = Machine::connected();
    let mode = json!({ "method": "setWindowMode", "params": { "separateWindow": true } });
    assert_eq!(worker.relay_sent(mode), []);
    let create = "Target.createTarget";
    assert_eq!(
        worker.command(1, None, create, json!({})),
        [create_tab(1, "about:blank", Place::OwnWindow)]
    );
    assert_eq!(worker.command(2, None, create, json!({})), [], "waits for the window");
    let window = WindowId(3);
    let effects =
        worker.handle(Input::TabCreated { ticket: ticket(1), outcome: Ok((TAB, Some(window))) });
    assert!(effects.contains(&create_tab(2, "about:blank", Place::Window(window))));
    worker.attached(TAB, "T1");
    worker.handle(Input::TabCreated { ticket: ticket(2), outcome: Ok((OTHER, Some(window))) });
    worker.attached(OTHER, "T2");
    let closed = |effects: &[Effect<Json>]| {
        effects.iter().any(|effect| matches!(effect, Effect::CloseTabs { tabs } if tabs.len() == 2))
    };
    assert!(!closed(&worker.handle(Input::IconClicked { tab: TAB })));
    assert!(closed(&worker.handle(Input::IconClicked { tab: OTHER })));
}

#[test]
fn a_separate_window_that_the_user_closed_is_opened_again() {
    let mut worker = Machine::connected();
    let mode = json!({ "method": "setWindowMode", "params": { "separateWindow": true } });
    worker.relay_sent(mode);
    worker.command(1, None, "Target.createTarget", json!({}));
    let outcome = Ok((TAB, Some(WindowId(3))));
    worker.handle(Input::TabCreated { ticket: ticket(1), outcome });
    worker.attached(TAB, "T1");
    worker.handle(Input::TabRemoved { tab: TAB });
    worker.handle(Input::WindowRemoved { window: WindowId(3) });
    assert_eq!(
        worker.command(2, None, "Target.createTarget", json!({})),
        [create_tab(2, "about:blank", Place::OwnWindow)]
    );
}

#[test]
fn what_a_worker_was_about_to_take_the_next_one_takes() {
    let mut worker = Machine::with_tab();
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    let written = worker.0.handle(Input::IconClicked { tab: OTHER });
    let Some(Effect::Persist(snapshot)) = written.into_iter().next() else { panic!() };
    let mut snapshot: super::Snapshot<Json> =
        serde_json::from_value(serde_json::to_value(&snapshot).unwrap()).unwrap();
    // The shell found that the first tab's debugger was taken away meanwhile.
    snapshot.tabs.clear();
    snapshot.lost.push(TAB);

    let mut next = Machine::default();
    let (hello, snapshot) = (Box::default(), Box::new(snapshot));
    let effects = next.handle(Input::Started { settings: settings(19988), hello, snapshot });
    assert_eq!(effects[0], Effect::Look { tab: TAB });
    next.handle(Input::Probed { attempt: FIRST, found: true });
    let effects = next.handle(Input::SocketOpened { attempt: FIRST });
    assert!(effects.contains(&Effect::Attach { tab: OTHER }), "{effects:?}");
    let effects = next.handle(Input::Looked { tab: TAB, is_there: true });
    assert!(effects.contains(&Effect::Attach { tab: TAB }), "{effects:?}");
}

#[test]
fn a_tab_that_is_taken_away_again_and_again_is_taken_back_ever_more_slowly() {
    let mut worker = Machine::with_tab();
    let next_try = |worker: &mut Machine| {
        let reason = "target_closed".to_owned();
        let effects = worker.handle(Input::DebuggerDetached { tab: TAB, reason });
        worker.handle(Input::Looked { tab: TAB, is_there: true });
        worker.attached(TAB, "T1");
        effects.into_iter().find_map(|effect| match effect {
            Effect::Look { .. } => Some(0),
            Effect::ReattachLater { wait, .. } => Some(wait.as_millis()),
            _ => None,
        })
    };
    let waits: Vec<_> = (0..3).map(|_| next_try(&mut worker)).collect();
    assert_eq!(waits, [Some(0), Some(250), Some(1000)]);
    worker.debugger_event(None, "Page.frameNavigated", json!({}));
    assert_eq!(next_try(&mut worker), Some(0), "another page, another chance");
}

#[test]
fn cancel_gives_up_the_tabs_that_we_would_take_back_too() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    let detach = |tab, reason: &str| Input::DebuggerDetached { tab, reason: reason.to_owned() };
    worker.handle(detach(TAB, "target_closed"));
    worker.handle(detach(OTHER, "canceled_by_user"));
    assert_eq!(worker.0.status().tabs, []);
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
fn a_tab_released_while_it_is_being_grouped_leaves_the_group_again() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::IconClicked { tab: TAB });
    let group = Some(GroupId(7));
    let effects = worker.handle(Input::Grouped { group });
    assert_eq!(effects, [Effect::Ungroup { tab: TAB, groups: vec![GroupId(7)] }]);
}

#[test]
fn a_relay_that_stays_away_leaves_no_trace() {
    let mut worker = Machine::with_tab();
    let effects = worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    assert!(effects.contains(&Effect::GiveRelayUpLater { attempt: FIRST }));
    let effects = worker.handle(Input::RelayGivenUp { attempt: FIRST });
    assert!(methods(&effects).contains(&"Fetch.disable".to_owned()));
}

#[derive(Default)]
struct Machine(Worker<Json>);

impl Machine {
    fn connected() -> Self {
        let mut machine = Self::default();
        machine.start();
        machine.handle(Input::Probed { attempt: FIRST, found: true });
        machine.handle(Input::SocketOpened { attempt: FIRST });
        machine
    }

    fn with_groups() -> Self {
        let mut machine = Self::connected();
        let settings = Settings { tab_groups: true, ..settings(19988) };
        machine.handle(Input::SettingsChanged(settings));
        machine
    }

    fn with_tab() -> Self {
        let mut machine = Self::connected();
        machine.control(TAB, "T1");
        machine
    }

    fn control(&mut self, tab: TabId, target: &str) {
        self.handle(Input::IconClicked { tab });
        self.attached(tab, target);
        self.handle(Input::Shown { tab });
        self.handle(Input::Shown { tab });
    }

    fn start(&mut self) -> Vec<Effect<Json>> {
        self.handle(Input::Started {
            settings: settings(19988),
            hello: Box::default(),
            snapshot: Box::default(),
        })
    }

    /// What comes of an input, but for what is written down and what is said in the log.
    fn handle(&mut self, input: Input<Json>) -> Vec<Effect<Json>> {
        let mut effects = self.0.handle(input);
        effects.retain(|effect| {
            !matches!(effect, Effect::Persist(_) | Effect::Send(ExtensionMessage::Log(_)))
        });
        effects
    }

    fn attached(&mut self, tab: TabId, target: &str) -> Vec<Effect<Json>> {
        self.handle(Input::Attached { tab, outcome: Ok(info(target)) })
    }

    fn relay_sent(&mut self, message: Value) -> Vec<Effect<Json>> {
        let message = serde_json::from_value(message).unwrap();
        self.handle(Input::RelaySent { attempt: FIRST, message })
    }

    fn request(&mut self, id: i64, method: &str, params: Value) -> Vec<Effect<Json>> {
        self.relay_sent(json!({ "id": id, "method": method, "params": params }))
    }

    fn command(
        &mut self,
        id: i64,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect<Json>> {
        let params = json!({ "method": method, "sessionId": session, "params": params });
        self.relay_sent(json!({ "id": id, "method": "forwardCDPCommand", "params": params }))
    }

    fn debugger_event(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect<Json>> {
        let (session, params) = (session.map(SessionId::new), Json(params));
        self.handle(Input::DebuggerEvent { tab: TAB, session, method: method.to_owned(), params })
    }
}

/// What runs in a tab, in order.
fn methods(effects: &[Effect<Json>]) -> Vec<String> {
    let method = |effect: &Effect<Json>| {
        if matches!(effect, Effect::RestLater { .. }) {
            return "rest later".to_owned();
        }
        let Effect::RunCommand { method, .. } = effect else { panic!("{effect:?}") };
        method.clone()
    };
    effects.iter().map(method).collect()
}

pub(super) fn info(target: &str) -> TargetInfo<Json> {
    TargetInfo {
        target_id: TargetId::new(target),
        kind: "page".to_owned(),
        title: String::new(),
        url: "http://site/".to_owned(),
        attached: true,
        opener_id: None,
        can_access_opener: false,
        browser_context_id: None,
        extra: Extra::default(),
    }
}

fn info_json(target: &str) -> Value {
    serde_json::to_value(info(target)).unwrap()
}

fn announced(session: &str, target: &str) -> Effect<Json> {
    let params = json!({
        "sessionId": session, "targetInfo": info_json(target), "waitingForDebugger": false,
    });
    event(None, "Target.attachedToTarget", params)
}

fn event(session: Option<&str>, method: &str, params: Value) -> Effect<Json> {
    let params = json!({ "sessionId": session, "method": method, "params": params });
    let message = json!({ "method": "forwardCDPEvent", "params": params });
    Effect::Send(serde_json::from_value(message).unwrap())
}

fn reply(id: i64, outcome: Result<Option<Value>, &str>) -> Effect<Json> {
    let outcome = outcome.map(|result| result.map(Json)).map_err(str::to_owned);
    Effect::Send(ExtensionMessage::Reply { id: RequestId(id), outcome })
}

fn show(tab: TabId, icon: Icon, title: &str) -> Effect<Json> {
    Effect::Show { tab, look: Look { icon, badge: "", title: title.to_owned() } }
}

fn settings(port: u16) -> Settings {
    Settings { port, tab_groups: false }
}

fn create_tab(id: i64, url: &str, place: Place) -> Effect<Json> {
    Effect::CreateTab { ticket: ticket(id), url: url.to_owned(), place }
}

fn ticket(id: i64) -> Ticket {
    Ticket { attempt: FIRST, id: RequestId(id) }
}

/// A payload for native tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Json(pub(super) Value);

impl Payload for Json {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_json::from_value(self.0.clone()).map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        serde_json::to_value(value).map(Self).map_err(|error| Unreadable(error.to_string()))
    }
}
