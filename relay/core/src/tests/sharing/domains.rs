//! Events that Chrome sends once reach each session once.

use crate::tests::script::{A, B, Script, nothing};

const CONTEXT: &str = r#"{"context":{"id":1}}"#;

#[test]
fn earlier_events_are_replayed_only_to_the_new_session() {
    let mut script = Script::new();
    assert_eq!(script.says(A, "pw-tab-1 1 Runtime.enable", "{}"), ["> pw-tab-1 Runtime.enable {}"]);
    let told = script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", CONTEXT);
    assert_eq!(told, [r#"A pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#]);
    assert_eq!(script.chrome_answers("{}"), ["A pw-tab-1 #1 {}"]);
    assert_eq!(
        script.says(B, "pw-tab-1 7 Runtime.enable", "{}"),
        [r#"B pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#, "B pw-tab-1 #7 {}"]
    );
    assert_eq!(script.says(B, "pw-tab-1 8 Runtime.enable", "{}"), ["B pw-tab-1 #8 {}"]);
}

#[test]
fn concurrent_enables_are_answered_with_the_first() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Debugger.enable", "{}");
    assert_eq!(script.says(B, "pw-tab-1 2 Debugger.enable", "{}"), nothing());
    assert_eq!(
        script.chrome_answers(r#"{"debuggerId":"D"}"#),
        [r#"B pw-tab-1 #2 {"debuggerId":"D"}"#, r#"A pw-tab-1 #1 {"debuggerId":"D"}"#]
    );
}

#[test]
fn concurrent_enable_fails_with_the_first_even_if_it_left() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Profiler.enable", "{}");
    script.says(B, "pw-tab-1 2 Profiler.enable", "{}");
    assert_eq!(script.leaves(A), nothing());
    assert_eq!(script.chrome_fails("no"), [r#"B pw-tab-1 #2 ! "no""#]);
    assert_eq!(script.chrome_says("pw-tab-1", "Profiler.x", "{}"), nothing());
}

#[test]
fn an_answer_of_ours_does_not_overtake_chromes() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", CONTEXT);
    script.says(B, "pw-tab-1 1 Page.getFrameTree", "{}");
    assert_eq!(script.says(B, "pw-tab-1 2 Runtime.enable", "{}"), nothing());
    assert_eq!(
        script.chrome_answers("{}"),
        [
            "B pw-tab-1 #1 {}",
            r#"B pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#,
            "B pw-tab-1 #2 {}",
        ]
    );
}

#[test]
fn an_evaluation_that_takes_for_ever_holds_no_answer_of_ours_up() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 1 Runtime.evaluate", "{}");
    assert_eq!(script.says(B, "pw-tab-1 2 Runtime.enable", "{}"), ["B pw-tab-1 #2 {}"]);
}

#[test]
fn a_waiting_enable_gets_the_events_of_the_meantime_once() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 1 Runtime.enable", "{}");
    let told = script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", CONTEXT);
    assert_eq!(told, [r#"A pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#]);
    assert_eq!(
        script.chrome_answers("{}"),
        [
            r#"B pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#,
            "B pw-tab-1 #1 {}",
            "A pw-tab-1 #1 {}",
        ]
    );
}

#[test]
fn events_during_a_deferred_enable_are_told_once() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 1 Page.getFrameTree", "{}");
    script.says(B, "pw-tab-1 2 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 3 Runtime.enable", "{}");
    let told = script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", CONTEXT);
    assert_eq!(told, [r#"A pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#]);
    assert_eq!(
        script.chrome_answers("{}"),
        [
            "B pw-tab-1 #1 {}",
            r#"B pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#,
            "B pw-tab-1 #2 {}",
            "B pw-tab-1 #3 {}",
        ]
    );
}

#[test]
fn a_repeated_enable_does_not_repeat_events() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(A, "pw-tab-1 2 Runtime.enable", "{}");
    script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", CONTEXT);
    assert_eq!(script.chrome_answers("{}"), ["A pw-tab-1 #1 {}", "A pw-tab-1 #2 {}"]);
}

#[test]
fn a_session_that_disables_a_domain_before_it_was_on_gets_no_events() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Runtime.enable", "{}");
    let enabling = script.last_request();
    script.says(B, "pw-tab-1 1 Runtime.enable", "{}");
    assert_eq!(
        script.says(B, "pw-tab-1 2 Runtime.disable", "{}"),
        ["B pw-tab-1 #1 {}", "B pw-tab-1 #2 {}"]
    );
    assert_eq!(script.chrome_answers_to(enabling, "{}"), ["A pw-tab-1 #1 {}"]);
    script.says(B, "pw-tab-1 3 Page.getFrameTree", "{}");
    script.says(B, "pw-tab-1 4 Runtime.enable", "{}");
    assert_eq!(
        script.says(B, "pw-tab-1 5 Runtime.disable", "{}"),
        ["B pw-tab-1 #4 {}", "B pw-tab-1 #5 {}"]
    );
    assert_eq!(script.chrome_answers("{}"), ["B pw-tab-1 #3 {}"]);
    let told = script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", CONTEXT);
    assert_eq!(told, [r#"A pw-tab-1 Runtime.executionContextCreated {"context":{"id":1}}"#]);
}

#[test]
fn a_domain_stays_on_for_a_session_whose_enable_is_pending() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 1 Page.getFrameTree", "{}");
    script.says(B, "pw-tab-1 2 Runtime.enable", "{}");
    assert_eq!(script.says(A, "pw-tab-1 2 Runtime.disable", "{}"), ["A pw-tab-1 #2 {}"]);
    assert_eq!(script.leaves(B), ["> pw-tab-1 Runtime.disable"]);
}

#[test]
fn a_reply_of_the_relay_waits_for_no_later_command() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Runtime.enable", "{}");
    let enabling = script.last_request();
    script.says(B, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(B, "pw-tab-1 2 Page.getFrameTree", "{}");
    assert_eq!(script.chrome_answers_to(enabling, "{}"), ["B pw-tab-1 #1 {}", "A pw-tab-1 #1 {}"]);
}
