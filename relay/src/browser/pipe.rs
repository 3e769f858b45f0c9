//! The DevTools protocol over a browser's private pipe: messages end with a zero byte.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::{oneshot, watch};

/// A browser-level CDP connection.
#[derive(Debug)]
pub(super) struct Pipe {
    sender: tokio::sync::Mutex<pipe::Sender>,
    last_id: AtomicI64,
    calls: Arc<Mutex<Calls>>,
    targets: watch::Receiver<BTreeMap<String, Target>>,
    /// Sessions of workers whose script has been loaded.
    loaded: watch::Receiver<BTreeSet<String>>,
}

type Calls = BTreeMap<i64, oneshot::Sender<Result<Value, String>>>;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Incoming {
    id: Option<i64>,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

impl Pipe {
    pub(super) fn new(sender: OwnedFd, receiver: OwnedFd) -> io::Result<Self> {
        let sender = pipe::Sender::from_owned_fd(sender)?;
        let receiver = pipe::Receiver::from_owned_fd(receiver)?;
        let calls = Arc::new(Mutex::new(Calls::new()));
        let (publish_targets, targets) = watch::channel(BTreeMap::new());
        let (publish_loaded, loaded) = watch::channel(BTreeSet::new());
        let news =
            News { calls: Arc::clone(&calls), targets: publish_targets, loaded: publish_loaded };
        tokio::spawn(news.follow(receiver));
        let last_id = AtomicI64::new(0);
        Ok(Self { sender: tokio::sync::Mutex::new(sender), last_id, calls, targets, loaded })
    }

    /// The result of a command, or why it failed; `None` when the browser has gone.
    pub(super) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Option<Result<Value, String>> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer, answered) = oneshot::channel();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(id, answer);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.sender.lock().await.write_all(&bytes).await.ok()?;
        answered.await.ok()
    }

    /// Waits for a target of this kind whose address starts like this.
    pub(super) async fn target(&self, kind: &str, url: &str) -> Option<String> {
        self.call(None, "Target.setDiscoverTargets", json!({ "discover": true })).await?.ok()?;
        let find = |targets: &BTreeMap<String, Target>| {
            targets
                .values()
                .find(|target| target.kind == kind && target.url.starts_with(url))
                .cloned()
        };
        let mut targets = self.targets.clone();
        let found = targets.wait_for(|targets| find(targets).is_some()).await.ok()?;
        find(&found).map(|target| target.target_id)
    }

    /// Waits until a target that was there has gone.
    pub(super) async fn target_gone(&self, id: &str) {
        // An error says that the browser has gone, and all targets with it.
        drop(self.targets.clone().wait_for(|targets| !targets.contains_key(id)).await);
    }

    /// Waits until the worker at the other end of a session has loaded its script.
    pub(super) async fn script_loaded(&self, session: &str) -> Option<()> {
        self.call(Some(session), "Inspector.enable", json!({})).await?.ok()?;
        self.loaded.clone().wait_for(|loaded| loaded.contains(session)).await.ok().map(drop)
    }
}

/// The reading end: answers calls and keeps track of what the browser tells.
struct News {
    calls: Arc<Mutex<Calls>>,
    targets: watch::Sender<BTreeMap<String, Target>>,
    loaded: watch::Sender<BTreeSet<String>>,
}

impl News {
    async fn follow(self, receiver: pipe::Receiver) {
        let mut reader = BufReader::new(receiver);
        let mut message = Vec::new();
        while reader.read_until(0, &mut message).await.is_ok_and(|length| length > 0) {
            message.pop();
            if let Ok(incoming) = serde_json::from_slice::<Incoming>(&message) {
                self.handle(incoming);
            }
            message.clear();
        }
        // No more answers come; dropping the senders tells all waiting tasks.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn handle(&self, incoming: Incoming) {
        if let Some(id) = incoming.id {
            let call = self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            // The caller may have given up.
            let outcome = incoming.error.map_or(Ok(incoming.result), |error| Err(error.message));
            drop(call.map(|call| call.send(outcome)));
            return;
        }
        match incoming.method.as_str() {
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let info = incoming.params["targetInfo"].clone();
                if let Ok(target) = serde_json::from_value::<Target>(info) {
                    self.targets.send_modify(|targets| {
                        targets.insert(target.target_id.clone(), target);
                    });
                }
            }
            "Target.targetDestroyed" => {
                if let Some(id) = incoming.params["targetId"].as_str() {
                    self.targets.send_modify(|targets| {
                        targets.remove(id);
                    });
                }
            }
            "Inspector.workerScriptLoaded" => self.loaded.send_modify(|loaded| {
                loaded.insert(incoming.session_id);
            }),
            _ => {}
        }
    }
}
