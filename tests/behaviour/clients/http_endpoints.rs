//! The relay answers over HTTP as Chrome does on its debugging port.

use end_to_end::{RelayProgram, Stage};
use serde_json::{Value, json};

#[tokio::test]
async fn pages_are_opened_listed_and_closed_over_http() {
    let stage = Stage::with_controlled_tab().await;
    let page = format!("{}/index.html", stage.site.url());
    let opened = stage.http(&format!("PUT /json/new?{page}"), &[]).await;
    assert_eq!(opened.status, 200, "{}", opened.body);
    let opened: Value = serde_json::from_str(&opened.body).unwrap();
    let id = opened["id"].as_str().unwrap();
    assert_eq!(opened["type"], "page");
    let socket = opened["webSocketDebuggerUrl"].as_str().unwrap();
    assert!(socket.ends_with(&format!("/devtools/page/{id}")), "{socket}");
    stage
        .status_when("the new page", |status| status.pages.iter().any(|shown| shown.url == page))
        .await;
    for path in ["/json", "/json/", "/json/list", "/json/list/"] {
        let list = stage.http(&format!("GET {path}"), &[]).await;
        let list: Value = serde_json::from_str(&list.body).unwrap();
        assert!(list.as_array().unwrap().iter().any(|entry| entry["id"] == id), "{path}: {list}");
    }
    let with_tabs = stage.http("GET /json/list?for_tab", &[]).await;
    let with_tabs: Value = serde_json::from_str(&with_tabs.body).unwrap();
    let kinds: Vec<_> = with_tabs.as_array().unwrap().iter().map(|entry| &entry["type"]).collect();
    assert_eq!(kinds, ["page", "page", "tab", "tab"]);
    let closed = stage.http(&format!("GET /json/close/{id}"), &[]).await;
    assert_eq!((closed.status, closed.body.as_str()), (200, "Target is closing"));
    stage.status_when("the page to go", |status| status.page_count == 1).await;
    stage.end().await;
}

#[tokio::test]
async fn a_new_page_stays_behind_and_is_blank_without_an_address() {
    let stage = Stage::with_controlled_tab().await;
    let opened = stage.http("PUT /json/new", &[]).await;
    let opened: Value = serde_json::from_str(&opened.body).unwrap();
    assert_eq!(opened["url"], "about:blank");
    let active = "chrome.tabs.query({ active: true }).then(([tab]) => tab.index)";
    assert_eq!(stage.in_worker(active).await, 0);
    stage.end().await;
}

#[tokio::test]
async fn an_impossible_request_gets_chromes_error_text() {
    let relay = RelayProgram::start().await;
    for (request, status, words) in [
        (
            "GET /json/new?http://a.example/",
            405,
            "Using unsafe HTTP verb GET to invoke /json/new. This action supports only PUT verb.",
        ),
        ("GET /json/close/X", 404, "No such target id: X"),
        ("PUT /json/close/X", 404, "No such target id: X"),
        ("GET /json/activate/X", 404, "No such target id: X"),
        ("GET /json/nothing", 404, "Unknown command: nothing"),
        ("GET /json/nothing/", 404, "Unknown command: nothing"),
    ] {
        let answer = end_to_end::http(relay.port(), request, &[]).await;
        assert_eq!((answer.status, answer.body.as_str()), (status, words), "{request}");
    }
    let refused = end_to_end::http(relay.port(), "PUT /json/new?about:blank", &[]).await;
    assert_eq!(refused.status, 500);
    assert!(refused.body.starts_with("Could not create new page: "), "{}", refused.body);
    assert!(refused.body.contains("no extension is connected"), "{}", refused.body);
}

#[tokio::test]
async fn a_browser_is_described_whatever_the_verb() {
    let relay = RelayProgram::start().await;
    let _tab = relay.raw_tab().await;
    for request in
        ["GET /json/version", "GET /json/version/", "PUT /json/version", "POST /json/version"]
    {
        let answer = end_to_end::http(relay.port(), request, &[]).await;
        assert_eq!(answer.status, 200, "{request}");
        assert!(
            answer.head.to_lowercase().contains("content-type: application/json; charset=utf-8")
        );
        let version: Value = serde_json::from_str(&answer.body).unwrap();
        let socket = version["webSocketDebuggerUrl"].as_str().unwrap();
        let start = format!("ws://127.0.0.1:{}/devtools/browser/", relay.port());
        assert!(socket.starts_with(&start) && !socket.contains('?'), "{socket}");
    }
}

#[tokio::test]
async fn the_whole_protocol_is_served() {
    let relay = RelayProgram::start().await;
    let answer = end_to_end::http(relay.port(), "GET /json/protocol", &[]).await;
    let protocol: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(protocol["version"], json!({ "major": "1", "minor": "3" }));
    assert!(protocol["domains"].as_array().unwrap().len() > 50);
}

#[tokio::test]
async fn nothing_changes_for_a_web_page_or_a_form() {
    let relay = RelayProgram::start().await;
    let _tab = relay.raw_tab().await;
    for request in ["PUT /json/new", "GET /json/close/T1", "GET /json/activate/T1"] {
        for (header, status) in [
            ("Origin: https://evil.example", 403),
            ("Sec-Fetch-Site: cross-site", 403),
            ("Sec-Fetch-Site: same-origin", 403),
            ("Host: evil.example", 403),
            ("Content-Type: text/plain", 415),
            ("Content-Type: application/x-www-form-urlencoded", 415),
        ] {
            let answer = end_to_end::http(relay.port(), request, &[header]).await;
            assert_eq!(answer.status, status, "{request} with {header}: {}", answer.body);
        }
    }
}
