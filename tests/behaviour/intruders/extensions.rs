//! Programs that pose as the extension or as its relay, and extensions that pose as programs.

use std::fs;
use std::path::Path;

use end_to_end::{RawClient, RawKey, Squat, Squatter, Stage, http, http_until};
use relay::pairing::{self, KeyId};
use relay::server::{PairingMode, RelayOptions, RelayServer};
use serde_json::{Value, json};
use shared_protocol::pairing::{FILE, Key, Nonce};
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use super::attack::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherUser,
        "takes the relay's port first, says that it is the relay, and gives the extension orders",
        "It learns the name of a key and a nonce: the extension wants a proof first.",
        squatters_learn_the_name_of_a_key_and_nothing_else
    ),
    attack!(
        OtherUser,
        "takes the relay's port first and answers as an older relay, with 401, 404 or 500, with a \
         redirect, or for ever",
        "The extension opens no socket: with a key it talks to no relay that cannot prove itself.",
        squatters_learn_the_name_of_a_key_and_nothing_else
    ),
    attack!(
        OtherUser,
        "takes the relay's port and passes all on to the real relay at another port",
        "The relay's proof is for its own port; the extension wants one for the port that it dialled.",
        a_forwarder_gets_no_proof_for_its_port
    ),
    attack!(
        SameUser,
        "poses as a browser with a made-up key, a revoked one, or another user's",
        "The relay does not know the key, and says nothing else.",
        only_a_key_of_this_user_opens_the_door
    ),
    attack!(
        SameUser,
        "shows the relay a proof of another socket, the relay's own proof, or one for another port",
        "No proof is good for a second socket, for the other side or for another port.",
        no_proof_is_good_twice
    ),
    attack!(
        SameUser,
        "connects with the id of a browser that has proven itself, but without a proof",
        "403, also after a restart of the relay: who has proven itself has to.",
        nobody_takes_the_place_of_a_paired_browser
    ),
    attack!(
        SameUser,
        "connects as 64 made-up browsers to lock out the real one and to catch its clients",
        "Eight are let in; they are counted apart, and get no client while a paired browser is there.",
        nobody_takes_the_place_of_a_paired_browser
    ),
];

/// Messages that a false relay could send first.
pub(super) const ORDERS: &[&str] = &[
    r#"{"method":"setWindowMode","params":{"separateWindow":true}}"#,
    r#"{"id":1,"method":"callCookies","params":{"function":"getAll","details":[{}]}}"#,
];
const NO_PROOF: &[&str] = &[
    r#"{"method":"pairing","params":{"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","listening":4294967295,"proof":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}"#,
    r#"{"id":1,"method":"callCookies","params":{"function":"getAll","details":[{}]}}"#,
];

pub(super) const TITLE: &str = "chrome.action.getTitle({})";

#[tokio::test]
async fn squatters_learn_the_name_of_a_key_and_nothing_else() {
    let stage = Stage::without_relay().await;
    let kid = RawKey::of(&stage.paired_folder()).kid;
    let downgrades = [
        Squat::Status(404),
        Squat::Status(401),
        Squat::Status(500),
        Squat::Redirect,
        Squat::Endless,
    ];
    let posing = [&[], ORDERS, NO_PROOF]
        .map(|frames| Squat::Relay(frames.iter().map(|&frame| frame.to_owned()).collect()));
    for how in posing.iter().chain(&downgrades) {
        let squatter = Squatter::start(how.clone()).await;
        stage.browser.use_relay_port(squatter.port()).await.unwrap();
        let says =
            format!("{TITLE}.then((t) => t.includes('port {} cannot prove'))", squatter.port());
        stage.until_in_worker(&says).await;
        let heard = squatter.heard();
        let (sockets, others): (Vec<_>, Vec<_>) =
            heard.iter().partition(|line| line.starts_with("socket"));
        assert!(
            others.iter().all(|line| matches!(line.as_str(), "hello" | "end")),
            "{how:?} {heard:?}"
        );
        assert_eq!(sockets.is_empty(), downgrades.contains(how), "{how:?} {heard:?}");
        for socket in sockets {
            let start = format!("socket pairing=v1&kid={kid}&nonce=");
            let nonce = socket.strip_prefix(&start).unwrap_or_else(|| panic!("{socket}"));
            assert!(nonce.parse::<Nonce>().is_ok(), "{socket}");
        }
    }
    stage.end().await;
}

#[tokio::test]
async fn a_forwarder_gets_no_proof_for_its_port() {
    let stage = Stage::without_relay().await;
    let relay = relay_of(&stage.home().join(".playwriter"), PairingMode::Auto).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let (port, real) = (listener.local_addr().unwrap().port(), relay.address());
    let forwarding = tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut to = TcpStream::connect(real).await.unwrap();
                drop(copy_bidirectional(&mut from, &mut to).await);
            });
        }
    });
    stage.browser.use_relay_port(port).await.unwrap();
    stage
        .until_in_worker(&format!("{TITLE}.then((t) => t.includes('port {port} cannot prove'))"))
        .await;
    assert!(paired(real.port()).await.is_empty(), "the relay has no extension");
    // The same relay at its own port, and another one of the same user beside it.
    stage.browser.use_relay_port(real.port()).await.unwrap();
    relay.status_when(|status| status.connected).await;
    assert_eq!(paired(real.port()).await, [true]);
    let other = relay_of(&stage.home().join(".playwriter"), PairingMode::Required).await;
    stage.browser.use_relay_port(other.address().port()).await.unwrap();
    other.status_when(|status| status.connected).await;
    assert_eq!(paired(other.address().port()).await, [true]);

    // A new secret: the connection ends, and comes back with the new key without a click.
    let first = RawKey::of(&stage.paired_folder()).kid;
    pairing::rotate(&stage.home().join(".playwriter")).unwrap();
    assert_ne!(RawKey::of(&stage.paired_folder()).kid, first);
    other.status_when(|status| !status.connected).await;
    other.status_when(|status| status.connected).await;
    // A file that is gone is not the same as none.
    fs::remove_file(stage.paired_folder().join(FILE)).unwrap();
    stage.end_worker().await;
    stage
        .until_in_worker(&format!("{TITLE}.then((t) => t.includes('pairing.json cannot be read'))"))
        .await;
    other.status_when(|status| !status.connected).await;
    pairing::pair(&stage.home().join(".playwriter"), &stage.paired_folder(), 7).unwrap();
    other.status_when(|status| status.connected).await;
    forwarding.abort();
    other.close().await;
    relay.close().await;
    stage.end().await;
}

#[tokio::test]
async fn a_pasted_code_pairs_an_extension_once() {
    let stage = Stage::unpaired().await;
    assert_eq!(paired(stage.port()).await, [false]);
    let code = pairing::make_code(&stage.home().join(".playwriter")).unwrap();
    let paste = format!("pairWithCode('{code}').then(() => true, (error) => error.message)");
    assert_eq!(stage.in_worker(&paste).await, json!(true));
    let is_paired = |status: &Value| status["extensions"][0]["paired"] == true;
    http_until(stage.port(), "GET /extensions/status", is_paired).await;
    let again = stage.in_worker(&paste).await;
    assert!(again.as_str().unwrap().contains("does not know this code"), "{again}");
    let wrong = stage.in_worker("pairWithCode('ABC').catch((error) => error.message)").await;
    assert!(wrong.as_str().unwrap().contains("26 letters"), "{wrong}");
    stage.end().await;
}

#[tokio::test]
async fn only_a_key_of_this_user_opens_the_door() {
    let (home, relay, key) = paired_relay(PairingMode::Required).await;
    let port = relay.address().port();
    let nonce = Nonce([1; 32]);
    let made_up = RawKey { kid: KeyId([7; 8]), key: Key([7; 32]) };
    let other_home = tempfile::tempdir().unwrap();
    let other_folder = other_home.path().join("extension");
    fs::create_dir(&other_folder).unwrap();
    pairing::pair(&other_home.path().join(".playwriter"), &other_folder, port).unwrap();
    for stranger in [made_up, RawKey::of(&other_folder)] {
        refused_as_unknown(&stranger, port, &nonce).await;
    }
    key.connect(port, r#"{"installId":"a"}"#).await.next().await;
    let kid = key.kid;
    for query in [
        "pairing=".to_owned(),
        format!("pairing=&kid={kid}&nonce={nonce}"),
        format!("pairing=v2&kid={kid}&nonce={nonce}"),
        format!("pairing=v1&kid=AA&nonce={nonce}"),
        format!("pairing=v1&kid={kid}&nonce=AA"),
    ] {
        assert_eq!(RawClient::knock(port, &query).await.unwrap_err().0, 400, "{query}");
    }
    assert_eq!(RawClient::knock(port, "installId=b").await.unwrap_err().0, 403, "no proof at all");
    let secret = home.path().join(".playwriter/pairing");
    let whole = fs::read(&secret).unwrap();
    for damaged in [&[][..], &whole[..31]] {
        fs::write(&secret, damaged).unwrap();
        refused_as_unknown(&key, port, &nonce).await;
        let empty = RawKey { key: Key([0; 32]), ..key };
        refused_as_unknown(&empty, port, &nonce).await;
    }
    fs::write(&secret, whole).unwrap();
    let mut connected = key.connect(port, r#"{"installId":"a"}"#).await;
    pairing::forget(&home.path().join(".playwriter"), key.kid).unwrap();
    refused_as_unknown(&key, port, &nonce).await;
    connected.ended().await;
    relay.close().await;
}

#[tokio::test]
async fn no_proof_is_good_twice() {
    let (_home, relay, key) = paired_relay(PairingMode::Auto).await;
    let port = relay.address().port();
    let nonce = Nonce([1; 32]);
    let hello = r#"{"installId":"a"}"#;
    let mut first = key.knock(port, &nonce).await.unwrap();
    let frame = first.next().await;
    assert!(key.is_shown(&frame, &nonce, port) && !key.is_shown(&frame, &nonce, port ^ 1));
    let good = key.answer(&frame, &nonce, port, hello);
    let reflected = {
        let proof = frame["params"]["proof"].clone();
        json!({ "method": "pairing", "params": { "hello": hello, "proof": proof } }).to_string()
    };
    let changed = good.replace("installId", "installID");
    let long = key.answer(&frame, &nonce, port, &format!("{{\"v\":\"{}\"}}", "1".repeat(5000)));
    // The same key and nonce: but for the relay's own nonce, all is as it was on the first socket.
    for wrong in [&good, &reflected, &changed, &long, r#"{"method":"pong"}"#, r#"{"method":"log"}"#]
    {
        let mut socket = key.knock(port, &nonce).await.unwrap();
        assert_ne!(socket.next().await, frame, "each socket has a nonce of its own");
        socket.send(wrong).await;
        assert_eq!(socket.closed().await.0, 4011, "{wrong}");
    }
    let mut socket = key.knock(port, &nonce).await.unwrap();
    let other = socket.next().await;
    socket.send(&key.answer(&other, &nonce, port ^ 1, hello)).await;
    assert_eq!(socket.closed().await.0, 4011, "another port");
    let mut socket = key.knock(port, &nonce).await.unwrap();
    let other = socket.next().await;
    socket
        .send(&key.answer(&other, &nonce, port, &format!("{{\"v\":\"{}\"}}", "1".repeat(5000))))
        .await;
    assert_eq!(socket.closed().await.0, 4011, "too long");
    first.send(&good).await;
    assert_eq!(first.next().await["method"], "ping");
    relay.close().await;
}

#[tokio::test]
async fn nobody_takes_the_place_of_a_paired_browser() {
    let (home, relay, key) = paired_relay(PairingMode::Auto).await;
    let port = relay.address().port();
    let mut made_up = Vec::new();
    for number in 0..64 {
        let query = format!("installId=made-up-{number}&v=1.0.0&capabilities=downloads-v1");
        let mut socket = RawClient::knock(port, &query).await.unwrap();
        announce(&mut socket, "FAKE").await;
        made_up.push(socket);
    }
    let entries = paired(port).await;
    assert_eq!(entries, [false; 8]);
    let mut real = key.connect(port, r#"{"installId":"a","browser":"Chrome"}"#).await;
    announce(&mut real, "REAL").await;
    relay.status_when(|status| status.page_count == 9).await;
    let mut client = RawClient::connect(&format!("ws://127.0.0.1:{port}/cdp")).await;
    let answer = client.answer_to(1, r#"{"id":1,"method":"Target.getTargets"}"#).await;
    let answer = answer.to_string();
    assert!(answer.contains("REAL") && !answer.contains("FAKE"), "{answer}");
    let chosen = http(port, "GET /extension/status", &[]).await;
    let chosen: Value = serde_json::from_str(&chosen.body).unwrap();
    assert_eq!((&chosen["browser"], &chosen["activeTargets"]), (&json!("Chrome"), &json!(1)));
    for query in ["installId=a&browser=Chrome", "installId=a", "installId=a&browser=Other"] {
        assert_eq!(RawClient::knock(port, query).await.unwrap_err().0, 403, "{query}");
    }
    relay.close().await;
    let relay = relay_of(&home.path().join(".playwriter"), PairingMode::Auto).await;
    let port = relay.address().port();
    assert_eq!(RawClient::knock(port, "installId=a").await.unwrap_err().0, 403, "after a restart");
    RawClient::knock(port, "installId=b").await.unwrap();
    relay.close().await;
}

/// A relay, its user's home, and the key of an extension of that user.
async fn paired_relay(mode: PairingMode) -> (TempDir, RelayServer, RawKey) {
    let home = tempfile::tempdir().unwrap();
    let (secret, folder) = (home.path().join(".playwriter"), home.path().join("extension"));
    fs::create_dir(&folder).unwrap();
    pairing::pair(&secret, &folder, 7).unwrap();
    let relay = relay_of(&secret, mode).await;
    (home, relay, RawKey::of(&folder))
}

async fn relay_of(secret: &Path, pairing: PairingMode) -> RelayServer {
    let secret = Some(secret.to_owned());
    let options = RelayOptions { port: 0, secret, pairing, ..RelayOptions::default() };
    RelayServer::start(&options).await.unwrap()
}

async fn refused_as_unknown(key: &RawKey, port: u16, nonce: &Nonce) {
    let mut socket = key.knock(port, nonce).await.unwrap();
    let told = json!({ "method": "pairing", "params": { "error": "unknown-key" } });
    assert_eq!(socket.next().await, told);
    assert_eq!(socket.closed().await.0, 4010);
}

/// Returns for each connected extension whether it is paired.
async fn paired(port: u16) -> Vec<bool> {
    let status = http(port, "GET /extensions/status", &[]).await;
    let status: Value = serde_json::from_str(&status.body).unwrap();
    let entries = status["extensions"].as_array().unwrap();
    entries.iter().map(|entry| entry["paired"].as_bool().unwrap()).collect()
}

/// Tells of a tab.
async fn announce(socket: &mut RawClient, target: &str) {
    let info = json!({
        "targetId": target, "type": "page", "title": "", "url": "http://site/", "attached": true,
    });
    let params =
        json!({ "sessionId": "pw-tab-1", "targetInfo": info, "waitingForDebugger": false });
    let params = json!({ "method": "Target.attachedToTarget", "params": params });
    let event = json!({ "method": "forwardCDPEvent", "params": params });
    // The relay may have closed the socket.
    socket.try_send(&event.to_string()).await;
    socket.try_send(r#"{"method":"ready"}"#).await;
}
