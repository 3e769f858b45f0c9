//! Another extension that may change the headers of requests to 127.0.0.1.

use end_to_end::Stage;
use relay::server::RelayOptions;
use serde_json::{Value, json};

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherExtension,
        "takes `Origin` and `Sec-Fetch-Site` out of its requests by `declarativeNetRequest`, and asks a relay with `--paired`",
        "401: it has no token",
        a_paired_relay_wants_a_token_whatever_the_headers_say
    ),
    attack!(
        OtherExtension,
        "does the same to a relay without `--paired`",
        "**it comes in as a program of yours** where the relay answers HTTP: it sees, opens and closes tabs. It drives none, since Chrome lets no extension change the `Origin` of a WebSocket; it runs no agents' code and ends no relay",
        without_pairing_an_extension_that_changes_headers_is_a_program
    ),
    attack!(
        OtherExtension,
        "writes the origin of the Playwriter extension into its requests",
        "403: Chrome keeps the `Origin` of its sockets, and where it can change it, an extension is no program",
        the_origin_of_our_extension_opens_no_door
    ),
];

const QUESTIONS: [&str; 5] =
    ["/json/list", "/json/version", "/extensions/status", "/relay/status", "/sessions"];
const CHANGES: [&str; 3] = ["/sessions", "/mcp", "/shutdown"];

#[tokio::test]
async fn a_paired_relay_wants_a_token_whatever_the_headers_say() {
    let options = RelayOptions { paired: true, ..RelayOptions::default() };
    let stage = Stage::beside_extension_as("header-stripper", options).await;
    let told = attack(&stage, None, &["/cdp", "/devtools/browser/x"]).await;
    for path in QUESTIONS {
        assert_eq!(told[path], 401, "{told}");
    }
    assert_eq!(told["/cdp"], false, "{told}");
    assert_eq!(told["/devtools/browser/x"], false, "{told}");
    stage.end().await;
}

#[tokio::test]
async fn without_pairing_an_extension_that_changes_headers_is_a_program() {
    let stage = Stage::beside_extension("header-stripper").await;
    let told = attack(&stage, None, &["/cdp"]).await;
    assert_eq!(told["/json/list"], 200, "SECURITY.md says so: {told}");
    assert_eq!(told["/cdp"], false, "{told}");
    assert_eq!(told["/sessions"], 401, "{told}");
    assert_eq!(told["/mcp"], 403, "{told}");
    assert_eq!(told["/shutdown"], 403, "{told}");
    stage.end().await;
}

#[tokio::test]
async fn the_origin_of_our_extension_opens_no_door() {
    let stage = Stage::beside_extension("header-stripper").await;
    let ours = format!("chrome-extension://{}", relay::EXTENSION_ID);
    let as_ours = "/extension?browser=Chrome&installId=made-up";
    let told = attack(&stage, Some(&ours), &[as_ours, "/cdp"]).await;
    for path in [as_ours, "/cdp"] {
        assert_eq!(told[path], false, "{told}");
    }
    for path in QUESTIONS.iter().chain(&CHANGES) {
        assert_eq!(told[path], 403, "{told}");
    }
    stage.end().await;
}

/// Has the intruder try, and gives what came of it: statuses, and whether sockets were opened.
async fn attack(stage: &Stage, origin: Option<&str>, sockets: &[&str]) -> Value {
    let what = json!({
        "port": stage.port(), "questions": QUESTIONS, "changes": CHANGES, "sockets": sockets,
        "origin": origin,
    });
    let open = format!(
        "chrome.tabs.create({{
            url: '{}/index.html#attack=' + encodeURIComponent({}), active: false
        }}).then((tab) => tab.id)",
        stage.site.url(),
        json!(what.to_string()),
    );
    let tab = stage.in_worker(&open).await;
    let address = format!("chrome.tabs.get({tab}).then(({{ url }}) => url)");
    stage.until_in_worker(&format!("{address}.then((url) => url?.includes('#told='))")).await;
    let told = format!("{address}.then((url) => decodeURIComponent(url.split('#told=')[1]))");
    let told = stage.in_worker(&told).await;
    serde_json::from_str(told.as_str().unwrap()).unwrap()
}
