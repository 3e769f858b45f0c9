//! The commands that a browser would answer: windows, permissions, downloads, cookies.

use serde_json::json;

use crate::tests::script::{A, B, Script};
use crate::tests::{AUTO_ATTACH, info};

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
    let bounds = r#"{"windowId":5,"bounds":{"left":3}}"#;
    assert_eq!(
        script.says(A, "- 4 Browser.setWindowBounds", bounds),
        [r#"> setWindow {"left":3,"windowId":5}"#]
    );
}

#[test]
fn a_client_cannot_change_a_window_that_it_was_not_told_of() {
    let mut script = Script::with_capabilities("windows-v1");
    let bounds = r#"{"windowId":5,"bounds":{"windowState":"minimized"}}"#;
    for (id, method) in [(1, "setWindowBounds"), (2, "getWindowBounds")] {
        assert_eq!(
            script.says(A, &format!("- {id} Browser.{method}"), bounds),
            [format!(r#"A - #{id} ! "Browser window not found""#)]
        );
    }
}

#[test]
fn frames_are_in_the_window_of_their_page_and_workers_in_none() {
    let mut script = Script::with_capabilities("windows-v1");
    script.does(A, "pw-tab-1 1 Target.setAutoAttach", AUTO_ATTACH);
    script.child("pw-tab-1", "FRAME", "iframe", false);
    script.does(A, "FRAME 2 Target.setAutoAttach", AUTO_ATTACH);
    script.child("FRAME", "INNER", "iframe", false);
    script.child("FRAME", "WORKER", "worker", false);
    for session in ["FRAME", "INNER"] {
        assert_eq!(
            script.says(A, &format!("{session} 3 Browser.getWindowForTarget"), "{}"),
            [r#"> getWindow {"targetId":"T1"}"#]
        );
    }
    script.does(A, "INNER 4 Target.setAutoAttach", AUTO_ATTACH);
    let targets = script.says(A, "- 5 Target.getTargets", r#"{"filter":[{"type":"tab"}]}"#);
    let tab = targets[0].split("\"targetId\":\"").nth(1).unwrap().split('"').next().unwrap();
    let named = format!(r#"{{"targetId":"{tab}","flatten":true}}"#);
    script.says(A, "- 6 Target.attachToTarget", &named);
    assert_eq!(
        script.says(A, "tab-of-pw-tab-1 7 Browser.setContentsSize", r#"{"windowId":5,"width":9}"#),
        [r#"> getWindow {"targetId":"T1"}"#]
    );
    assert_eq!(
        script.says(A, "WORKER 8 Browser.getWindowForTarget", "{}"),
        [r#"A WORKER #8 ! "No web contents in the target""#]
    );
}

#[test]
fn clients_that_discover_targets_are_told_of_a_crash() {
    let mut script = Script::new();
    script.says(A, "- 2 Target.setDiscoverTargets", r#"{"discover":true}"#);
    assert_eq!(
        script.chrome_says("pw-tab-1", "Inspector.targetCrashed", "{}"),
        [
            r#"A - Target.targetCrashed {"errorCode":0,"status":"crashed","targetId":"T1"}"#,
            "A pw-tab-1 Inspector.targetCrashed {}",
            "B pw-tab-1 Inspector.targetCrashed {}",
        ]
    );
}

#[test]
fn an_extension_without_downloads_is_not_asked_about_them() {
    let mut script = Script::new();
    script.does(
        A,
        "- 2 Browser.setDownloadBehavior",
        r#"{"behavior":"deny","eventsEnabled":true}"#,
    );
    let began =
        r#"{"guid":"00000000-0000-4000-8000-00000000000A","url":"x:/f","suggestedFilename":"f"}"#;
    let told = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    assert_eq!(told.len(), 1, "the event alone: {told:?}");
}

#[test]
fn permissions_end_with_the_client_that_wanted_them() {
    let mut script = Script::with_capabilities("permissions-v1");
    let grant =
        |name: &str| format!(r#"{{"permissions":["{name}"],"origin":"https://{name}.example"}}"#);
    script.does(A, "- 2 Browser.grantPermissions", &grant("geolocation"));
    let of_both = script.does(B, "- 2 Browser.grantPermissions", &grant("camera"));
    assert_eq!(
        of_both,
        [
            r#"> setPermissions {"rules":[{"name":"geolocation","origin":"https://geolocation.example","setting":"allow"},{"name":"camera","origin":"https://camera.example","setting":"allow"}]}"#,
            "B - #2 {}",
        ]
    );
    assert_eq!(
        script.leaves(A),
        [
            r#"> setPermissions {"rules":[{"name":"camera","origin":"https://camera.example","setting":"allow"}]}"#
        ]
    );
    assert_eq!(script.leaves(B), [r#"> setPermissions {"rules":[]}"#]);
}

#[test]
fn permissions_for_no_site_go_along_with_the_controlled_tabs() {
    let mut script = Script::with_capabilities("permissions-v1");
    let rule = |site: &str| {
        format!(
            r#"> setPermissions {{"rules":[{{"name":"geolocation","origin":"https://{site}.example","setting":"allow"}}]}}"#
        )
    };
    let none = r#"> setPermissions {"rules":[]}"#;
    let granted =
        script.does(A, "- 2 Browser.grantPermissions", r#"{"permissions":["geolocation"]}"#);
    assert_eq!(granted, [none, "A - #2 {}"], "no site is open");
    let asked = script.says(A, "pw-tab-1 3 Page.navigate", r#"{"url":"https://a.example/page"}"#);
    assert_eq!(asked[0], rule("a"), "before the page can ask");
    assert!(asked[1].starts_with("> pw-tab-1 Page.navigate"), "{asked:?}");
    let navigated = |url: &str| format!(r#"{{"frame":{{"id":"T1","url":"{url}"}}}}"#);
    let arrived = navigated("https://a.example/page");
    assert!(script.chrome_says("pw-tab-1", "Page.frameNavigated", &arrived).is_empty());
    let told =
        script.chrome_says("pw-tab-1", "Page.frameNavigated", &navigated("https://b.example/"));
    assert_eq!(told, [rule("b")], "the user went there");
    let gone = r#"{"sessionId":"pw-tab-1","targetId":"T1"}"#;
    let told = script.chrome_says("-", "Target.detachedFromTarget", gone);
    assert_eq!(told.last().unwrap(), none);
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
fn a_tab_that_has_crashed_does_not_stand_for_the_browser() {
    let mut script = Script::new();
    script.attach_tab("pw-tab-2", "T2");
    script.chrome_says("pw-tab-1", "Inspector.targetCrashed", "{}");
    let clear = r#"{"origin":"about:blank","storageTypes":"all"}"#;
    let set = r#"{"cookies":[]}"#;
    assert_eq!(
        script.says(A, "- 2 Storage.setCookies", set)[0],
        format!("> pw-tab-2 Storage.setCookies {set}")
    );
    assert_eq!(script.says(A, "- 3 Storage.getCookies", "{}"), ["> pw-tab-2 Network.getCookies"]);
    let found = r#"{"cookies":[{"name":"a","domain":"d","path":"/"}]}"#;
    script.says(A, "- 4 Storage.clearCookies", "{}");
    assert!(script.chrome_answers(found)[0].starts_with("> pw-tab-2 Network.deleteCookies"));
    script.chrome_says("pw-tab-2", "Inspector.targetCrashed", "{}");
    for (id, method, params) in [
        (5, "Storage.setCookies", set),
        (6, "Storage.getCookies", "{}"),
        (7, "Storage.clearCookies", clear),
    ] {
        let refused = script.says(A, &format!("- {id} {method}"), params);
        assert_eq!(
            refused,
            [format!(r#"A - #{id} ! "Every controlled tab has crashed: reload one""#)]
        );
    }
    script.chrome_says("pw-tab-1", "Inspector.targetReloadedAfterCrash", "{}");
    assert_eq!(script.says(A, "- 8 Storage.getCookies", "{}"), ["> pw-tab-1 Network.getCookies"]);
}

#[test]
fn without_a_tab_the_context_is_known_all_the_same() {
    let mut script = Script::new();
    let gone = r#"{"sessionId":"pw-tab-1","targetId":"T1"}"#;
    script.chrome_says("-", "Target.detachedFromTarget", gone);
    let contexts = script.says(A, "- 2 Target.getBrowserContexts", "{}");
    assert!(contexts[0].contains(r#""defaultBrowserContextId":"C""#), "{contexts:?}");
}

#[test]
fn site_data_is_cleared_only_for_sites_that_are_open() {
    let mut script = Script::new();
    let (open, other) = ("https://open.example", "https://bank.example");
    let mut info = info("T1");
    info["url"] = format!("{open}/page").into();
    let moved = json!({ "targetInfo": info }).to_string();
    script.chrome_says("-", "Target.targetInfoChanged", &moved);
    for (id, command, site, decoy) in
        [(2, "Origin", "origin", "storageKey"), (3, "StorageKey", "storageKey", "origin")]
    {
        let clear = |site_of: &str, decoy_of: &str| {
            format!(r#"{{"{site}":"{site_of}/","{decoy}":"{decoy_of}/","storageTypes":"all"}}"#)
        };
        let says = format!("- {id} Storage.clearDataFor{command}");
        assert!(script.says(A, &says, &clear(open, other))[0].starts_with("> pw-tab-1 Storage."));
        let refused = script.says(A, &says, &clear(other, open));
        assert!(refused[0].contains("--cookies=profile"), "{refused:?}");
    }
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
    for (id, name, deleted) in [(3, "a", 1), (4, "hidden", 0)] {
        let params = format!(r#"{{"name":"{name}","url":"https://d/"}}"#);
        script.says(A, &format!("pw-tab-1 {id} Network.deleteCookies"), &params);
        let cookie = r#"{"cookies":[{"name":"a","value":"1","domain":"d","path":"/"}]}"#;
        let next = script.chrome_answers(cookie);
        assert_eq!(next.iter().filter(|it| it.contains("deleteCookies")).count(), deleted);
        if deleted > 0 {
            script.chrome_answers("{}");
        }
    }
    for (id, method) in [(5, "Network.clearBrowserCookies"), (6, "Network.clearBrowserCache")] {
        let refused = script.says(A, &format!("pw-tab-1 {id} {method}"), "{}");
        assert!(refused[0].contains("--cookies=profile"), "{refused:?}");
    }
}

#[test]
fn a_download_completes_when_its_copy_is_there() {
    let mut script = Script::with_capabilities("downloads-v1");
    script.does(
        A,
        "- 2 Browser.setDownloadBehavior",
        r#"{"behavior":"allowAndName","downloadPath":"/tmp/d","eventsEnabled":true}"#,
    );
    let began =
        r#"{"guid":"00000000-0000-4000-8000-00000000000A","url":"x:/f","suggestedFilename":"f"}"#;
    let told = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    assert!(told[0].starts_with("A - Browser.downloadWillBegin"), "{told:?}");
    assert_eq!(told[1..], [search(true, "[]")], "which of Chrome's it is");
    let ended = r#"{"guid":"00000000-0000-4000-8000-00000000000A","state":"completed"}"#;
    assert_eq!(script.chrome_says("pw-tab-1", "Page.downloadProgress", ended), [""; 0]);
    assert_eq!(script.chrome_answers("{}"), [search(false, "[]")], "Chrome does not know it yet");
    assert_eq!(
        script.chrome_answers(r#"{"id":7,"path":"/home/f","state":"complete"}"#),
        [r#"copy "/home/f" to ["/tmp/d/00000000-0000-4000-8000-00000000000A"]"#]
    );
    let copied = crate::tests::Input::DownloadCopied {
        connection: crate::tests::EXTENSION,
        guid: "00000000-0000-4000-8000-00000000000A".to_owned(),
        outcome: Ok([].into()),
    };
    assert_eq!(
        script.handle(copied),
        [
            r#"A - Browser.downloadProgress {"filePath":"/tmp/d/00000000-0000-4000-8000-00000000000A","guid":"00000000-0000-4000-8000-00000000000A","state":"completed"}"#
        ]
    );
}

#[test]
fn a_client_is_told_the_name_that_was_free_for_its_file() {
    let mut script = Script::with_capabilities("downloads-v1");
    script.does(
        A,
        "- 2 Browser.setDownloadBehavior",
        r#"{"behavior":"allow","downloadPath":"/tmp/d","eventsEnabled":true}"#,
    );
    let began =
        r#"{"guid":"00000000-0000-4000-8000-00000000000A","url":"x:/f","suggestedFilename":"f"}"#;
    script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    script.chrome_answers(r#"{"id":7,"state":"in_progress"}"#);
    let ended = r#"{"guid":"00000000-0000-4000-8000-00000000000A","state":"completed"}"#;
    script.chrome_says("pw-tab-1", "Page.downloadProgress", ended);
    script.chrome_answers(r#"{"id":7,"path":"/home/f","state":"complete"}"#);
    let copied = crate::tests::Input::DownloadCopied {
        connection: crate::tests::EXTENSION,
        guid: "00000000-0000-4000-8000-00000000000A".to_owned(),
        outcome: Ok([("/tmp/d/f".into(), "/tmp/d/f (1)".into())].into()),
    };
    let told = r#"{"filePath":"/tmp/d/f (1)","guid":"00000000-0000-4000-8000-00000000000A","state":"completed"}"#;
    assert_eq!(script.handle(copied), [format!("A - Browser.downloadProgress {told}")]);
}

#[test]
fn a_denied_download_leaves_nothing_unless_another_client_wants_it() {
    let mut script = Script::with_capabilities("downloads-v1");
    let deny = r#"{"behavior":"deny","eventsEnabled":true}"#;
    script.does(A, "- 2 Browser.setDownloadBehavior", deny);
    let began =
        r#"{"guid":"00000000-0000-4000-8000-00000000000A","url":"x:/f","suggestedFilename":"f"}"#;
    let asked = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    assert_eq!(asked[1..], [search(true, "[]")]);
    assert_eq!(script.chrome_answers("{}"), [""; 0], "Chrome does not know it yet");
    let ended = r#"{"guid":"00000000-0000-4000-8000-00000000000A","state":"completed"}"#;
    assert_eq!(
        script.chrome_says("pw-tab-1", "Page.downloadProgress", ended),
        [
            r#"A - Browser.downloadProgress {"guid":"00000000-0000-4000-8000-00000000000A","state":"canceled"}"#.to_owned(),
            search(true, "[]"),
        ]
    );
    assert_eq!(
        script.chrome_answers(r#"{"id":7,"state":"complete"}"#),
        [r#"> cancelDownload {"id":7,"remove":true}"#]
    );

    let other =
        r#"{"guid":"00000000-0000-4000-8000-00000000000B","url":"x:/f","suggestedFilename":"f"}"#;
    script.chrome_says("pw-tab-1", "Page.downloadWillBegin", other);
    script.chrome_answers(r#"{"id":8,"state":"in_progress"}"#);
    assert_eq!(
        script.chrome_says("pw-tab-1", "Page.downloadProgress", &ended.replace("00A", "00B")),
        [
            r#"A - Browser.downloadProgress {"guid":"00000000-0000-4000-8000-00000000000B","state":"canceled"}"#
        ],
        "it has been removed; what else comes from there is the user's"
    );

    let allow = r#"{"behavior":"allow","downloadPath":"/tmp/d"}"#;
    script.does(B, "- 2 Browser.setDownloadBehavior", allow);
    let began = script.chrome_says("pw-tab-1", "Page.downloadWillBegin", began);
    assert_eq!(began.len(), 2, "{began:?}");
    let found = script.chrome_answers(r#"{"id":9,"state":"in_progress"}"#);
    assert_eq!(found, [""; 0], "it goes on");
}

#[test]
fn two_downloads_from_one_address_are_not_taken_for_each_other() {
    let mut script = Script::with_capabilities("downloads-v1");
    let wanted = r#"{"behavior":"allowAndName","downloadPath":"/tmp/d","eventsEnabled":true}"#;
    script.does(A, "- 2 Browser.setDownloadBehavior", wanted);
    for guid in ["00000000-0000-4000-8000-00000000000A", "00000000-0000-4000-8000-00000000000B"] {
        let began = format!(r#"{{"guid":"{guid}","url":"x:/f","suggestedFilename":"f"}}"#);
        script.chrome_says("pw-tab-1", "Page.downloadWillBegin", &began);
    }
    // Chrome knows both downloads by this time, and tells of the newest.
    assert_eq!(script.chrome_answers(r#"{"id":8}"#), [search(true, "[8]")]);
    let early = r#"{"guid":"00000000-0000-4000-8000-00000000000B","state":"completed"}"#;
    let told = script.chrome_says("pw-tab-1", "Page.downloadProgress", early);
    assert_eq!(told, [""; 0], "nobody knows which it is");
    assert_eq!(script.chrome_answers(r#"{"id":7}"#), [search(false, "[7]")]);
    let copies = script.chrome_answers(r#"{"id":8,"path":"/home/f (1)","state":"complete"}"#);
    assert_eq!(
        copies,
        [r#"copy "/home/f (1)" to ["/tmp/d/00000000-0000-4000-8000-00000000000B"]"#]
    );
    let ended = r#"{"guid":"00000000-0000-4000-8000-00000000000A","state":"completed"}"#;
    let told = script.chrome_says("pw-tab-1", "Page.downloadProgress", ended);
    assert_eq!(told, [search(false, "[8]")]);
    let told = script.chrome_answers(r#"{"id":9,"path":"/home/f (2)","state":"complete"}"#);
    assert_eq!(told, [search(false, "[8,9]")], "the user has downloaded it, too");
    let copies = script.chrome_answers(r#"{"id":7,"path":"/home/f","state":"complete"}"#);
    assert_eq!(copies, [r#"copy "/home/f" to ["/tmp/d/00000000-0000-4000-8000-00000000000A"]"#]);
}

fn search(at_once: bool, exclude: &str) -> String {
    format!(
        r#"> findDownload {{"atOnce":{at_once},"exclude":{exclude},"maxAge":15000,"url":"x:/f"}}"#
    )
}

#[test]
fn bringing_to_the_front_is_left_to_the_user() {
    let mut script = Script::with_capabilities("windows-v1");
    assert_eq!(script.says(A, "pw-tab-1 1 Page.bringToFront", "{}"), ["A pw-tab-1 #1 {}"]);
    let activated = script.says(A, "- 2 Target.activateTarget", r#"{"targetId":"T1"}"#);
    assert_eq!(activated, ["A - #2 {}"]);
}
