//! What a browser would answer: windows, permissions, downloads, cookies.

use super::script::{A, B, Script};

#[test]
fn a_window_is_told_in_the_words_of_cdp() {
    let mut script = Script::with_capabilities("windows-v1");
    assert_eq!(
        script.says(A, "pw-tab-1 1 Browser.getWindowForTarget", "{}"),
        [r#"> getWindow {"targetId":"T1"}"#]
    );
    let window = r#"{"windowId":5,"left":1,"top":2,"width":800,"height":700,"state":"normal","contentWidth":790,"contentHeight":600}"#;
    assert_eq!(
        script.chrome_answers(window),
        [
            r#"A pw-tab-1 #1 {"bounds":{"height":700,"left":1,"top":2,"width":800,"windowState":"normal"},"windowId":5}"#
        ]
    );
    script.says(
        A,
        "pw-tab-1 2 Browser.setContentsSize",
        r#"{"windowId":5,"width":1000,"height":500}"#,
    );
    assert_eq!(
        script.chrome_answers(window),
        [r#"> setWindow {"height":600,"width":1010,"windowId":5}"#]
    );
    assert_eq!(script.chrome_answers("{}"), ["A pw-tab-1 #2 {}"]);
    assert_eq!(
        script.says(A, "- 3 Browser.getWindowForTarget", "{}"),
        [r#"A - #3 ! "No web contents in the target""#]
    );
}

#[test]
fn an_extension_that_is_too_old_is_named() {
    let mut script = Script::new();
    let lines = script.says(A, "pw-tab-1 1 Browser.getWindowForTarget", "{}");
    assert!(lines[0].contains("too old for windows: update it"), "{lines:?}");
    let granted =
        script.says(A, "- 2 Browser.grantPermissions", r#"{"permissions":["geolocation"]}"#);
    assert!(granted[0].contains("too old for permissions: update it"), "{granted:?}");
    assert_eq!(script.says(A, "- 3 Browser.resetPermissions", "{}"), ["A - #3 {}"]);
}

#[test]
fn an_extension_that_knows_nothing_of_downloads_is_not_asked_about_them() {
    let mut script = Script::new();
    script.does(
        A,
        "- 2 Browser.setDownloadBehavior",
        r#"{"behavior":"deny","eventsEnabled":true}"#,
    );
    let began = r#"{"guid":"G","url":"x:/f","suggestedFilename":"f"}"#;
    let told = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    assert_eq!(told.len(), 1, "the event alone: {told:?}");
}

#[test]
fn permissions_end_with_the_client_that_wanted_them() {
    let mut script = Script::with_capabilities("permissions-v1");
    script.does(A, "- 2 Browser.grantPermissions", r#"{"permissions":["geolocation"]}"#);
    let of_both = script.does(
        B,
        "- 2 Browser.grantPermissions",
        r#"{"permissions":["videoCapture"],"origin":"https://a.example"}"#,
    );
    assert_eq!(
        of_both,
        [
            r#"> setPermissions {"rules":[{"name":"geolocation","setting":"allow"},{"name":"camera","origin":"https://a.example","setting":"allow"}]}"#,
            "B - #2 {}",
        ]
    );
    assert_eq!(
        script.leaves(A),
        [
            r#"> setPermissions {"rules":[{"name":"camera","origin":"https://a.example","setting":"allow"}]}"#
        ]
    );
    assert_eq!(script.leaves(B), [r#"> setPermissions {"rules":[]}"#]);
}

#[test]
fn a_client_sees_the_cookies_of_the_controlled_tabs_and_its_own() {
    let mut script = Script::new();
    script.does(
        A,
        "- 2 Storage.setCookies",
        r#"{"cookies":[{"name":"own","value":"1","url":"https://b.example/"}]}"#,
    );
    let asked = script.says(A, "- 3 Storage.getCookies", r#"{"browserContextId":"C"}"#);
    assert_eq!(
        asked,
        [
            "> pw-tab-1 Network.getCookies",
            r#"> pw-tab-1 Network.getCookies {"urls":["https://b.example/"]}"#,
        ]
    );
    let cookie = |name: &str, value: &str| {
        format!(r#"{{"name":"{name}","value":"{value}","domain":"b.example","path":"/{value}"}}"#)
    };
    let last = script.last_request();
    script
        .chrome_answers_to(last - 1, &format!(r#"{{"cookies":[{}]}}"#, cookie("of the tab", "0")));
    let both = format!(r#"{{"cookies":[{},{}]}}"#, cookie("own", "1"), cookie("own", "the user's"));
    let answer = script.chrome_answers_to(last, &both);
    assert_eq!(answer.len(), 1);
    assert!(answer[0].contains("of the tab") && answer[0].contains("own"), "{answer:?}");
    assert!(!answer[0].contains("the user's"), "{answer:?}");
}

#[test]
fn clearing_cookies_clears_what_the_tabs_see_and_no_more() {
    let mut script = Script::new();
    script.says(A, "- 2 Storage.clearCookies", "{}");
    let deletes = script.chrome_answers(r#"{"cookies":[{"name":"a","domain":"d","path":"/"}]}"#);
    assert_eq!(
        deletes,
        [r#"> pw-tab-1 Network.deleteCookies {"domain":"d","name":"a","path":"/"}"#]
    );
    assert_eq!(script.chrome_answers("{}"), ["A - #2 {}"]);
    for (id, method) in [(3, "Network.clearBrowserCookies"), (4, "Network.clearBrowserCache")] {
        let refused = script.says(A, &format!("pw-tab-1 {id} {method}"), "{}");
        assert!(refused[0].contains("--cookies=profile"), "{refused:?}");
    }
}

#[test]
fn a_download_is_told_at_its_end_when_the_file_is_where_the_client_wants_it() {
    let mut script = Script::with_capabilities("downloads-v1");
    script.does(
        A,
        "- 2 Browser.setDownloadBehavior",
        r#"{"behavior":"allowAndName","downloadPath":"/tmp/d","eventsEnabled":true}"#,
    );
    let began = r#"{"guid":"G","url":"x:/f","suggestedFilename":"f"}"#;
    let told = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("A - Browser.downloadWillBegin"), "{told:?}");
    let ended = r#"{"guid":"G","state":"completed"}"#;
    assert_eq!(
        script.chrome_says("pw-tab-1", "Page.downloadProgress", ended),
        [r#"> findDownload {"atOnce":false,"exclude":[],"url":"x:/f"}"#]
    );
    assert_eq!(
        script.chrome_answers(r#"{"id":7,"path":"/home/f","state":"complete"}"#),
        [r#"copy "/home/f" to ["/tmp/d/G"]"#]
    );
    let copied = super::Input::DownloadCopied {
        connection: super::EXTENSION,
        guid: "G".to_owned(),
        outcome: Ok(()),
    };
    assert_eq!(
        script.handle(copied),
        [r#"A - Browser.downloadProgress {"filePath":"/tmp/d/G","guid":"G","state":"completed"}"#]
    );
}

#[test]
fn bringing_to_the_front_is_left_to_the_user() {
    let mut script = Script::with_capabilities("windows-v1");
    assert_eq!(script.says(A, "pw-tab-1 1 Page.bringToFront", "{}"), ["A pw-tab-1 #1 {}"]);
    let activated = script.says(A, "- 2 Target.activateTarget", r#"{"targetId":"T1"}"#);
    assert_eq!(activated, ["A - #2 {}"]);
}
