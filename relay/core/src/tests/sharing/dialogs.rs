//! A dialog is one client's.

use serde_json::json;

use crate::tests::script::{A, B, Script};

const OPENING: &str = "Page.javascriptDialogOpening";

#[test]
fn a_dialog_goes_to_the_waiting_client_and_then_to_a_remaining_one() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.enable", "{}");
    script.does(B, "pw-tab-1 1 Page.enable", "{}");
    script.says(A, "pw-tab-1 2 Runtime.evaluate", "{}");
    script.does(B, "pw-tab-1 2 Runtime.evaluate", "{}");
    let opened = script.chrome_says("pw-tab-1", OPENING, "{}");
    assert_eq!(opened, ["A pw-tab-1 Page.javascriptDialogOpening {}"]);
    assert_eq!(script.leaves(A), ["B pw-tab-1 Page.javascriptDialogOpening {}"]);
    let accept = r#"{"accept":true}"#;
    assert_eq!(
        script.does(B, "pw-tab-1 3 Page.handleJavaScriptDialog", accept),
        [r#"> pw-tab-1 Page.handleJavaScriptDialog {"accept":true}"#, "B pw-tab-1 #3 {}"]
    );
    let again = script.says(B, "pw-tab-1 4 Page.handleJavaScriptDialog", accept);
    assert_eq!(again, ["B pw-tab-1 #4 {}"]);
}

#[test]
fn a_dialog_goes_to_the_client_whose_script_the_page_runs() {
    let mut script = Script::new();
    for client in [A, B] {
        script.does(client, "pw-tab-1 1 Page.enable", "{}");
    }
    script.says(B, "pw-tab-1 2 Runtime.evaluate", "{}");
    script.does(B, "pw-tab-1 3 Runtime.evaluate", "{}");
    script.says(A, "pw-tab-1 2 Runtime.evaluate", "{}");
    script.says(B, "pw-tab-1 4 Runtime.evaluate", "{}");
    let opened = script.chrome_says("pw-tab-1", OPENING, "{}");
    assert_eq!(opened, ["A pw-tab-1 Page.javascriptDialogOpening {}"]);
}

#[test]
fn every_session_of_the_client_hears_of_its_dialog() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.enable", "{}");
    script.does(B, "pw-tab-1 1 Page.enable", "{}");
    script.says(A, "- 2 Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#);
    script.says(A, "pw-tab-1.2 3 Page.enable", "{}");
    script.says(A, "pw-tab-1.2 4 Runtime.evaluate", "{}");
    assert_eq!(
        script.chrome_says("pw-tab-1", OPENING, "{}"),
        [
            "A pw-tab-1 Page.javascriptDialogOpening {}",
            "A pw-tab-1.2 Page.javascriptDialogOpening {}"
        ]
    );
    let accept = r#"{"accept":true}"#;
    script.says(A, "pw-tab-1 5 Page.handleJavaScriptDialog", accept);
    assert_eq!(
        script.says(A, "pw-tab-1.2 6 Page.handleJavaScriptDialog", accept),
        ["A pw-tab-1.2 #6 {}"],
        "the first answer counts"
    );
}

#[test]
fn a_dialog_stays_until_the_last_session_of_its_client_leaves() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.enable", "{}");
    script.does(B, "pw-tab-1 1 Page.enable", "{}");
    script.says(A, "- 2 Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#);
    script.says(A, "pw-tab-1 3 Runtime.evaluate", "{}");
    script.chrome_says("pw-tab-1", OPENING, "{}");
    assert_eq!(
        script.says(A, "pw-tab-1.2 4 Page.enable", "{}"),
        ["A pw-tab-1.2 Page.javascriptDialogOpening {}", "A pw-tab-1.2 #4 {}"]
    );
    let end = r#"{"sessionId":"pw-tab-1.2"}"#;
    let ended = script.says(A, "- 5 Target.detachFromTarget", end);
    assert!(ended.iter().all(|line| line.starts_with("A - ")), "{ended:?}");
    assert_eq!(
        script.says(A, "pw-tab-1 6 Page.disable", "{}"),
        ["A pw-tab-1 #6 {}", "B pw-tab-1 Page.javascriptDialogOpening {}"]
    );
}

#[test]
fn a_tab_is_announced_when_its_dialog_has_closed() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.enable", "{}");
    script.says(A, "- 2 Target.setDiscoverTargets", r#"{"discover":true}"#);
    script.says(B, "- 2 Target.detachFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    script.chrome_says("pw-tab-1", OPENING, "{}");
    let discovered = script.says(B, "- 3 Target.setDiscoverTargets", r#"{"discover":true}"#);
    assert!(!discovered.concat().contains("T1"), "{discovered:?}");
    let targets = script.says(B, "- 4 Target.getTargets", "{}").concat();
    assert!(!targets.contains("T1"), "{targets}");
    let own = script.says(A, "- 5 Target.getTargets", "{}").concat();
    assert!(own.contains("T1"), "A is attached to it: {own}");
    let info = json!({ "targetInfo": crate::tests::info("T1") }).to_string();
    let changed = script.chrome_says("-", "Target.targetInfoChanged", &info);
    assert!(changed.len() == 1 && changed[0].starts_with("A "), "{changed:?}");
    let closed = script.chrome_says("pw-tab-1", "Page.javascriptDialogClosed", "{}");
    let told: Vec<&str> = closed.iter().filter_map(|line| line.split(" {").next()).collect();
    assert_eq!(
        told,
        [
            "B - Target.targetCreated",
            "B - Target.attachedToTarget",
            "A pw-tab-1 Page.javascriptDialogClosed"
        ]
    );
    let gone = script.chrome_says("-", "Target.detachedFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    let destroyed = gone.iter().filter(|line| line.contains("Target.targetDestroyed"));
    assert_eq!(destroyed.count(), 2, "{gone:?}");
}

#[test]
fn the_end_of_a_tab_is_told_only_to_clients_that_knew_the_tab() {
    let mut script = Script::new();
    script.says(B, "- 2 Target.detachFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    script.chrome_says("pw-tab-1", OPENING, "{}");
    script.says(B, "- 3 Target.setDiscoverTargets", r#"{"discover":true}"#);
    let gone = script.chrome_says("-", "Target.detachedFromTarget", r#"{"sessionId":"pw-tab-1"}"#);
    assert!(gone.iter().all(|line| line.starts_with("A ")), "{gone:?}");
}

#[test]
fn a_popup_is_freed_of_a_dialog_that_opens_while_its_page_is_being_told_of() {
    let dismissed = r#"> pw-tab-2 Page.handleJavaScriptDialog {"accept":false}"#;
    let popup = || {
        let mut info = crate::tests::info("T2");
        info["openerId"] = "T1".into();
        let attached = json!({
            "sessionId": "pw-tab-2", "targetInfo": info, "waitingForDebugger": false,
        });
        let mut script = Script::new();
        script.chrome_says("-", "Target.attachedToTarget", &attached.to_string());
        script
    };
    let mut script = popup();
    script.says(A, "pw-tab-2 5 Page.enable", "{}");
    let enabling = script.last_request();
    assert_eq!(script.chrome_says("pw-tab-2", OPENING, "{}"), [dismissed]);
    script.chrome_answers_to(enabling, "{}");
    let told = script.chrome_says("pw-tab-2", OPENING, "{}");
    assert_eq!(told, ["A pw-tab-2 Page.javascriptDialogOpening {}"], "the next is the client's");

    let mut script = popup();
    assert_eq!(script.chrome_says("pw-tab-2", OPENING, "{}"), [""; 0], "nobody is at work there");
    let enabled = script.says(A, "pw-tab-2 5 Page.enable", "{}");
    assert_eq!(enabled.last().map(String::as_str), Some(dismissed), "{enabled:?}");
}
