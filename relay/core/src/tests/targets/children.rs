//! Tabs, frames and workers: who is told of them, in which order, and when they run.

use crate::tests::script::{A, B, Script, nothing};
use crate::tests::*;

const WAIT: &str = AUTO_ATTACH;
const NO_WAIT: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}"#;
const TABS_ONLY: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page","exclude":true},{}]}"#;

#[test]
fn a_filter_with_tabs_shows_the_tab_target_around_a_page() {
    let mut script = Script::new();
    let lines =
        script.says(A, "- 2 Target.setDiscoverTargets", r#"{"discover":true,"filter":[{}]}"#);
    let kinds: Vec<&str> = lines.iter().filter_map(|line| kind(line)).collect();
    assert_eq!(kinds, ["browser", "tab", "page"]);
    script.says(
        B,
        "- 2 Target.setAutoAttach",
        r#"{"autoAttach":false,"waitForDebuggerOnStart":false}"#,
    );
    let lines = script.says(B, "- 3 Target.setAutoAttach", TABS_ONLY);
    assert!(lines[0].starts_with(r#"B - Target.attachedToTarget {"sessionId":"tab-of-pw-tab-1""#));
    assert_eq!(lines[1..], ["B - #3 {}"]);
    let lines = script.says(B, "tab-of-pw-tab-1 1 Target.setAutoAttach", WAIT);
    assert!(
        lines[0]
            .starts_with(r#"B tab-of-pw-tab-1 Target.attachedToTarget {"sessionId":"pw-tab-1""#)
    );
    let gone = script.chrome_says("-", "Target.detachedFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    let order: Vec<String> =
        gone.iter().map(|line| line.split(" {").next().unwrap().to_owned()).collect();
    assert_eq!(
        order,
        [
            "A - Target.detachedFromTarget",
            "B tab-of-pw-tab-1 Target.detachedFromTarget",
            "A - Target.targetDestroyed",
            "B - Target.detachedFromTarget",
            "A - Target.targetDestroyed",
        ]
    );
}

#[test]
fn a_new_tab_is_announced_before_its_creation_is_answered() {
    let mut script = Script::new();
    script.says(A, "- 2 Target.setDiscoverTargets", r#"{"discover":true}"#);
    assert_eq!(
        script.says(A, "- 3 Target.createTarget", r#"{"url":"about:blank"}"#),
        [r#"> - Target.createTarget {"url":"about:blank"}"#]
    );
    let create = script.last_request();
    let lines = script.attach_tab("pw-tab-2", "T2");
    let methods: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(
        methods,
        [
            "Target.targetCreated",
            "Target.attachedToTarget",
            "Target.attachedToTarget",
            "Target.targetInfoChanged",
            "Target.setAutoAttach",
        ]
    );
    let created = script.chrome_answers_to(create, r#"{"targetId":"T2"}"#);
    assert_eq!(created, [r#"A - #3 {"targetId":"T2"}"#]);
}

#[test]
fn each_session_is_told_of_the_children_that_it_wants() {
    let mut script = Script::new();
    let only_frames = r#"{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{"type":"iframe"}]}"#;
    script.does(A, "pw-tab-1 1 Target.setAutoAttach", only_frames);
    assert_eq!(script.child("pw-tab-1", "F", "iframe", false).len(), 1);
    assert_eq!(script.child("pw-tab-1", "W", "worker", false), nothing());
    let lines = script.says(B, "pw-tab-1 1 Target.setAutoAttach", NO_WAIT);
    assert!(lines[0].contains(r#""sessionId":"F""#) && lines[1].contains(r#""sessionId":"W""#));
    assert_eq!(lines[2], "B pw-tab-1 #1 {}");
    let off = r#"{"autoAttach":false,"waitForDebuggerOnStart":false}"#;
    let lines = script.says(B, "pw-tab-1 2 Target.setAutoAttach", off);
    assert_eq!(lines.len(), 3, "two ends and an answer: {lines:?}");
    assert!(
        script.leaves(A)[0].starts_with(r#"> pw-tab-1 Target.setAutoAttach {"autoAttach":false"#)
    );
}

#[test]
fn a_target_runs_when_all_waiting_sessions_have_let_it() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Target.setAutoAttach", WAIT);
    script.does(B, "pw-tab-1 1 Target.setAutoAttach", WAIT);
    script.child("pw-tab-1", "W", "worker", true);
    let run = "W 2 Runtime.runIfWaitingForDebugger";
    assert_eq!(script.says(A, run, "{}"), ["A W #2 {}"]);
    assert_eq!(script.says(B, run, "{}"), ["> W Runtime.runIfWaitingForDebugger {}"]);
}

#[test]
fn a_target_runs_when_a_waiting_session_leaves_or_takes_too_long() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Target.setAutoAttach", WAIT);
    script.child("pw-tab-1", "W", "worker", true);
    assert_eq!(script.after(Duration::from_secs(4)), nothing());
    assert_eq!(script.after(Duration::from_secs(5)), ["> W Runtime.runIfWaitingForDebugger"]);
    script.child("pw-tab-1", "V", "worker", true);
    let lines = script.leaves(A);
    assert!(lines.contains(&"> V Runtime.runIfWaitingForDebugger".to_owned()), "{lines:?}");
}

#[test]
fn children_stay_while_a_session_is_attached_to_one() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 2 Target.setAutoAttach", AUTO_ATTACH);
    script.child("pw-tab-1", "F", "iframe", false);
    script.does(A, "F 3 Target.setAutoAttach", AUTO_ATTACH);
    script.child("F", "W", "worker", false);
    let attached = script.says(B, "- 2 Target.attachToTarget", r#"{"targetId":"target-worker"}"#);
    assert_eq!(attached[1], r#"B - #2 {"sessionId":"W"}"#);
    let told = script.leaves(A);
    assert_eq!(told, [attaching("F", true), attaching("pw-tab-1", true)]);
    let told = script.says(B, "- 3 Target.detachFromTarget", r#"{"sessionId":"W"}"#);
    assert_eq!(told[2..], [attaching("pw-tab-1", false), attaching("F", false)]);
    assert_eq!(told[1], "B - #3 {}");
}

#[test]
fn a_session_that_follows_targets_is_told_of_children() {
    let mut script = Script::new();
    let follow = "- 2 Target.setDiscoverTargets";
    let pages = r#"{"discover":true,"filter":[{"type":"page"}]}"#;
    assert!(!script.says(B, follow, pages).contains(&attaching("pw-tab-1", true)));
    let told = script.does(B, follow, r#"{"discover":true}"#);
    assert_eq!(told.last(), Some(&attaching("pw-tab-1", true)));
    let told = script.child("pw-tab-1", "F", "iframe", false);
    assert!(told[0].starts_with("B - Target.targetCreated"), "{told:?}");
    assert_eq!(told[1..], [attaching("F", true)], "frames have children, too");
    script.chrome_answers("{}");
    let told = script.attach_tab("pw-tab-2", "T2");
    assert_eq!(told.last(), Some(&attaching("pw-tab-2", true)));
    let told = script.chrome_fails("no");
    assert_eq!(told, [attaching("pw-tab-2", false)], "it may have been done all the same");

    let told = script.says(A, "pw-tab-1 2 Target.setAutoAttach", AUTO_ATTACH);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(r#""waitForDebuggerOnStart":true"#), "{told:?}");
    script.chrome_answers("{}");
    let told = script.leaves(B);
    assert_eq!(told, [attaching("F", false)], "the other one wants those of the tab");
}

/// Returns the command that tells Chrome about the children of a session, for which no client asked
/// on it.
fn attaching(session: &str, is_on: bool) -> String {
    let params = json!({ "autoAttach": is_on, "flatten": true, "waitForDebuggerOnStart": false });
    format!("> {session} Target.setAutoAttach {params}")
}

#[test]
fn a_service_worker_is_announced_once_and_outlives_its_page() {
    let mut script = Script::new();
    script.attach_tab("pw-tab-2", "T2");
    let lines = script.child("pw-tab-1", "S1", "service_worker", false);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("A - Target.attachedToTarget"));
    assert_eq!(script.child("pw-tab-2", "S2", "service_worker", false), nothing());
    let lines = script.chrome_says("-", "Target.detachedFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    let again = lines.iter().filter(|line| line.contains("Target.attachedToTarget")).count();
    assert_eq!(again, 2, "{lines:?}");
}

#[test]
fn a_client_of_one_page_needs_no_sessions() {
    let mut script = Script::new();
    let client = ClientId(9);
    let page = Some(TargetId::new("T1"));
    script.handle(Input::ClientConnected {
        client,
        hello: ClientHello { page, ..ClientHello::default() },
    });
    let lines = script.says(client, "- 5 Page.enable", "{}");
    assert_eq!(lines, ["> pw-tab-1 Page.enable {}"]);
    assert_eq!(script.chrome_answers("{}"), ["B - #5 {}"]);
    assert_eq!(
        script.chrome_says("pw-tab-1", "Page.loadEventFired", "{}"),
        ["B - Page.loadEventFired {}"]
    );
    let gone = script.chrome_says("-", "Target.detachedFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    assert!(gone.contains(&"ClientId(9) closed: the page has gone".to_owned()), "{gone:?}");
}

#[test]
fn a_client_that_finds_no_tab_gets_one_before_it_is_answered() {
    let mut script = Script::new();
    script.chrome_says("-", "Target.detachedFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    let client = ClientId(9);
    let connected = Input::ClientConnected { client, hello: ClientHello::default() };
    assert_eq!(script.handle(connected), nothing());
    assert_eq!(
        script.says(client, "- 1 Target.setAutoAttach", NO_WAIT),
        ["> createInitialTab null"]
    );
    let tab =
        json!({ "success": true, "tabId": 1, "sessionId": "pw-tab-2", "targetInfo": info("T2") });
    let lines = script.chrome_answers(&tab.to_string());
    assert_eq!(lines.len(), 4, "A and B, the newcomer and its answer: {lines:?}");
    assert_eq!(lines[3], "B - #1 {}");
}

#[test]
fn a_first_tab_that_died_with_its_worker_is_asked_of_the_next_one() {
    for dies_while_asked in [true, false] {
        let mut relay = Stage::new();
        relay.connect_extension(EXTENSION, "one");
        if !dies_while_asked {
            relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
        }
        relay.connect_client(CLIENT, None, None);
        let asked = relay.command(None, 1, "Target.setAutoAttach", NO_WAIT);
        if dies_while_asked {
            assert_eq!(methods(&asked), ["Target.createTarget"]);
            relay.handle(Input::ExtensionDisconnected { connection: EXTENSION });
        }
        let successor = ConnectionId(9);
        let effects = without_logs(relay.connect_extension(successor, "one"));
        assert_eq!(methods(&effects), ["Target.createTarget"], "{dies_while_asked}");
    }
}

fn kind(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(r#""type":""#)?;
    rest.split('"').next()
}
