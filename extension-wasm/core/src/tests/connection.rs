//! Finding the relay, losing it, and taking over from an earlier worker.

use super::*;

const SECOND: Attempt = Attempt(2);

#[test]
fn the_relay_is_probed_before_a_socket_is_opened() {
    let mut worker = Machine::default();
    assert_eq!(worker.start()[1..], [Effect::Probe { attempt: FIRST, port: 19988 }]);
    assert_eq!(
        worker.handle(Input::Probed { attempt: FIRST, found: true }),
        [Effect::OpenSocket {
            attempt: FIRST,
            port: 19988,
            hello: ExtensionHello::default(),
            key: None
        }]
    );
}

#[test]
fn permissions_left_by_a_closed_browser_are_cleared_at_start() {
    let effects = Machine::default().start();
    let Effect::SetPermissions { request: None, clear, rules } = &effects[0] else { panic!() };
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
fn all_tabs_keep_their_sessions_over_a_reconnect() {
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
fn an_answer_for_a_relay_that_has_gone_is_dropped() {
    let mut worker = Machine::with_tab();
    worker.command(5, Some("pw-tab-1"), "Page.reload", json!({}));
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    let outcome = Ok(Json(json!({})));
    assert_eq!(worker.handle(Input::CommandDone { request: request(5), outcome }), []);
}

#[test]
fn a_tooltip_says_that_no_relay_is_running() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: false });
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::Probed { attempt: Attempt(2), found: false });
    assert_eq!(
        worker.handle(Input::ToolbarShown { tab: TAB }),
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
    assert_eq!(worker.handle(Input::StatusAnswered { attempt: FIRST, is_taken: true }), later);
    assert_eq!(
        worker.handle(Input::StatusAnswered { attempt: FIRST, is_taken: false }),
        [Effect::Probe { attempt: Attempt(2), port: 19988 }]
    );
}

#[test]
fn the_next_worker_takes_over_tabs_children_and_sessions() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    worker.handle(Input::IconClicked { tab: OTHER });
    let child = json!({ "sessionId": "C", "targetInfo": { "targetId": "F", "type": "iframe" } });
    let written = worker.worker.handle(Input::DebuggerEvent {
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
    let meanwhile = event(Some("pw-tab-1"), "Page.frameResized", json!({}));
    let ready = Effect::Send(ExtensionMessage::Ready);
    assert_eq!(effects[..4], [announced("pw-tab-1", "T1"), child_announced, meanwhile, ready]);
    next.handle(Input::IconClicked { tab: OTHER });
    assert_eq!(next.attached(OTHER, "T2"), [announced("pw-tab-3", "T2")]);
}

#[test]
fn events_are_kept_while_a_new_worker_looks_for_the_relay() {
    let snapshot = Box::new(Machine::with_tab().worker.snapshot());
    let mut next = Machine::default();
    next.handle(Input::Started { settings: settings(19988), hello: Box::default(), snapshot });
    let child = json!({ "sessionId": "C", "targetInfo": { "targetId": "F", "type": "iframe" } });
    next.debugger_event(None, "Target.attachedToTarget", child);
    next.debugger_event(Some("C"), "Runtime.executionContextsCleared", json!({}));
    next.debugger_event(None, "Target.detachedFromTarget", json!({ "sessionId": "C" }));
    next.debugger_event(None, "Network.dataReceived", json!({}));
    next.debugger_event(None, "Page.frameNavigated", json!({ "frame": 1 }));
    next.debugger_event(None, "Runtime.executionContextsCleared", json!({}));
    next.handle(Input::Probed { attempt: FIRST, found: true });
    let effects = next.handle(Input::SocketOpened { attempt: FIRST });
    let told = |method, params| event(Some("pw-tab-1"), method, params);
    assert_eq!(
        effects[..4],
        [
            announced("pw-tab-1", "T1"),
            told("Page.frameNavigated", json!({ "frame": 1 })),
            told("Runtime.executionContextsCleared", json!({})),
            Effect::Send(ExtensionMessage::Ready),
        ],
        "what became of a frame that has gone is told by its absence"
    );
    let again = next.handle(Input::SocketClosed { attempt: FIRST, code: 4005 });
    let later = Effect::GiveRelayUpLater { attempt: FIRST };
    assert_eq!(again, [Effect::RetryLater { attempt: FIRST }, later]);
    next.debugger_event(None, "Page.frameNavigated", json!({ "frame": 2 }));
    assert_eq!(told_on_return(&mut next)[1], told("Page.frameNavigated", json!({ "frame": 2 })));
}

#[test]
fn events_without_a_relay_are_dropped() {
    let with_tabs_and_nobody = || {
        let mut worker = Machine::with_tab();
        worker.handle(Input::SocketClosed { attempt: FIRST, code: 4005 });
        worker
    };
    let mut killed = Machine::with_tab();
    killed.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    let mut given_up = with_tabs_and_nobody();
    given_up.debugger_event(None, "Page.frameNavigated", json!({}));
    given_up.handle(Input::RelayGivenUp { attempt: FIRST });
    for mut worker in [killed, given_up] {
        worker.debugger_event(None, "Page.frameNavigated", json!({}));
        let ready = Effect::Send(ExtensionMessage::Ready);
        assert_eq!(told_on_return(&mut worker)[..2], [announced("pw-tab-1", "T1"), ready]);
    }
    let mut busy = with_tabs_and_nobody();
    for number in 0..5000 {
        busy.debugger_event(None, "Page.frameNavigated", json!({ "number": number }));
    }
    let told = told_on_return(&mut busy);
    let first = event(Some("pw-tab-1"), "Page.frameNavigated", json!({ "number": 904 }));
    assert_eq!((&told[1], told.iter().filter(|it| is_sent(it)).count()), (&first, 4096 + 2));
}

/// Connects to the relay again, and returns the effects.
fn told_on_return(worker: &mut Machine) -> Vec<Effect<Json>> {
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: SECOND, found: true });
    worker.handle(Input::SocketOpened { attempt: SECOND })
}

fn is_sent(effect: &Effect<Json>) -> bool {
    matches!(effect, Effect::Send(_))
}

#[test]
fn tabs_being_attached_when_the_worker_died_are_attached_by_the_next() {
    let mut worker = Machine::with_tab();
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    let written = worker.worker.handle(Input::IconClicked { tab: OTHER });
    let Some(Effect::Persist(snapshot)) = written.into_iter().next() else { panic!() };
    let mut snapshot: crate::Snapshot<Json> =
        serde_json::from_value(serde_json::to_value(&snapshot).unwrap()).unwrap();
    // The shell found that the first tab's debugger was taken away meanwhile.
    snapshot.tabs.clear();
    snapshot.lost.push(TAB);

    let mut next = Machine::default();
    let (hello, snapshot) = (Box::default(), Box::new(snapshot));
    let effects = next.handle(Input::Started { settings: settings(19988), hello, snapshot });
    assert_eq!(effects[0], Effect::CheckTab { tab: TAB });
    next.handle(Input::Probed { attempt: FIRST, found: true });
    let effects = next.handle(Input::SocketOpened { attempt: FIRST });
    assert_eq!(effects, [Effect::Send(ExtensionMessage::Ready), Effect::Attach { tab: OTHER }]);
    let effects = next.handle(Input::TabChecked { tab: TAB, exists: true });
    assert_eq!(effects, [Effect::Attach { tab: TAB }]);
}

#[test]
fn a_relay_that_stays_away_has_its_changes_reverted() {
    let mut worker = Machine::with_tab();
    let effects = worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    assert!(effects.contains(&Effect::GiveRelayUpLater { attempt: FIRST }));
    let effects = worker.handle(Input::RelayGivenUp { attempt: FIRST });
    assert!(methods(&effects).contains(&"Fetch.disable".to_owned()));
}

#[test]
fn an_older_relay_is_named_in_the_tooltip() {
    let older = show(
        TAB,
        Icon::Green,
        "Playwriter: this tab is controlled, but the relay is too old for downloads, permissions \
         and separate windows: update the relay",
    );
    let ping = || json!({ "method": "ping" });
    let mut worker = Machine::with_tab();
    let effects = worker.relay_sent(ping());
    assert_eq!(effects, [Effect::Send(ExtensionMessage::Pong), older]);
    assert_eq!(worker.relay_sent(ping()).len(), 1, "once is enough");
    let mut worker = Machine::with_tab();
    let mode = json!({ "separateWindow": false });
    worker.relay_sent(json!({ "method": "setWindowMode", "params": mode }));
    assert_eq!(worker.relay_sent(ping()).len(), 1, "it knows us");
}

#[test]
fn a_notice_is_in_the_tooltip_while_its_relay_is_connected() {
    let mut worker = Machine::with_tab();
    worker.relay_sent(json!({ "method": "setWindowMode", "params": { "separateWindow": false } }));
    let text = "the extension is too old for teleporting: update the extension";
    let notice = |text: &str| json!({ "method": "setNotice", "params": { "text": text } });
    let effects = worker.relay_sent(notice(text));
    let title = format!("Playwriter: this tab is controlled, but {text}");
    assert_eq!(effects, [show(TAB, Icon::Green, &title)]);
    worker.handle(Input::ToolbarShown { tab: TAB });
    let released =
        show(TAB, Icon::Green, "Playwriter: this tab is controlled; click to release it");
    assert_eq!(worker.relay_sent(json!({ "method": "setNotice", "params": {} })), [released]);
    worker.handle(Input::ToolbarShown { tab: TAB });
    let effects = worker.relay_sent(notice(&"é".repeat(1000)));
    let [Effect::ShowToolbar { state, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(state.title.matches('é').count(), 250, "not more than a tooltip shows");
}

#[test]
fn a_relay_that_refuses_the_extension_is_named_in_the_tooltip() {
    let mut worker = Machine::with_tab();
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: SECOND, found: true });
    worker.handle(Input::SocketClosed { attempt: SECOND, code: 1006 });
    let effects = worker.handle(Input::ToolbarShown { tab: TAB });
    let refused = show(
        TAB,
        Icon::Grey,
        "Playwriter: another relay runs, which does not accept this extension; stop it, then start \
         ours with `playwriter ensure`",
    );
    assert_eq!(effects, [refused]);
}

#[test]
fn the_window_mode_ends_with_its_relay() {
    let mut worker = Machine::connected();
    worker.relay_sent(json!({ "method": "setWindowMode", "params": { "separateWindow": true } }));
    worker.handle(Input::SocketClosed { attempt: FIRST, code: 1006 });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: SECOND, found: true });
    worker.handle(Input::SocketOpened { attempt: SECOND });
    let params = json!({ "method": "Target.createTarget", "params": {} });
    let create = json!({ "id": 1, "method": "forwardCDPCommand", "params": params });
    let message = serde_json::from_value(create).unwrap();
    let effects = worker.handle(Input::RelaySent { attempt: SECOND, message });
    let request = RequestRef { attempt: SECOND, id: RequestId(1) };
    let (url, place) = ("about:blank".to_owned(), Place::Anywhere);
    assert_eq!(effects, [Effect::CreateTab { request, url, place }]);
}
