//! Replays a transcript over real sockets: whatever the extension and the client said then, the relay
//! must say the same to them as it did then.

use std::collections::BTreeMap;

use relay::server::{RelayOptions, RelayServer};
use serde_json::Value;
use serde_json::value::RawValue;
use shared_protocol::pairing::Knock;
use tokio::time::timeout;

use super::line::{FixedKey, Line, is_ping, parsed, read};
use super::recorder::write_secret;
use super::tap::raw;
use crate::machine::TIMEOUT;
use crate::raw_peers::{RawClient, RawKey};

/// Replays the transcript of a generation against a relay of today.
///
/// # Panics
///
/// If the relay says anything else than it did.
pub async fn replay(generation: &str) {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let mut lines = read(generation).into_iter().enumerate().peekable();
    let key = match lines.next_if(|(_, line)| matches!(line, Line::Key(_))) {
        Some((_, Line::Key(key))) => Some(key),
        _ => None,
    };
    let secret = key.map(|key| {
        let folder = home.path().join(".playwriter");
        write_secret(&folder, &key.secret.0);
        folder
    });
    let options = RelayOptions { port: 0, secret, ..RelayOptions::default() };
    let relay = RelayServer::start(&options).await.expect("there is a free port");
    let Some((_, Line::Hello(query))) = lines.next() else { panic!("no hello") };
    let port = relay.address().port();
    let mut extension = RawClient::connect_as_extension(port, &query).await;
    if let Some(key) = key {
        let mut frame = || match lines.next() {
            Some((_, Line::Relay(frame) | Line::Extension(frame))) => frame,
            line => panic!("{generation}: {line:?} is no part of the handshake"),
        };
        prove(&mut extension, &key, &query, &[frame(), frame()], port).await;
    }
    let connected = relay.status_when(|status| status.connected);
    timeout(TIMEOUT, connected).await.expect("the relay takes the extension");
    let client = RawClient::connect(&format!("ws://127.0.0.1:{port}/cdp")).await;
    let mut replay = Replay { extension, client, ids: BTreeMap::new(), announced: 0 };
    for (number, line) in lines {
        if matches!(line, Line::Client(_)) && replay.announced > 0 {
            // Earlier messages of the extension must have been heard before.
            let announced = std::mem::take(&mut replay.announced);
            let heard = relay.status_when(|status| status.page_count == announced);
            timeout(TIMEOUT, heard).await.expect("the relay takes the tabs");
        }
        replay.line(&format!("{generation}, line {}", number + 1), line).await;
    }
    relay.close().await;
}

/// Replays the handshake. Both frames that were recorded have to be right still, byte for byte; the
/// relay's of today has the same fields, and a proof for its own nonce.
async fn prove(
    extension: &mut RawClient,
    fixed: &FixedKey,
    query: &str,
    [shown, answered]: &[Box<RawValue>; 2],
    port: u16,
) {
    let Knock { kid, nonce, .. } = serde_urlencoded::from_str(query).expect("it is a knock");
    let key = RawKey { kid, key: fixed.key };
    let shown = parsed(shown);
    assert!(key.is_shown(&shown, &nonce, fixed.port), "the relay's proof is not right any more");
    let hello = parsed(answered)["params"]["hello"].as_str().expect("it has a hello").to_owned();
    let answer = key.answer(&shown, &nonce, fixed.port, &hello);
    let is_right = parsed(answered)["params"] == parsed(&raw(&answer))["params"];
    assert!(is_right, "the extension's proof is not right any more");
    let now = extension.next().await;
    let fields = |frame: &Value| frame["params"].as_object().map(|it| it.keys().cloned().collect());
    let (now_has, had): (Option<Vec<String>>, _) = (fields(&now), fields(&shown));
    assert_eq!((&now["method"], now_has), (&shown["method"], had));
    assert!(key.is_shown(&now, &nonce, port), "{now}");
    // The same text, but for the proof.
    let proof = |text: &str| parsed(&raw(text))["params"]["proof"].as_str().map(str::to_owned);
    let new = key.answer(&now, &nonce, port, &hello);
    let (old, new) = (proof(answered.get()), proof(&new));
    let (old, new) = (old.expect("it has a proof"), new.expect("it has a proof"));
    extension.send(&answered.get().replace(&old, &new)).await;
}

struct Replay {
    extension: RawClient,
    client: RawClient,
    /// The ids of requests: as recorded, and as the relay gives them now.
    ids: BTreeMap<i64, Value>,
    /// Tabs that the extension announced before the client said anything.
    announced: usize,
}

impl Replay {
    async fn line(&mut self, place: &str, line: Line) {
        match line {
            Line::Key(_) | Line::Hello(_) => panic!("{place}: the extension connects once"),
            Line::Client(message) => self.client.send(message.get()).await,
            Line::Told(wanted) => {
                assert_eq!(
                    self.client.next().await,
                    parsed(&wanted),
                    "{place}: the client is told"
                );
            }
            Line::Relay(wanted) => {
                let mut wanted = parsed(&wanted);
                let mut asked = self.extension.next().await;
                while is_ping(&asked) {
                    asked = self.extension.next().await;
                }
                if let (Some(id), Some(recorded)) =
                    (asked.as_object_mut().and_then(|it| it.remove("id")), wanted["id"].as_i64())
                {
                    self.ids.insert(recorded, id);
                    wanted.as_object_mut().and_then(|it| it.remove("id"));
                }
                mean_every_site(&mut asked, &wanted);
                assert_eq!(asked, wanted, "{place}: the extension is told");
            }
            Line::Extension(message) => {
                let said = parsed(&message);
                let event = &said["params"];
                let is_announcement =
                    event["method"] == "Target.attachedToTarget" && event["sessionId"].is_null();
                self.announced += usize::from(self.ids.is_empty() && is_announcement);
                let text = match said["id"].as_i64() {
                    // An id comes first in what any extension says, and once.
                    Some(recorded) => {
                        let now = self.ids.get(&recorded).expect("it answers what it was asked");
                        let (old, new) = (format!(r#""id":{recorded}"#), format!(r#""id":{now}"#));
                        message.get().replacen(&old, &new, 1)
                    }
                    None => message.get().to_owned(),
                };
                self.extension.send(&text).await;
            }
        }
    }
}

/// Permissions of clients that name no site were for every site when they were recorded, and are for
/// the sites of the controlled tabs today: then, the sites are not compared.
fn mean_every_site(asked: &mut Value, recorded: &Value) {
    let rules = |message: &Value| message["params"]["rules"].as_array().cloned();
    let (Some(mut said), Some(recorded)) = (rules(asked), rules(recorded)) else { return };
    if asked["method"] != "setPermissions" || recorded.iter().any(|it| !it["origin"].is_null()) {
        return;
    }
    for rule in &mut said {
        rule.as_object_mut().and_then(|rule| rule.remove("origin"));
    }
    said.dedup();
    asked["params"]["rules"] = said.into();
}
