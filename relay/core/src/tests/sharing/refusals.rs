//! A command that Chrome refuses, or answers too late, has no effect.

use crate::tests::script::{A, B, Script, nothing};
use crate::tests::*;

#[test]
fn an_override_that_chrome_refuses_leaves_the_one_before() {
    let mut script = Script::new();
    let zone = |name: &str| format!(r#"{{"timezoneId":"{name}"}}"#);
    script.does(A, "pw-tab-1 1 Emulation.setTimezoneOverride", &zone("Asia/Tokyo"));
    script.says(A, "pw-tab-1 2 Emulation.setTimezoneOverride", &zone("nowhere"));
    script.chrome_fails("Invalid timezone");
    script.does(B, "pw-tab-1 1 Emulation.setTimezoneOverride", &zone("Europe/Rome"));
    assert_eq!(
        script.leaves(B),
        [r#"> pw-tab-1 Emulation.setTimezoneOverride {"timezoneId":"Asia/Tokyo"}"#]
    );
    script.says(A, "pw-tab-1 3 Emulation.setLocaleOverride", r#"{"locale":"x"}"#);
    assert_eq!(
        script.chrome_fails("Another locale override is already in effect"),
        [
            "> pw-tab-1 Emulation.setLocaleOverride {}",
            r#"A pw-tab-1 #3 ! "Another locale override is already in effect""#
        ]
    );
    assert_eq!(script.leaves(A), [r#"> pw-tab-1 Emulation.setTimezoneOverride {"timezoneId":""}"#]);
}

#[test]
fn patterns_that_chrome_refuses_are_not_intercepted() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Fetch.enable", r#"{"patterns":[{"requestStage":"x"}]}"#);
    assert_eq!(
        script.chrome_fails("Invalid stage"),
        ["> pw-tab-1 Fetch.disable", r#"A pw-tab-1 #1 ! "Invalid stage""#]
    );
    let enabled = script.does(B, "pw-tab-1 1 Fetch.enable", "{}");
    assert_eq!(enabled, ["> pw-tab-1 Fetch.enable {}", "B pw-tab-1 #1 {}"]);
    assert_eq!(script.leaves(A), nothing());
}

#[test]
fn permissions_that_the_browser_refuses_are_not_asked_for_again() {
    let mut script = Script::with_capabilities("permissions-v1");
    let grant = |origin: &str| {
        format!(r#"{{"permissions":["geolocation"],"origin":"https://{origin}.example/x?y"}}"#)
    };
    let asked = script.does(A, "- 2 Browser.grantPermissions", &grant("A"));
    let rule = r#"{"name":"geolocation","origin":"https://a.example","setting":"allow"}"#;
    assert_eq!(asked[0], format!(r#"> setPermissions {{"rules":[{rule}]}}"#));
    script.says(A, "- 3 Browser.grantPermissions", &grant("b"));
    assert_eq!(
        script.chrome_fails("no such pattern"),
        [
            format!(r#"> setPermissions {{"rules":[{rule}]}}"#),
            r#"A - #3 ! "no such pattern""#.to_owned(),
        ]
    );
    let opaque = r#"{"permissions":["geolocation"],"origin":"about:blank"}"#;
    let refused = script.says(A, "- 4 Browser.grantPermissions", opaque);
    assert_eq!(refused, [r#"A - #4 ! "Permission can't be granted to opaque origins.""#]);
}

#[test]
fn a_screencast_that_chrome_refuses_is_not_shared() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Page.startScreencast", "{}");
    script.chrome_fails("no");
    let started = script.says(B, "pw-tab-1 1 Page.startScreencast", "{}");
    assert_eq!(started, ["> pw-tab-1 Page.startScreencast {}"]);
}

#[test]
fn only_the_tracing_session_can_end_the_trace() {
    let mut script = Script::new();
    let not_started = |who: &str| [format!(r#"{who} ! "Tracing is not started""#)];
    assert_eq!(script.says(A, "pw-tab-1 1 Tracing.end", "{}"), not_started("A pw-tab-1 #1"));
    script.says(A, "pw-tab-1 2 Tracing.start", "{}");
    let starting = script.last_request();
    let pipelined = script.says(A, "pw-tab-1 3 Tracing.end", "{}");
    assert_eq!(pipelined, ["> pw-tab-1 Tracing.end {}"]);
    script.chrome_answers_to(starting, "{}");
    assert_eq!(script.says(B, "pw-tab-1 1 Tracing.end", "{}"), not_started("B pw-tab-1 #1"));
    assert_eq!(script.says(B, "- 2 Tracing.end", "{}"), not_started("B - #2"));
    script.chrome_says("pw-tab-1", "Tracing.tracingComplete", "{}");
    script.does(B, "- 3 Tracing.start", "{}");
    assert_eq!(script.says(A, "pw-tab-1 4 Tracing.end", "{}"), not_started("A pw-tab-1 #4"));
    assert_eq!(script.says(B, "- 4 Tracing.end", "{}"), ["> pw-tab-1 Tracing.end {}"]);
}

#[test]
fn a_trace_whose_owner_left_before_it_began_is_ended() {
    let mut script = Script::new();
    for (client, session) in [(A, "pw-tab-1"), (B, "-")] {
        script.says(client, &format!("{session} 1 Tracing.start"), "{}");
        let starting = script.last_request();
        script.leaves(client);
        assert_eq!(script.chrome_answers_to(starting, "{}"), ["> pw-tab-1 Tracing.end"]);
    }
}

#[test]
fn commands_that_chrome_executes_too_late_are_undone() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Runtime.enable", "{}");
    script.says(A, "pw-tab-1 2 Page.addScriptToEvaluateOnNewDocument", r#"{"source":""}"#);
    let script_asked = script.last_request();
    script.says(A, "pw-tab-1 3 Fetch.enable", "{}");
    let late = script.after(Duration::from_secs(10));
    let told: Vec<&String> = late.iter().filter(|line| line.starts_with('>')).collect();
    assert_eq!(told, ["> pw-tab-1 Runtime.disable", "> pw-tab-1 Fetch.disable"]);
    assert_eq!(late.iter().filter(|line| line.contains("no answer from the tab")).count(), 3);
    assert_eq!(
        script.chrome_answers_to(script_asked, r#"{"identifier":"9"}"#),
        [r#"> pw-tab-1 Page.removeScriptToEvaluateOnNewDocument {"identifier":"9"}"#]
    );
}

#[test]
fn a_late_refusal_of_enable_does_not_concern_a_later_enable() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Runtime.enable", "{}");
    let first = script.last_request();
    script.does(A, "pw-tab-1 2 Runtime.disable", "{}");
    script.says(A, "pw-tab-1 3 Runtime.enable", "{}");
    let second = script.last_request();
    script.chrome_refuses(first, "no");
    assert_eq!(script.chrome_answers_to(second, "{}"), ["A pw-tab-1 #3 {}"]);
    let context = r#"{"context":{"id":1}}"#;
    let told = script.chrome_says("pw-tab-1", "Runtime.executionContextCreated", context);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(script.leaves(A), ["> pw-tab-1 Runtime.disable"]);
}

#[test]
fn an_override_that_was_sent_again_before_its_refusal_is_reset() {
    let mut script = Script::new();
    let zone = |name: &str| format!(r#"{{"timezoneId":"{name}"}}"#);
    script.says(A, "pw-tab-1 1 Emulation.setTimezoneOverride", &zone("Asia/Tokyo"));
    let first = script.last_request();
    script.does(B, "pw-tab-1 1 Emulation.setTimezoneOverride", &zone("Europe/Rome"));
    script.leaves(B);
    assert_eq!(
        script.chrome_refuses(first, "no")[0],
        r#"> pw-tab-1 Emulation.setTimezoneOverride {"timezoneId":""}"#
    );
}

#[test]
fn a_data_url_that_chrome_does_not_open_is_refused_with_a_hint() {
    let mut script = Script::new();
    let navigate = |script: &mut Script, url: &str, answer: &str| {
        script.says(A, "pw-tab-1 1 Page.navigate", &format!(r#"{{"url":"{url}"}}"#));
        script.chrome_answers(answer)
    };
    let aborted = r#"{"errorText":"net::ERR_ABORTED","frameId":"T1"}"#;
    assert_eq!(
        navigate(&mut script, "Data:text/html,x", aborted),
        ["A pw-tab-1 #1 ! \"Chrome lets no extension take a tab to a data: address; \
          give the page its content instead, with page.setContent() for example\""]
    );
    let download = r#"{"errorText":"net::ERR_ABORTED","frameId":"T1","isDownload":true}"#;
    let of_a_frame = r#"{"errorText":"net::ERR_ABORTED","frameId":"F"}"#;
    for (url, answer) in [
        ("data:text/html,x", r#"{"frameId":"T1","loaderId":"L"}"#),
        ("data:text/html,x", of_a_frame),
        ("data:application/zip,x", download),
        ("http://site/", aborted),
    ] {
        assert_eq!(navigate(&mut script, url, answer), [format!("A pw-tab-1 #1 {answer}")]);
    }
}
