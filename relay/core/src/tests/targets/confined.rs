//! The targets that confined clients see, and the commands that they may send. B is confined; A is
//! not.

use serde_json::json;

use crate::tests::script::{A, B, Script};
use crate::tests::{AUTO_ATTACH, info};

const FILE: &str = "file:///home/me/secret";

fn navigated(url: &str) -> String {
    json!({ "frame": { "id": "T1", "url": url } }).to_string()
}

fn changed(url: &str) -> String {
    let mut info = info("T1");
    info["url"] = url.into();
    json!({ "targetInfo": info }).to_string()
}

/// Returns the lines that the confined client is sent.
fn told(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).filter(|line| line.starts_with("B ")).collect()
}

/// A stage on which both clients listen to the page at an address.
fn stage(url: &str) -> Script {
    let mut script = Script::with_capabilities("permissions-v1,downloads-v1");
    script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated(url));
    script.comes_confined(B);
    script.does(A, "pw-tab-1 3 Page.enable", "{}");
    script.does(B, "pw-tab-1 3 Page.enable", "{}");
    script
}

#[test]
fn a_page_that_leaves_the_web_is_gone_before_its_events() {
    let mut script = stage("https://a.example/");
    let asked = script.says(B, "pw-tab-1 4 Page.captureScreenshot", "{}");
    assert_eq!(asked.len(), 1, "{asked:?}");
    let screenshot = script.last_request();
    let lines = script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated(FILE));
    let of_b = told(&lines);
    assert!(of_b[0].starts_with("B - Target.detachedFromTarget"), "{of_b:?}");
    assert_eq!(of_b[1], r#"B pw-tab-1 #4 ! "Target closed""#);
    assert_eq!(of_b[2..], [r#"B - Target.targetDestroyed {"targetId":"T1"}"#]);
    assert!(lines.iter().any(|line| line.starts_with("A pw-tab-1 Page.frameNavigated")));
    assert!(told(&script.chrome_answers_to(screenshot, r#"{"data":"pixels"}"#)).is_empty());
    for (method, params) in [("Page.loadEventFired", "{}"), ("Inspector.targetCrashed", "{}")] {
        let lines = script.chrome_says("pw-tab-1", method, params);
        assert!(told(&lines).is_empty(), "{lines:?}");
    }
    let lines = script.says(B, "pw-tab-1 5 Runtime.evaluate", r#"{"expression":"1"}"#);
    assert_eq!(lines, [r#"B pw-tab-1 #5 ! "Session with given id not found.""#]);
    let lines = script.says(B, "- 6 Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#);
    assert_eq!(lines, [r#"B - #6 ! "No target with given id found: T1""#]);
    let lines = script.says(B, "- 7 Target.getTargets", "{}");
    assert!(!lines[0].contains("T1") && !lines[0].contains("secret"), "{lines:?}");
    let lines = script.says(A, "- 8 Target.getTargets", "{}");
    assert!(lines[0].contains(FILE), "the others feel nothing: {lines:?}");
    for method in ["Target.closeTarget", "Target.getTargetInfo"] {
        let lines = script.says(B, &format!("- 9 {method}"), r#"{"targetId":"T1"}"#);
        assert_eq!(lines, [r#"B - #9 ! "No target with given id found""#]);
    }
}

#[test]
fn a_page_that_is_back_on_the_web_is_a_new_one() {
    let mut script = stage("https://a.example/");
    script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated(FILE));
    let lines = script.chrome_says("-", "Target.targetInfoChanged", &changed("https://b.example/"));
    assert!(told(&lines).is_empty(), "it was typed, and is not there yet: {lines:?}");
    let lines =
        script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated("https://b.example/"));
    let of_b = told(&lines);
    assert!(of_b[0].starts_with("B - Target.targetCreated"), "{of_b:?}");
    assert!(of_b.iter().any(|line| line.starts_with("B - Target.attachedToTarget")), "{of_b:?}");
    let attached = lines.iter().filter(|line| line.starts_with("A - Target.attachedToTarget"));
    assert_eq!(attached.count(), 0, "the others have it already: {lines:?}");
}

#[test]
fn the_shown_address_and_a_failed_one_hide_a_page_as_well() {
    let mut script = stage("https://a.example/");
    let lines = script.chrome_says("-", "Target.targetInfoChanged", &changed(FILE));
    assert!(told(&lines)[0].starts_with("B - Target.detachedFromTarget"), "{lines:?}");
    let mut script = stage("https://a.example/");
    let failed = |url: &str| {
        let frame = json!({
            "id": "T1", "url": "chrome-error://chromewebdata/", "unreachableUrl": url,
        });
        json!({ "frame": frame }).to_string()
    };
    let lines =
        script.chrome_says("pw-tab-1", "Page.frameNavigated", &failed("https://none.example/"));
    assert!(told(&lines).iter().any(|it| it.starts_with("B pw-tab-1 Page.frameNavigated")));
    let lines = script.chrome_says("pw-tab-1", "Page.frameNavigated", &failed(FILE));
    assert!(told(&lines)[0].starts_with("B - Target.detachedFromTarget"), "{lines:?}");
}

#[test]
fn a_tab_that_comes_with_a_file_is_not_announced() {
    let mut script = stage(FILE);
    let lines = script.attach_tab("pw-tab-2", "T2");
    assert!(told(&lines).iter().any(|line| line.contains("T2")), "an empty one is: {lines:?}");
    let gone = r#"{"sessionId":"pw-tab-2","targetId":"T2"}"#;
    script.chrome_says("-", "Target.detachedFromTarget", gone);
    let mut info = info("T3");
    info["url"] = FILE.into();
    let attached =
        json!({ "sessionId": "pw-tab-3", "targetInfo": info, "waitingForDebugger": false });
    let lines = script.chrome_says("-", "Target.attachedToTarget", &attached.to_string());
    assert!(told(&lines).is_empty(), "{lines:?}");
    let lines = script.says(B, "- 9 Storage.getCookies", "{}");
    assert!(lines[0].starts_with("B - #9 ! \"No tab is attached"), "{lines:?}");
    let lines = script.says(B, "- 10 Tracing.start", "{}");
    assert!(lines[0].starts_with("B - #10 ! \"No tab is attached"), "{lines:?}");
}

#[test]
fn frames_and_workers_go_with_their_page_and_by_their_own_address() {
    let mut script = stage("https://a.example/");
    script.does(B, "pw-tab-1 4 Target.setAutoAttach", AUTO_ATTACH);
    let child = |session: &str, kind: &str, url: &str| {
        let info = json!({ "targetId": format!("of {session}"), "type": kind, "url": url });
        json!({ "sessionId": session, "targetInfo": info, "waitingForDebugger": false }).to_string()
    };
    let frame = child("FRAME", "iframe", "https://b.example/");
    let lines = script.chrome_says("pw-tab-1", "Target.attachedToTarget", &frame);
    assert!(told(&lines).iter().any(|it| it.contains("attachedToTarget")), "{lines:?}");
    let foreign = child("FOREIGN", "iframe", "chrome-extension://x/frame.html");
    let lines = script.chrome_says("pw-tab-1", "Target.attachedToTarget", &foreign);
    assert!(told(&lines).is_empty(), "{lines:?}");
    let lines = script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated(FILE));
    let of_b = told(&lines);
    assert!(of_b[0].contains("detachedFromTarget") && of_b[0].contains("FRAME"), "{of_b:?}");
    let worker = child("WORKER", "service_worker", "https://b.example/worker.js");
    let lines = script.chrome_says("pw-tab-1", "Target.attachedToTarget", &worker);
    assert!(told(&lines).is_empty(), "{lines:?}");
}

#[test]
fn a_request_for_a_file_is_not_shown_while_it_is_held() {
    let mut script = stage("https://a.example/");
    script.does(B, "pw-tab-1 4 Fetch.enable", "{}");
    let paused = |url: &str| json!({ "requestId": "R", "request": { "url": url } }).to_string();
    let lines = script.chrome_says("pw-tab-1", "Fetch.requestPaused", &paused(FILE));
    assert_eq!(lines, [r#"> pw-tab-1 Fetch.continueRequest {"requestId":"R"}"#]);
    let lines =
        script.chrome_says("pw-tab-1", "Fetch.requestPaused", &paused("https://a.example/"));
    assert_eq!(told(&lines).len(), 1, "{lines:?}");
}

#[test]
fn a_script_for_new_documents_runs_only_on_the_web() {
    let mut script = stage("https://a.example/");
    let add = r#"{"source":"steal()"}"#;
    let lines = script.says(B, "pw-tab-1 4 Page.addScriptToEvaluateOnNewDocument", add);
    assert!(lines[0].contains("location.href") && lines[0].contains("; steal()"), "{lines:?}");
    let lines = script.says(A, "pw-tab-1 4 Page.addScriptToEvaluateOnNewDocument", add);
    assert!(lines[0].ends_with(add), "{lines:?}");
}

#[test]
fn a_condition_of_a_breakpoint_runs_only_on_the_web() {
    let mut script = stage("https://a.example/");
    script.does(B, "pw-tab-1 4 Debugger.enable", "{}");
    let set = r#"{"lineNumber":1,"urlRegex":".*","condition":"steal()"}"#;
    let lines = script.says(B, "pw-tab-1 5 Debugger.setBreakpointByUrl", set);
    assert!(lines[0].contains("globalThis.location.href"), "{lines:?}");
    assert!(lines[0].contains("throw 0; steal()"), "{lines:?}");
    let plain = r#"{"lineNumber":1,"urlRegex":".*"}"#;
    let lines = script.says(B, "pw-tab-1 6 Debugger.setBreakpointByUrl", plain);
    assert!(lines[0].ends_with(plain), "{lines:?}");
    let lines = script.says(A, "pw-tab-1 5 Debugger.setBreakpointByUrl", set);
    assert!(!lines[0].contains("throw"), "{lines:?}");
}

#[test]
fn a_tab_that_sets_out_for_a_file_is_gone_before_it_shows_the_file() {
    let mut script = stage("https://a.example/");
    let began = |frame: &str, url: &str| json!({ "frameId": frame, "url": url }).to_string();
    for (frame, url) in [("T1", "https://b.example/"), ("F", FILE), ("T1", "mailto:me@a.example")] {
        let lines =
            script.chrome_says("pw-tab-1", "Page.frameStartedNavigating", &began(frame, url));
        assert_eq!(told(&lines).len(), 1, "{lines:?}");
        assert!(!told(&lines)[0].contains("detached"), "{lines:?}");
    }
    let lines = script.chrome_says("pw-tab-1", "Page.frameStartedNavigating", &began("T1", FILE));
    let of_b = told(&lines);
    assert!(of_b[0].starts_with("B - Target.detachedFromTarget"), "{of_b:?}");
    assert!(!of_b.iter().any(|line| line.contains("secret")), "{of_b:?}");
    assert!(lines.iter().any(|line| line.starts_with("A pw-tab-1 Page.frameStartedNavigating")));
    // It goes elsewhere, before it has arrived.
    let lines = script.chrome_says(
        "pw-tab-1",
        "Page.frameStartedNavigating",
        &began("T1", "https://b.example/"),
    );
    assert!(told(&lines)[0].starts_with("B - Target.targetCreated"), "{lines:?}");
}

#[test]
fn code_for_a_page_runs_only_on_the_web() {
    let mut script = stage("https://a.example/");
    for (method, params, code) in [
        ("Runtime.evaluate", r#"{"expression":"steal()"}"#, "throw 0; steal()"),
        ("Runtime.compileScript", r#"{"expression":"steal()"}"#, "throw 0; steal()"),
        (
            "Runtime.callFunctionOn",
            r#"{"functionDeclaration":"steal","executionContextId":1}"#,
            "(() => { throw 0 })(), steal",
        ),
    ] {
        let lines = script.says(B, &format!("pw-tab-1 5 {method}"), params);
        assert!(lines[0].contains(code), "{lines:?}");
        let lines = script.says(A, &format!("pw-tab-1 5 {method}"), params);
        assert!(!lines[0].contains("throw"), "{lines:?}");
    }
    let of_an_object = r#"{"functionDeclaration":"steal","objectId":"1"}"#;
    let lines = script.says(B, "pw-tab-1 6 Runtime.callFunctionOn", of_an_object);
    assert!(!lines[0].contains("throw"), "{lines:?}");
}

#[test]
fn downloads_of_other_pages_are_hidden_from_confined_clients() {
    let mut script = stage("https://a.example/");
    let wanted = r#"{"behavior":"allow","downloadPath":"/session","eventsEnabled":true}"#;
    script.does(B, "- 4 Browser.setDownloadBehavior", wanted);
    let began = |url: &str| {
        let guid = "00000000-0000-4000-8000-00000000000A";
        json!({ "guid": guid, "url": url, "suggestedFilename": "f" }).to_string()
    };
    let lines = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", &began(FILE));
    assert!(!told(&lines).iter().any(|line| line.contains("Browser.")), "{lines:?}");
    let lines =
        script.chrome_says("pw-tab-1", "Page.downloadWillBegin", &began("https://a.example/f"));
    assert!(told(&lines)[0].starts_with("B - Browser.downloadWillBegin"), "{lines:?}");
}

#[test]
fn confined_permissions_need_an_open_site_and_the_users_consent() {
    let mut script = stage("https://a.example/");
    let grant =
        |name: &str, origin: &str| format!(r#"{{"permissions":["{name}"],"origin":"{origin}"}}"#);
    for (params, why) in [
        (r#"{"permissions":["geolocation"]}"#.to_owned(), "has to name the site"),
        (grant("geolocation", "https://bank.example"), "is not open in a controlled tab"),
        (grant("camera", "https://a.example"), "--agents-may=camera"),
        (grant("microphone", "https://a.example"), "--agents-may=microphone"),
        (grant("clipboardReadWrite", "https://a.example"), "--agents-may=clipboard-read"),
    ] {
        let lines = script.says(B, "- 4 Browser.grantPermissions", &params);
        assert!(lines[0].starts_with("B - #4 !") && lines[0].contains(why), "{lines:?}");
    }
    let lines = script.does(
        B,
        "- 5 Browser.grantPermissions",
        &grant("geolocation", "https://a.example/x"),
    );
    assert!(lines[0].contains(r#""origin":"https://a.example""#), "{lines:?}");
    script.agents_may_all();
    let lines =
        script.does(B, "- 6 Browser.grantPermissions", &grant("camera", "https://a.example"));
    assert!(lines[0].starts_with("> setPermissions"), "{lines:?}");
    let lines =
        script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated("https://b.example/"));
    assert!(lines.contains(&r#"> setPermissions {"rules":[]}"#.to_owned()), "{lines:?}");
}

#[test]
fn cookies_are_set_for_sites_that_are_open() {
    let mut script = stage("https://www.a.example/");
    let set = |cookie: &str| format!(r#"{{"cookies":[{{"name":"n","value":"v",{cookie}}}]}}"#);
    for cookie in
        [r#""url":"https://bank.example/""#, r#""domain":"bank.example""#, r#""path":"/""#]
    {
        for command in ["- 4 Storage.setCookies", "pw-tab-1 4 Network.setCookies"] {
            let lines = script.says(B, command, &set(cookie));
            assert!(lines[0].contains("open the site first"), "{lines:?}");
        }
    }
    for cookie in [r#""url":"https://www.a.example/""#, r#""domain":".a.example""#] {
        let lines = script.says(B, "- 5 Storage.setCookies", &set(cookie));
        assert!(lines[0].starts_with("> pw-tab-1 Storage.setCookies"), "{lines:?}");
    }
    let lines = script.says(A, "- 5 Storage.setCookies", &set(r#""domain":"bank.example""#));
    assert!(lines[0].starts_with("> pw-tab-1 Storage.setCookies"), "{lines:?}");
}

#[test]
fn site_data_is_shown_only_for_sites_that_are_open() {
    let mut script = stage("https://a.example/");
    for (method, params) in [
        ("getUsageAndQuota", r#"{"origin":"https://bank.example"}"#),
        ("overrideQuotaForOrigin", r#"{"origin":"https://bank.example"}"#),
        ("getSharedStorageEntries", r#"{"ownerOrigin":"https://bank.example"}"#),
        ("trackIndexedDBForStorageKey", r#"{"storageKey":"https://bank.example/"}"#),
        ("deleteStorageBucket", r#"{"bucket":{"storageKey":"https://bank.example/"}}"#),
        ("getUsageAndQuota", r#"{"origin":"https://a.example","origin":"https://bank.example"}"#),
        ("getTrustTokens", "{}"),
        ("runBounceTrackingMitigations", "{}"),
    ] {
        for session in ["-", "pw-tab-1"] {
            let lines = script.says(A, &format!("{session} 4 Storage.{method}"), params);
            assert!(lines[0].starts_with(&format!("A {session} #4 !")), "{lines:?}");
        }
    }
    for (method, params) in [
        ("getUsageAndQuota", r#"{"origin":"https://a.example"}"#),
        ("trackIndexedDBForStorageKey", r#"{"storageKey":"https://a.example/"}"#),
        ("getStorageKeyForFrame", r#"{"frameId":"F"}"#),
    ] {
        let lines = script.says(A, &format!("- 5 Storage.{method}"), params);
        assert!(lines[0].starts_with("> pw-tab-1 Storage."), "{lines:?}");
    }
}
