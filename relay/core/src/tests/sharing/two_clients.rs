//! Two clients on one tab: what one does, the other does not feel.

use crate::tests::script::{A, B, Script, nothing};

#[test]
fn a_domain_is_off_in_chrome_when_its_last_session_is() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Network.enable", "{}");
    script.does(B, "pw-tab-1 1 Network.enable", "{}");
    assert_eq!(script.says(A, "pw-tab-1 2 Network.disable", "{}"), ["A pw-tab-1 #2 {}"]);
    let told = script.chrome_says("pw-tab-1", "Network.requestWillBeSent", "{}");
    assert_eq!(told, ["B pw-tab-1 Network.requestWillBeSent {}"]);
    assert_eq!(script.leaves(B), ["> pw-tab-1 Network.disable"]);
}

#[test]
fn page_stays_on_for_the_extension() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.enable", "{}");
    assert_eq!(script.says(A, "pw-tab-1 2 Page.disable", "{}"), ["A pw-tab-1 #2 {}"]);
    assert_eq!(script.chrome_says("pw-tab-1", "Page.frameResized", "{}"), nothing());
}

#[test]
fn events_of_a_domain_that_needs_no_switching_go_to_everybody() {
    let mut script = Script::new();
    assert_eq!(
        script.chrome_says("pw-tab-1", "Storage.indexedDBListUpdated", "{}"),
        [
            "A pw-tab-1 Storage.indexedDBListUpdated {}",
            "B pw-tab-1 Storage.indexedDBListUpdated {}"
        ]
    );
}

#[test]
fn a_script_belongs_to_the_session_that_made_it() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Page.addScriptToEvaluateOnNewDocument", r#"{"source":""}"#);
    script.chrome_answers(r#"{"identifier":"9"}"#);
    let remove = r#"{"identifier":"9"}"#;
    assert_eq!(
        script.says(B, "pw-tab-1 1 Page.removeScriptToEvaluateOnNewDocument", remove),
        [r#"B pw-tab-1 #1 ! "Script not found""#]
    );
    assert_eq!(
        script.leaves(A),
        [r#"> pw-tab-1 Page.removeScriptToEvaluateOnNewDocument {"identifier":"9"}"#]
    );
}

#[test]
fn a_script_whose_owner_left_before_it_had_a_name_is_removed() {
    let mut script = Script::new();
    script.says(A, "pw-tab-1 1 Page.addScriptToEvaluateOnNewDocument", r#"{"source":""}"#);
    let added = script.last_request();
    script.leaves(A);
    assert_eq!(
        script.chrome_answers_to(added, r#"{"identifier":"9"}"#),
        [r#"> pw-tab-1 Page.removeScriptToEvaluateOnNewDocument {"identifier":"9"}"#]
    );
}

#[test]
fn a_binding_calls_the_sessions_that_added_it_and_stays_for_the_last() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Runtime.addBinding", r#"{"name":"a"}"#);
    script.does(A, "pw-tab-1 2 Runtime.addBinding", r#"{"name":"both"}"#);
    script.does(B, "pw-tab-1 1 Runtime.addBinding", r#"{"name":"both"}"#);
    assert_eq!(
        script.chrome_says("pw-tab-1", "Runtime.bindingCalled", r#"{"name":"a"}"#),
        [r#"A pw-tab-1 Runtime.bindingCalled {"name":"a"}"#]
    );
    assert_eq!(script.leaves(A), [r#"> pw-tab-1 Runtime.removeBinding {"name":"a"}"#]);
    assert_eq!(
        script.chrome_says("pw-tab-1", "Runtime.bindingCalled", r#"{"name":"both"}"#),
        [r#"B pw-tab-1 Runtime.bindingCalled {"name":"both"}"#]
    );
}

#[test]
fn emulation_gives_way_to_the_other_ones_and_then_to_none() {
    let mut script = Script::new();
    let zone = |name: &str| format!(r#"{{"timezoneId":"{name}"}}"#);
    script.does(A, "pw-tab-1 1 Emulation.setTimezoneOverride", &zone("Asia/Tokyo"));
    script.does(B, "pw-tab-1 1 Emulation.setTimezoneOverride", &zone("Europe/Rome"));
    assert_eq!(
        script.leaves(B),
        [r#"> pw-tab-1 Emulation.setTimezoneOverride {"timezoneId":"Asia/Tokyo"}"#]
    );
    assert_eq!(script.leaves(A), [r#"> pw-tab-1 Emulation.setTimezoneOverride {"timezoneId":""}"#]);
}

#[test]
fn a_switch_stays_on_while_anybody_wants_it() {
    let mut script = Script::new();
    let (session, off) = (r#"{"enabled":true}"#, r#"{"enabled":false}"#);
    script.does(A, "pw-tab-1 1 Page.setInterceptFileChooserDialog", session);
    script.does(B, "pw-tab-1 1 Page.setInterceptFileChooserDialog", session);
    let switched_off = script.says(A, "pw-tab-1 2 Page.setInterceptFileChooserDialog", off);
    assert_eq!(switched_off, ["A pw-tab-1 #2 {}"]);
    assert_eq!(
        script.chrome_says("pw-tab-1", "Page.fileChooserOpened", "{}"),
        ["B pw-tab-1 Page.fileChooserOpened {}"]
    );
}

#[test]
fn headers_of_all_sessions_are_sent() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Network.setExtraHTTPHeaders", r#"{"headers":{"a":"1"}}"#);
    assert_eq!(
        script.says(B, "pw-tab-1 1 Network.setExtraHTTPHeaders", r#"{"headers":{"b":"2"}}"#),
        [r#"> pw-tab-1 Network.setExtraHTTPHeaders {"headers":{"a":"1","b":"2"}}"#]
    );
    assert_eq!(
        script.leaves(A),
        [r#"> pw-tab-1 Network.setExtraHTTPHeaders {"headers":{"b":"2"}}"#]
    );
}

#[test]
fn one_screencast_serves_all_sessions_that_started_it() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Page.startScreencast", "{}");
    assert_eq!(script.says(B, "pw-tab-1 1 Page.startScreencast", "{}"), ["B pw-tab-1 #1 {}"]);
    let frame = script.chrome_says("pw-tab-1", "Page.screencastFrame", r#"{"sessionId":1}"#);
    assert_eq!(frame.len(), 2);
    let ack = r#"{"sessionId":1}"#;
    let mut acknowledged = Vec::new();
    assert_eq!(script.does(A, "pw-tab-1 2 Page.screencastFrameAck", ack).len(), 2);
    let second = script.says(B, "pw-tab-1 2 Page.screencastFrameAck", ack);
    assert_eq!(second, ["B pw-tab-1 #2 {}"]);
    // Every frame of one screencast has the same number.
    for client in [B, B, A, A, A] {
        let passed_on = script.does(client, "pw-tab-1 3 Page.screencastFrameAck", ack).len() == 2;
        acknowledged.push(passed_on);
    }
    assert_eq!(acknowledged, [true, true, false, false, true]);
    assert_eq!(script.leaves(A), nothing());
    assert_eq!(script.leaves(B), ["> pw-tab-1 Page.stopScreencast"]);
}

#[test]
fn a_screencast_has_the_largest_size_that_any_session_wants() {
    let mut script = Script::new();
    let of = |width: u32| format!(r#"{{"format":"jpeg","maxHeight":300,"maxWidth":{width}}}"#);
    script.does(A, "pw-tab-1 1 Page.startScreencast", &of(400));
    assert_eq!(
        script.does(B, "pw-tab-1 1 Page.startScreencast", &of(800)),
        [
            "> pw-tab-1 Page.stopScreencast".to_owned(),
            format!("> pw-tab-1 Page.startScreencast {}", of(800)),
            "B pw-tab-1 #1 {}".to_owned(),
        ]
    );
    // The frames that A still had of the first screencast say nothing about the second.
    let ack = |cast: u32| format!(r#"{{"sessionId":{cast}}}"#);
    script.does(B, "pw-tab-1 2 Page.screencastFrameAck", &ack(2));
    let late = script.says(A, "pw-tab-1 2 Page.screencastFrameAck", &ack(1));
    assert_eq!(late, ["A pw-tab-1 #2 {}"]);
    let slow = script.says(A, "pw-tab-1 3 Page.screencastFrameAck", &ack(2));
    assert_eq!(slow, ["A pw-tab-1 #3 {}"]);
    assert_eq!(
        script.says(B, "pw-tab-1 3 Page.stopScreencast", "{}"),
        [
            "> pw-tab-1 Page.stopScreencast".to_owned(),
            format!("> pw-tab-1 Page.startScreencast {}", of(400)),
            "B pw-tab-1 #3 {}".to_owned(),
        ]
    );
    assert_eq!(
        script.says(B, "pw-tab-1 4 Page.startScreencast", "{}"),
        [r#"B pw-tab-1 #4 ! "Screencast is already active as jpeg: ask for that format""#]
    );
    assert_eq!(script.leaves(B), nothing());
    assert_eq!(script.leaves(A), ["> pw-tab-1 Page.stopScreencast"]);
}

#[test]
fn object_groups_of_each_session_have_names_of_their_own() {
    let mut script = Script::new();
    script.says(A, "- 2 Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#);
    let group = r#"{"objectGroup":"x"}"#;
    assert_eq!(
        script.says(A, "pw-tab-1 3 Runtime.releaseObjectGroup", group),
        [r#"> pw-tab-1 Runtime.releaseObjectGroup {"objectGroup":"2:pw-tab-1/x"}"#]
    );
    assert_eq!(
        script.says(A, "pw-tab-1.2 4 Runtime.releaseObjectGroup", group),
        [r#"> pw-tab-1 Runtime.releaseObjectGroup {"objectGroup":"2:pw-tab-1.2/x"}"#]
    );
}

#[test]
fn a_held_request_is_offered_to_each_the_newest_first() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Fetch.enable", "{}");
    let enabled =
        script.does(B, "pw-tab-1 1 Fetch.enable", r#"{"patterns":[{"urlPattern":"*.js"}]}"#);
    assert!(enabled[0].contains(r#""patterns":[{"urlPattern":"*"},{"urlPattern":"*.js"}]"#));
    let paused = |url: &str| format!(r#"{{"requestId":"1","request":{{"url":"{url}"}}}}"#);
    let offered = script.chrome_says("pw-tab-1", "Fetch.requestPaused", &paused("x:/a.css"));
    assert!(offered[0].starts_with("A ") && offered.len() == 1, "{offered:?}");
    script.does(A, "pw-tab-1 2 Fetch.fulfillRequest", r#"{"requestId":"1"}"#);
    let offered = script.chrome_says("pw-tab-1", "Fetch.requestPaused", &paused("x:/a.js"));
    assert!(offered[0].starts_with("B ") && offered.len() == 1, "{offered:?}");
    assert_eq!(
        script.says(A, "pw-tab-1 3 Fetch.continueRequest", r#"{"requestId":"1"}"#),
        [r#"A pw-tab-1 #3 ! "Invalid InterceptionId.""#]
    );
    let changed = r#"{"requestId":"1","method":"POST"}"#;
    let passed = script.says(B, "pw-tab-1 2 Fetch.continueRequest", changed);
    assert_eq!(passed[0], "B pw-tab-1 #2 {}");
    assert!(passed[1].starts_with("A pw-tab-1 Fetch.requestPaused"), "{passed:?}");
    assert_eq!(
        script.says(A, "pw-tab-1 4 Fetch.continueRequest", r#"{"requestId":"1","url":"x:/b"}"#),
        [r#"> pw-tab-1 Fetch.continueRequest {"method":"POST","requestId":"1","url":"x:/b"}"#]
    );
}

#[test]
fn a_response_is_held_for_the_session_that_wants_it() {
    let mut script = Script::new();
    for client in [A, B] {
        script.does(client, "pw-tab-1 1 Fetch.enable", "{}");
    }
    let request = r#"{"requestId":"1","request":{"url":"x:/"}}"#;
    script.chrome_says("pw-tab-1", "Fetch.requestPaused", request);
    let with = |wanted: bool| format!(r#"{{"requestId":"1","interceptResponse":{wanted}}}"#);
    script.says(B, "pw-tab-1 2 Fetch.continueRequest", &with(true));
    let told = script.says(A, "pw-tab-1 2 Fetch.continueRequest", &with(false));
    let session = r#"{"interceptResponse":true,"requestId":"1"}"#;
    assert_eq!(told, [format!("> pw-tab-1 Fetch.continueRequest {session}")]);
    let response = r#"{"requestId":"1","request":{"url":"x:/"},"responseStatusCode":200}"#;
    let offered = script.chrome_says("pw-tab-1", "Fetch.requestPaused", response);
    assert!(offered.len() == 1 && offered[0].starts_with("B "), "{offered:?}");
}

#[test]
fn requests_held_by_a_client_continue_when_it_leaves() {
    let mut script = Script::new();
    script.does(A, "pw-tab-1 1 Fetch.enable", r#"{"patterns":[{"urlPattern":"*.js"}]}"#);
    script.does(B, "pw-tab-1 1 Fetch.enable", "{}");
    for (id, url) in [("1", "x:/a.js"), ("2", "x:/a.css")] {
        let paused = format!(r#"{{"requestId":"{id}","request":{{"url":"{url}"}}}}"#);
        script.chrome_says("pw-tab-1", "Fetch.requestPaused", &paused);
    }
    assert_eq!(
        script.leaves(B),
        [
            r#"A pw-tab-1 Fetch.requestPaused {"request":{"url":"x:/a.js"},"requestId":"1"}"#,
            r#"> pw-tab-1 Fetch.continueRequest {"requestId":"2"}"#,
            r#"> pw-tab-1 Fetch.enable {"patterns":[{"urlPattern":"*.js"}]}"#,
        ]
    );
    assert_eq!(script.leaves(A).last().unwrap(), "> pw-tab-1 Fetch.disable");
}
