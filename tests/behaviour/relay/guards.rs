//! Web pages and strangers are refused.

use end_to_end::Stage;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Paths that are answered over HTTP.
const QUESTIONS: [&str; 13] = [
    "/",
    "/version",
    "/json/version",
    "/json/version/",
    "/json",
    "/json/",
    "/json/list",
    "/json/list/",
    "/json/protocol",
    "/relay/status",
    "/extension/status",
    "/extensions/status",
    "/extension-status",
];

/// Paths that take WebSockets.
const SOCKETS: [&str; 6] = [
    "/cdp",
    "/cdp/me",
    "/devtools/browser",
    "/devtools/browser/x",
    "/devtools/page/x",
    "/extension",
];

/// Requests that change something, or would if they were let in.
const CHANGES: [&str; 8] = [
    "GET /sessions",
    "PUT /json/new?about:blank",
    "GET /json/close/x",
    "GET /json/activate/x",
    "POST /relay/window-mode",
    "POST /sessions",
    "POST /mcp",
    "POST /shutdown",
];

#[tokio::test]
async fn a_web_page_cannot_reach_the_relay() {
    let stage = Stage::with_controlled_tab().await;
    let body = format!(
        "const page = context.pages()[0];
         await page.goto(site + '/index.html');
         return page.evaluate(async (relay) => {{
           const socket = (path) => new Promise((resolve) => {{
             const socket = new WebSocket(relay.replace('http', 'ws') + path);
             socket.onopen = () => resolve('open');
             socket.onerror = () => resolve('refused');
           }});
           const fetched = (path) => fetch(relay + path).then((r) => r.text(), () => 'refused');
           return Promise.all([
             socket('/cdp'), socket('/extension'), fetched('/json/list'), fetched('/extension/status'),
           ]);
         }}, '{}');",
        stage.url()
    );
    assert_eq!(stage.playwright(&body).await, json!(["refused", "refused", "refused", "refused"]));
    stage.end().await;
}

#[tokio::test]
async fn every_route_refuses_foreign_hosts_and_origins() {
    let stage = Stage::new().await;
    for path in QUESTIONS.into_iter().chain(SOCKETS).chain(["/nothing"]) {
        for header in ["Host: evil.example", "Host: 127.0.0.1\r\nOrigin: https://evil.example"] {
            let status = status(&stage, path, header).await;
            assert_eq!(status, 403, "{path} with {header}");
        }
    }
    for request in CHANGES {
        for header in ["Host: evil.example", "Origin: null", "Sec-Fetch-Site: none"] {
            let status = stage.http(request, &[header]).await.status;
            assert_eq!(status, 403, "{request} with {header}");
        }
    }
    stage.end().await;
}

#[tokio::test]
async fn every_path_is_served_with_and_without_a_slash() {
    let stage = Stage::new().await;
    for path in QUESTIONS {
        assert_eq!(status(&stage, path, "Host: localhost").await, 200, "{path}");
    }
    assert_eq!(status(&stage, "/nothing", "Host: localhost").await, 404);
    assert_eq!(status(&stage, "/cdp", "Host: localhost").await, 400);
    stage.end().await;
}

async fn status(stage: &Stage, path: &str, headers: &str) -> u16 {
    let address = stage.url().replace("http://", "");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}
