//! Replays a transcript over real sockets: whatever the extension and the client said then, the relay
//! must say the same to them as it did then.

use std::collections::BTreeMap;

use relay::server::{RelayOptions, RelayServer};
use serde_json::Value;
use tokio::time::timeout;

use super::{Line, is_ping, parsed, read};
use crate::{PATIENCE, RawClient};

/// Replays the transcript of a generation against a relay of today.
///
/// # Panics
///
/// When the relay says anything else than it did.
pub async fn replay(generation: &str) {
    let relay = RelayServer::start(&RelayOptions { port: 0, ..RelayOptions::default() })
        .await
        .expect("there is a free port");
    let mut lines = read(generation).into_iter().enumerate();
    let Some((_, Line::Hello(query))) = lines.next() else { panic!("no hello") };
    let port = relay.address().port();
    let extension = RawClient::connect_as_extension(port, &query).await;
    let connected = relay.status_when(|status| status.connected);
    timeout(PATIENCE, connected).await.expect("the relay takes the extension");
    let client = RawClient::connect(&format!("ws://127.0.0.1:{port}/cdp")).await;
    let mut replay = Replay { extension, client, ids: BTreeMap::new(), announced: 0 };
    for (number, line) in lines {
        if matches!(line, Line::Client(_)) && replay.announced > 0 {
            // What the extension said before must have been heard before.
            let announced = std::mem::take(&mut replay.announced);
            let heard = relay.status_when(|status| status.page_count == announced);
            timeout(PATIENCE, heard).await.expect("the relay takes the tabs");
        }
        replay.line(&format!("{generation}, line {}", number + 1), line).await;
    }
    relay.close().await;
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
            Line::Hello(_) => panic!("{place}: the extension connects once"),
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
