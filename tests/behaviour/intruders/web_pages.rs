//! Web pages, which every browser of this machine lets reach 127.0.0.1.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use end_to_end::{FalseRelay, Sdk, Stage, TIMEOUT};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::attack::{Attack, attack};
use crate::behaviour::agents::answers::ok;

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        WebPage,
        "asks every address of the relay: by `fetch`, without CORS, as a form, by WebSocket; from a page, from a sandboxed frame and from a service worker",
        "refused: `Origin` and `Sec-Fetch-Site` tell that a page asks",
        pages_frames_and_service_workers_get_nothing
    ),
    attack!(
        WebPage,
        "points a name of its own at 127.0.0.1 and asks from there, as a program would seem to",
        "refused: the relay answers to the names of this machine only",
        a_name_that_points_here_is_no_name_of_ours
    ),
    attack!(
        Agent,
        "takes a tab to every address of the relay, as if the user had typed it",
        "refused: browsers have nothing to ask but what the extension asks before it connects",
        an_address_that_is_typed_tells_nothing
    ),
];

/// Requests that are answered to programs.
const QUESTIONS: [&str; 15] = [
    "/json",
    "/json/list",
    "/json/version",
    "/json/protocol",
    "/cdp",
    "/cdp/x",
    "/devtools/browser",
    "/devtools/browser/x",
    "/devtools/page/x",
    "/mcp",
    "/sessions/x/execute",
    "/extension-status",
    "/extensions/status",
    "/sessions",
    "/relay/status",
];

#[tokio::test]
async fn pages_frames_and_service_workers_get_nothing() {
    let stage = Stage::with_controlled_tab().await;
    // Pages cannot read most answers. So they send the same requests to a witness, who keeps what their
    // browser sends. Then the relay is sent the same once more, by a program that reads the answer.
    let witness_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let witness = FalseRelay::start(witness_port, |_| async { (403, String::new()) }).await;
    let told = stage.playwright(&attack_everywhere(&stage.url(), witness_port)).await;
    assert_eq!(told, json!({ "page": [], "frame": [], "worker": [], "form": 403 }));
    let asked = requests_in(&witness.heard());
    let sockets = asked.iter().filter(|head| head.contains("Upgrade: websocket")).count();
    // From three places; four ways and four sockets.
    assert_eq!((asked.len(), sockets), (3 * (4 * QUESTIONS.len() + 4), 3 * 4), "{asked:#?}");
    for head in asked {
        let head = head.replace(&witness_port.to_string(), &stage.port().to_string());
        let (port, asked) = (stage.port(), head.clone());
        let status = spawn_blocking(move || status_of(&asked, port)).await.unwrap();
        assert!([403, 415].contains(&status), "{status}: {head}");
    }
    let status = stage.client().get::<serde_json::Value>("/sessions").await.unwrap();
    assert_eq!(status["sessions"], json!([]));
    stage.end().await;
}

/// Returns a script that asks the relay and a witness in a page, in a frame without an origin, in a
/// service worker and by a form, and tells what was answered.
fn attack_everywhere(relay: &str, witness_port: u16) -> String {
    format!(
        "const page = context.pages()[0];
         await page.goto(site + '/index.html');
         const attack = async (relay, paths) => {{
           const told = [];
           const fetched = (path, how) => fetch(relay + path, how).then((r) => r.text(), () => '');
           const changes = {{ method: 'POST', body: '{{}}' }};
           for (const path of paths) {{
             told.push(await fetched(path));
             told.push(await fetched(path, {{ mode: 'no-cors' }}));
             told.push(await fetched(path, changes));
             told.push(await fetched(path, {{ ...changes, mode: 'no-cors' }}));
           }}
           const opened = (path) => new Promise((resolve) => {{
             const socket = new WebSocket(relay.replace('http', 'ws') + path);
             socket.onopen = () => resolve('open');
             socket.onerror = () => resolve('');
           }});
           for (const path of ['/cdp', '/extension', '/extension?pairing=v1', '/devtools/browser/x']) {{
             told.push(await opened(path));
           }}
           return told.filter((text) => text !== '');
         }};
         const relay = '{}';
         const paths = {};
         const run = `(async () => [
           ...await (${{attack}})('${{relay}}', ${{JSON.stringify(paths)}}),
           ...await (${{attack}})('http://127.0.0.1:{witness_port}', ${{JSON.stringify(paths)}}),
         ])()`;
         const told = {{ page: await page.evaluate(run) }};
         const framed = `<script>${{run}}.then((told) => parent.postMessage(told, '*'))</scr` + `ipt>`;
         told.frame = await page.evaluate((framed) => new Promise((resolve) => {{
           addEventListener('message', (event) => resolve(event.data));
           const frame = document.createElement('iframe');
           frame.sandbox = 'allow-scripts';
           frame.srcdoc = framed;
           document.body.append(frame);
         }}), framed);
         await page.goto(site + '/service.html');
         const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
         told.worker = await worker.evaluate(run);
         // A form needs no leave to send.
         await page.goto(site + '/index.html');
         const sent = page.waitForResponse((response) => response.url().startsWith(relay));
         await page.evaluate((relay) => {{
           const form = document.createElement('form');
           Object.assign(form, {{ method: 'post', action: relay + '/sessions', enctype: 'text/plain' }});
           document.body.append(form);
           form.submit();
         }}, relay);
         told.form = (await sent).status();
         return told;",
        relay,
        json!(QUESTIONS),
    )
}

#[tokio::test]
async fn a_name_that_points_here_is_no_name_of_ours() {
    let stage = Stage::new().await;
    for path in
        QUESTIONS.into_iter().chain(["/", "/version", "/extension/status", "/extension/hello"])
    {
        for host in
            ["rebound.example", "127.0.0.1.rebound.example", "0.0.0.0", "localhost.rebound.example"]
        {
            let host = format!("Host: {host}:{}", stage.port());
            let answer = stage.http(&format!("GET {path}"), &[&host]).await;
            assert_eq!(answer.status, 403, "{path} {host}");
        }
    }
    stage.end().await;
}

#[tokio::test]
async fn an_address_that_is_typed_tells_nothing() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    for path in QUESTIONS {
        let visit = format!("(await page.goto('{}{path}')).status()", stage.url());
        assert_eq!(ok(agent.execute(&visit).await), "403", "{path}");
    }
    agent.end().await;
    stage.end().await;
}

/// Returns the heads of all requests that a witness was sent.
fn requests_in(heard: &str) -> Vec<String> {
    let parts = heard.split("\r\n\r\n").map(|part| part.trim_start_matches("{}"));
    let is_head = |part: &&str| part.contains(" HTTP/1.1\r\n");
    parts.filter(is_head).map(str::to_owned).collect()
}

/// Sends a request again, and returns the status of the answer.
fn status_of(head: &str, port: u16) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let body = if head.starts_with("POST") { "{}" } else { "" };
    write!(stream, "{head}\r\n\r\n{body}").unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8_lossy(&answer)[9..].parse().unwrap()
}
