//! Web pages, which every browser of this machine lets reach 127.0.0.1.

use end_to_end::{Sdk, Stage};
use serde_json::json;

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
const QUESTIONS: [&str; 6] = [
    "/json/list",
    "/json/version",
    "/extension-status",
    "/extensions/status",
    "/sessions",
    "/relay/status",
];

#[tokio::test]
async fn pages_frames_and_service_workers_get_nothing() {
    let stage = Stage::with_controlled_tab().await;
    let told = stage.playwright(&attack_everywhere(&stage.url())).await;
    assert_eq!(told, json!({ "page": [], "frame": [], "worker": [], "form": 403 }));
    let status = stage.client().get::<serde_json::Value>("/sessions").await.unwrap();
    assert_eq!(status["sessions"], json!([]));
    stage.end().await;
}

/// Returns a script that asks the relay in a page, in a frame without an origin, in a service worker
/// and by a form, and tells what was answered.
fn attack_everywhere(relay: &str) -> String {
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
         const told = {{ page: await page.evaluate(`(${{attack}})('${{relay}}', ${{JSON.stringify(paths)}})`) }};
         const framed = `<script>(${{attack}})('${{relay}}', ${{JSON.stringify(paths)}})
           .then((told) => parent.postMessage(told, '*'))</scr` + `ipt>`;
         told.frame = await page.evaluate((framed) => new Promise((resolve) => {{
           addEventListener('message', (event) => resolve(event.data));
           const frame = document.createElement('iframe');
           frame.sandbox = 'allow-scripts';
           frame.srcdoc = framed;
           document.body.append(frame);
         }}), framed);
         await page.goto(site + '/service.html');
         const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
         told.worker = await worker.evaluate(`(${{attack}})('${{relay}}', ${{JSON.stringify(paths)}})`);
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
