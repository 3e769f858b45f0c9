//! Tabs that show a page for which Chrome takes no commands.

use crate::tests::script::{A, B, Script};

const REFUSED: &str = "Cannot attach to this target.";
const WARNING: &str = r#"{"frame":{"id":"T1","url":"chrome-error://chromewebdata/","unreachableUrl":"https://bad/"}}"#;
const BLANK: &str = r#"{"frame":{"id":"T1","url":"about:blank"}}"#;
const ELSEWHERE: &str = r#"{"frame":{"id":"T1","url":"https://good/"}}"#;
const QUESTION: &str = "> pw-tab-1 Target.getTargetInfo";

/// A tab that shows a warning, of an extension with these capabilities.
fn warned(capabilities: &str) -> Script {
    let mut script = Script::with_capabilities(capabilities);
    let lines = script.chrome_says("pw-tab-1", "Page.frameNavigated", WARNING);
    assert_eq!(lines.last().map(String::as_str), Some(QUESTION), "{lines:?}");
    script.chrome_fails(REFUSED);
    script
}

fn refuses(script: &mut Script, command: &str, params: &str) -> Vec<String> {
    script.says(A, command, params);
    script.chrome_fails(REFUSED)
}

#[test]
fn deferred_commands_are_sent_when_the_tab_leaves_its_restricted_page() {
    let mut script = warned("");
    let bound = refuses(&mut script, "pw-tab-1 5 Runtime.addBinding", r#"{"name":"f"}"#);
    assert_eq!(bound, ["A pw-tab-1 #5 {}"]);
    let headers = r#"{"headers":{"a":"b"}}"#;
    let set = refuses(&mut script, "pw-tab-1 6 Network.setExtraHTTPHeaders", headers);
    assert_eq!(set, ["A pw-tab-1 #6 {}"]);
    let enabled = refuses(&mut script, "pw-tab-1 7 Runtime.enable", "{}");
    assert_eq!(enabled, ["A pw-tab-1 #7 {}"]);
    assert_eq!(script.chrome_says("pw-tab-1", "Page.frameNavigated", ELSEWHERE), [QUESTION]);
    assert_eq!(
        script.chrome_answers("{}"),
        [
            r#"> pw-tab-1 Runtime.addBinding {"name":"f"}"#,
            r#"> pw-tab-1 Network.setExtraHTTPHeaders {"headers":{"a":"b"}}"#,
            "> pw-tab-1 Runtime.enable {}",
        ]
    );
}

#[test]
fn a_page_that_chrome_still_refuses_as_it_comes_is_asked_again_when_it_has_loaded() {
    let mut script = warned("");
    refuses(&mut script, "pw-tab-1 5 Runtime.addBinding", r#"{"name":"f"}"#);
    assert_eq!(script.chrome_says("pw-tab-1", "Page.frameNavigated", ELSEWHERE), [QUESTION]);
    assert_eq!(script.chrome_fails(REFUSED), [""; 0]);
    let loaded = script.chrome_says("pw-tab-1", "Page.frameStoppedLoading", r#"{"frameId":"T1"}"#);
    assert_eq!(loaded, [QUESTION]);
    assert_eq!(script.chrome_answers("{}"), [r#"> pw-tab-1 Runtime.addBinding {"name":"f"}"#]);
}

#[test]
fn settings_that_a_client_removes_before_it_leaves_are_removed() {
    let mut script = warned("");
    refuses(&mut script, "pw-tab-1 5 Runtime.addBinding", r#"{"name":"f"}"#);
    let source = r#"{"source":"1"}"#;
    refuses(&mut script, "pw-tab-1 6 Page.addScriptToEvaluateOnNewDocument", source);
    assert_eq!(script.leaves(A), [""; 0], "Chrome would refuse it");
    script.chrome_says("pw-tab-1", "Page.frameNavigated", ELSEWHERE);
    assert_eq!(
        script.chrome_answers("{}"),
        [
            r#"> pw-tab-1 Runtime.addBinding {"name":"f"}"#,
            r#"> pw-tab-1 Runtime.removeBinding {"name":"f"}"#,
        ]
    );
}

#[test]
fn a_script_is_removed_by_the_name_that_its_client_was_given() {
    let mut script = warned("");
    let add = "pw-tab-1 5 Page.addScriptToEvaluateOnNewDocument";
    let added = refuses(&mut script, add, r#"{"source":"1"}"#);
    let (_, given) = added[0].split_once("#5 ").unwrap();
    script.chrome_says("pw-tab-1", "Page.frameNavigated", ELSEWHERE);
    let sent = script.chrome_answers("{}");
    assert_eq!(sent, [r#"> pw-tab-1 Page.addScriptToEvaluateOnNewDocument {"source":"1"}"#]);
    script.chrome_answers(r#"{"identifier":"9"}"#);
    assert_eq!(
        script.says(A, "pw-tab-1 6 Page.removeScriptToEvaluateOnNewDocument", given),
        [r#"> pw-tab-1 Page.removeScriptToEvaluateOnNewDocument {"identifier":"9"}"#]
    );
}

#[test]
fn a_command_for_a_restricted_tab_fails_with_an_explanation() {
    let mut script = warned("");
    let evaluated = refuses(&mut script, "pw-tab-1 5 Runtime.evaluate", r#"{"expression":"1"}"#);
    assert!(evaluated[0].contains("exceptionDetails"), "{evaluated:?}");
    assert!(evaluated[0].contains("warning of a bad certificate"), "{evaluated:?}");
    let shot = refuses(&mut script, "pw-tab-1 6 Page.captureScreenshot", "{}");
    assert!(shot[0].starts_with("A pw-tab-1 #6 ! "), "{shot:?}");
    assert!(shot[0].contains("warning of a bad certificate"), "{shot:?}");
}

#[test]
fn a_navigation_begins_anew_from_a_blank_page_that_is_not_told() {
    let mut script = warned("restricted-tabs-v1");
    for client in [A, B] {
        script.does(client, "pw-tab-1 4 Page.enable", "{}");
    }
    let url = r#"{"url":"https://good/"}"#;
    let left = refuses(&mut script, "pw-tab-1 5 Page.navigate", url);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].contains("blankTab") || left[0].contains("T1"), "{left:?}");
    script.chrome_answers("{}");
    let set = refuses(&mut script, "pw-tab-1 6 Emulation.setTimezoneOverride", "{}");
    assert_eq!(set, ["A pw-tab-1 #6 {}"]);
    assert_eq!(script.chrome_says("pw-tab-1", "Page.frameNavigated", BLANK), [QUESTION]);
    assert_eq!(
        script.chrome_answers("{}"),
        [
            "> pw-tab-1 Emulation.setTimezoneOverride {}",
            r#"> pw-tab-1 Page.navigate {"url":"https://good/"}"#,
        ]
    );
    let went = script.chrome_answers(r#"{"frameId":"T1","loaderId":"L"}"#);
    assert_eq!(went, [r#"A pw-tab-1 #5 {"frameId":"T1","loaderId":"L"}"#]);
}

#[test]
fn a_restricted_tab_is_closed_by_chrome_tabs_or_kept() {
    let close = r#"{"targetId":"T1"}"#;
    let mut script = warned("restricted-tabs-v1");
    refuses(&mut script, "- 5 Target.closeTarget", close);
    assert_eq!(script.chrome_answers("{}"), [r#"A - #5 {"success":true}"#]);

    let mut script = warned("");
    let lines = refuses(&mut script, "- 5 Target.closeTarget", close);
    assert!(lines.contains(&r#"A - #5 {"success":true}"#.to_owned()), "{lines:?}");
    let gone = |line: &String| line.starts_with("A - Target.detachedFromTarget");
    assert!(lines.iter().any(gone), "{lines:?}");
    let navigated = refuses(&mut warned(""), "pw-tab-1 5 Page.navigate", r#"{"url":"x:"}"#);
    assert!(navigated[0].contains("too old") || navigated[0].contains("update"), "{navigated:?}");
}

#[test]
fn only_the_answer_to_the_last_question_counts() {
    let mut script = Script::new();
    script.chrome_says("pw-tab-1", "Page.frameNavigated", WARNING);
    let first = script.last_request();
    script.says(A, "pw-tab-1 5 Runtime.addBinding", r#"{"name":"f"}"#);
    let bind = script.last_request();
    script.chrome_says("pw-tab-1", "Page.frameNavigated", ELSEWHERE);
    let second = script.last_request();
    assert_eq!(script.chrome_refuses(first, REFUSED), [""; 0]);
    assert_eq!(script.chrome_refuses(bind, REFUSED), ["A pw-tab-1 #5 {}"]);
    let sent = script.chrome_answers_to(second, "{}");
    assert_eq!(sent, [r#"> pw-tab-1 Runtime.addBinding {"name":"f"}"#]);
}

#[test]
fn a_client_that_comes_later_sees_the_tab_when_it_answers() {
    let mut script = warned("");
    script.leaves(B);
    script.comes(B);
    script.says(B, "- 2 Target.setDiscoverTargets", r#"{"discover":true}"#);
    script.chrome_says("pw-tab-1", "Page.frameNavigated", ELSEWHERE);
    let lines = script.chrome_answers("{}");
    let told = |event: &str| lines.iter().any(|line| line.starts_with(&format!("B - {event}")));
    assert!(told("Target.targetCreated"), "{lines:?}");
    assert!(told("Target.attachedToTarget"), "{lines:?}");
}

#[test]
fn every_setting_and_its_end_waits_for_another_page() {
    let mut script = warned("");
    for (number, (method, params)) in [
        ("Network.emulateNetworkConditions", r#"{"offline":true}"#),
        ("Network.emulateNetworkConditions", r#"{"offline":false}"#),
        ("Network.emulateNetworkConditionsByRule", r#"{"offline":true}"#),
        ("Network.overrideNetworkState", r#"{"offline":true}"#),
        ("Emulation.setGeolocationOverride", r#"{"latitude":1}"#),
        ("Emulation.clearGeolocationOverride", "{}"),
        ("Emulation.setIdleOverride", "{}"),
        ("Emulation.clearIdleOverride", "{}"),
        ("Emulation.setDevicePostureOverride", "{}"),
        ("Emulation.clearDevicePostureOverride", "{}"),
        ("Emulation.setDisplayFeaturesOverride", "{}"),
        ("Emulation.clearDisplayFeaturesOverride", "{}"),
        ("DeviceOrientation.setDeviceOrientationOverride", "{}"),
        ("DeviceOrientation.clearDeviceOrientationOverride", "{}"),
        ("Page.clearDeviceMetricsOverride", "{}"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = number + 5;
        let lines = refuses(&mut script, &format!("pw-tab-1 {id} {method}"), params);
        assert_eq!(lines, [format!("A pw-tab-1 #{id} {{}}")], "{method} {params}");
    }
}

#[test]
fn cookies_do_without_a_tab_when_the_only_one_shows_a_warning() {
    let mut script = warned("cookies-v1");
    let set = r#"{"cookies":[{"name":"a","value":"1","url":"https://a.example/"}]}"#;
    let lines = script.says(A, "- 5 Storage.setCookies", set);
    assert!(lines.iter().all(|line| !line.contains("Storage.setCookies")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with('>')), "{lines:?}");
}
