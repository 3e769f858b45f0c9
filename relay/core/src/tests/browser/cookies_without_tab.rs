//! Cookies while no tab is controlled.

use crate::requests::pending::QUICK;
use crate::tests::script::{A, B, Script};
use crate::tests::*;

const OWN: &str = r#"{"cookies":[{"name":"own","value":"1","url":"https://a.example/"}]}"#;

#[test]
fn a_client_sets_sees_and_clears_its_own_cookies_without_a_tab() {
    let mut script = without_tab("cookies-v1");
    assert_eq!(script.says(A, "- 2 Storage.getCookies", "{}"), [r#"A - #2 {"cookies":[]}"#]);
    assert_eq!(script.says(A, "- 3 Storage.clearCookies", "{}"), ["A - #3 {}"]);
    assert_eq!(script.says(A, "- 4 Storage.setCookies", r#"{"cookies":[]}"#), ["A - #4 {}"]);
    assert_eq!(
        script.says(A, "- 5 Storage.setCookies", OWN),
        [
            r#"> callCookies {"details":[{"httpOnly":false,"name":"own","secure":true,"url":"https://a.example/","value":"1"}],"function":"set"}"#
        ]
    );
    assert_eq!(script.chrome_answers(r#"{"cookies":[{"name":"own"}]}"#), ["A - #5 {}"]);

    let query = r#"> callCookies {"details":[{"partitionKey":{},"url":"https://a.example/"}],"function":"getAll"}"#;
    assert_eq!(script.says(A, "- 6 Storage.getCookies", r#"{"browserContextId":"C"}"#), [query]);
    let all_cookies = format!(
        r#"{{"cookies":[[{},{}]]}}"#,
        kept("own", "1", "a.example"),
        kept("own", "the user's", ".a.example")
    );
    assert_eq!(
        script.chrome_answers(&all_cookies),
        [
            r#"A - #6 {"cookies":[{"domain":"a.example","expires":-1.0,"httpOnly":false,"name":"own","path":"/","priority":"Medium","secure":true,"session":true,"size":4,"sourcePort":-1,"sourceScheme":"Secure","value":"1"}]}"#
        ]
    );
    assert_eq!(
        script.says(B, "- 2 Storage.getCookies", "{}"),
        [r#"B - #2 {"cookies":[]}"#],
        "another client has set none"
    );

    assert_eq!(script.says(A, "- 7 Storage.clearCookies", "{}"), [query]);
    assert_eq!(
        script.chrome_answers(&all_cookies),
        [
            r#"> callCookies {"details":[{"expirationDate":0.0,"httpOnly":false,"name":"own","path":"/","secure":true,"url":"https://a.example/","value":""}],"function":"set"}"#
        ]
    );
    assert_eq!(script.chrome_answers(r#"{"cookies":[null]}"#), ["A - #7 {}"]);
    assert_eq!(script.warnings().len(), 0);
}

#[test]
fn the_whole_profile_is_told_and_cleared_when_the_user_opened_it() {
    let mut script = without_tab("cookies-v1");
    script.opens_profile();
    let all = r#"> callCookies {"details":[{"partitionKey":{}}],"function":"getAll"}"#;
    assert_eq!(script.says(A, "- 2 Storage.getCookies", "{}"), [all]);
    let two = [kept("a", "1", "a.example"), kept("b", "2", ".b.example")].join(",");
    let told = script.chrome_answers(&format!(r#"{{"cookies":[[{two}]]}}"#));
    assert!(told[0].contains(r#""name":"a""#) && told[0].contains(r#""name":"b""#), "{told:?}");

    let many: Vec<String> =
        (0..450).map(|number| kept(&format!("c{number}"), "1", "a.example")).collect();
    assert_eq!(script.says(A, "- 3 Storage.clearCookies", "{}"), [all]);
    let cleared = script.chrome_answers(&format!(r#"{{"cookies":[[{}]]}}"#, many.join(",")));
    let counts: Vec<usize> =
        cleared.iter().map(|it| it.matches("expirationDate").count()).collect();
    assert_eq!(counts, [200, 200, 50]);
    let last = script.last_request();
    assert_eq!(script.chrome_answers_to(last, r#"{"cookies":[]}"#), script::nothing());
    assert_eq!(script.chrome_answers_to(last - 2, r#"{"cookies":[]}"#), script::nothing());
    assert_eq!(script.chrome_answers_to(last - 1, r#"{"cookies":[]}"#), ["A - #3 {}"]);
}

#[test]
fn a_cookie_that_cannot_be_set_is_named() {
    let mut script = without_tab("cookies-v1");
    let two = r#"{"cookies":[{"name":"good","value":"1","domain":"a.example"},{"name":"bad","value":";","domain":"a.example"}]}"#;
    script.says(A, "- 2 Storage.setCookies", two);
    assert_eq!(
        script.chrome_answers(r#"{"cookies":[{}],"error":"Failed to parse or set cookie."}"#),
        [r#"A - #2 ! "the cookie \"bad\" could not be set: Failed to parse or set cookie.""#]
    );
    let nowhere = r#"{"cookies":[{"name":"lost","value":"1"}]}"#;
    assert_eq!(
        script.says(A, "- 3 Storage.setCookies", nowhere),
        [r#"A - #3 ! "the cookie \"lost\" needs a domain, or an http address""#]
    );
    script.says(A, "- 4 Storage.setCookies", OWN);
    assert_eq!(script.after(QUICK).len(), 1, "nobody waits for ever");
    script.says(A, "- 5 Storage.getCookies", "{}");
    let told = script.chrome_answers(r#"{"cookies":[],"error":"no host permission"}"#);
    assert_eq!(told, [r#"A - #5 ! "the browser does not tell its cookies: no host permission""#]);
}

#[test]
fn an_extension_that_cannot_be_asked_has_no_cookies_and_sets_none() {
    let mut script = without_tab("");
    let refused = script.says(A, "- 2 Storage.setCookies", OWN);
    assert!(refused[0].contains("click the Playwriter icon"), "{refused:?}");
    assert_eq!(script.says(A, "- 3 Storage.getCookies", "{}"), [r#"A - #3 {"cookies":[]}"#]);
    assert_eq!(script.says(A, "- 4 Storage.clearCookies", "{}"), ["A - #4 {}"]);
    let warnings = script.warnings();
    assert!(warnings[0].contains("too old for cookies without a tab"), "{warnings:?}");
    script.opens_profile();
    for (id, method) in [(5, "Storage.getCookies"), (6, "Storage.clearCookies")] {
        let refused = script.says(A, &format!("- {id} {method}"), "{}");
        assert!(refused[0].contains("click the Playwriter icon"), "{refused:?}");
    }

    let mut script = without_tab("cookies-v1");
    script.says(A, "- 2 Storage.setCookies", OWN);
    let refused = script.knows_no_such_message();
    assert!(refused[0].contains("too old for cookies without a tab"), "{refused:?}");
}

const GONE: &str = r#"{"sessionId":"pw-tab-1","targetId":"T1"}"#;

/// Two clients, and an extension whose one tab has been released.
fn without_tab(capabilities: &str) -> Script {
    let mut script = Script::with_capabilities(capabilities);
    script.chrome_says("-", "Target.detachedFromTarget", GONE);
    script
}

fn kept(name: &str, value: &str, domain: &str) -> String {
    format!(
        r#"{{"name":"{name}","value":"{value}","domain":"{domain}","path":"/","secure":true,"sameSite":"unspecified","session":true}}"#
    )
}
