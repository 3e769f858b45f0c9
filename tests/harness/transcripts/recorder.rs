//! Records a generation: a real extension in a real browser, our relay, and a client that does what
//! clients do.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use relay::server::{RelayOptions, RelayServer};
use serde_json::{Value, json};
use shared_protocol::pairing::Key;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::line::{FixedKey, Line, is_ping, parsed, write};
use super::tap::{Tap, raw};
use crate::browser::Extension;
use crate::generations::{Maker, Pair, RELEASED_ID, extension};
use crate::machine::TIMEOUT;
use crate::network::{Site, free_port};
use crate::raw_peers::{RawClient, RawKey};

/// The silence after which nothing more is to come.
const SILENCE: Duration = Duration::from_millis(700);

const CHILDREN: &str = r#"{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}"#;

/// The secret of every paired transcript.
const SECRET: [u8; 32] = *b"a secret that everybody may know";

/// The extension whose transcript is recorded.
#[derive(Debug, Clone)]
pub enum Recorded {
    /// The extension of a maker, without a key.
    Of(Maker),
    /// The extension in a folder, with the id of released ones, which looks for the relay when its
    /// icon is clicked.
    In(PathBuf),
    /// Ours, with a key of a secret that is no secret.
    Paired,
}

/// Records what an extension says, as the transcript of a generation.
///
/// # Panics
///
/// If anything does not go as it should.
pub async fn record(generation: &str, recorded: &Recorded) {
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let site = Site::start().await;
    let secret = matches!(recorded, Recorded::Paired).then(|| home.path().join(".playwriter"));
    if let Some(folder) = &secret {
        write_secret(folder, &SECRET);
    }
    let options = RelayOptions { port: 0, secret, ..RelayOptions::default() };
    let relay = RelayServer::start(&options).await.expect("there is a free port");
    let (heard, lines) = mpsc::unbounded_channel();
    let (port, relay_port) = (free_port().await, relay.address().port());
    let _tap = Tap::start(port, relay_port, heard).await;
    let loaded = match recorded {
        Recorded::In(folder) => {
            let (folder, id) = (folder.clone(), RELEASED_ID.to_owned());
            Extension { folder, id, at_usual_port: Some(port), ..Extension::ours() }
        }
        Recorded::Of(maker) => {
            extension(Pair { extension: *maker, relay: Maker::Ours }, port, home.path())
        }
        // The port that it dials is part of the proofs.
        Recorded::Paired => {
            let detour = Some((relay_port, port));
            Extension { detour, ..Extension::paired(home.path(), relay_port) }
        }
    };
    let browser = loaded.start_browser(home.path(), &[], None).await;
    match recorded {
        Recorded::In(_) => drop(browser.click_icon().await.expect("the worker toggles the tab")),
        Recorded::Of(Maker::Ours) => {
            browser.use_relay_port(port).await.expect("the extension takes a port");
        }
        Recorded::Paired => {
            browser.use_relay_port(relay_port).await.expect("the extension takes a port");
        }
        Recorded::Of(Maker::Released(_)) => {}
    }
    let connected = relay.status_when(|status| status.connected);
    timeout(TIMEOUT, connected).await.expect("the extension connects");
    let key = matches!(recorded, Recorded::Paired).then(|| {
        let RawKey { key, .. } = RawKey::of(&loaded.folder);
        Line::Key(FixedKey { secret: Key(SECRET), key, port: relay_port })
    });
    let kept = key.into_iter().collect();
    let mut recorder = Recorder { kept, lines, client: None, last_id: 0 };
    recorder.listen().await;
    recorder.client = Some(RawClient::connect(&format!("ws://127.0.0.1:{relay_port}/cdp")).await);
    recorder.converse(&site.url()).await;
    if matches!(recorded, Recorded::Of(Maker::Ours) | Recorded::Paired) {
        recorder.ask_for_features(&site.url()).await;
    }
    write(generation, &recorder.kept);
    browser.stop().await;
    relay.close().await;
}

/// Writes the secret of a user.
pub(super) fn write_secret(folder: &Path, secret: &[u8; 32]) {
    fs::DirBuilder::new().mode(0o700).create(folder).expect("a folder can be made");
    fs::write(folder.join("pairing"), secret).expect("a file can be written");
}

struct Recorder {
    kept: Vec<Line>,
    lines: mpsc::UnboundedReceiver<Line>,
    client: Option<RawClient>,
    last_id: i64,
}

impl Recorder {
    /// Runs a client's usual commands, from the first command to a closed tab.
    async fn converse(&mut self, site: &str) {
        self.ask(None, "Target.setAutoAttach", CHILDREN).await;
        let tab = timeout(TIMEOUT, self.attached("page")).await.expect("there is a tab");
        for (method, params) in [
            ("Page.enable", "{}"),
            ("Page.getFrameTree", "{}"),
            ("Target.setAutoAttach", CHILDREN),
            ("Runtime.enable", "{}"),
            ("Runtime.evaluate", r#"{"expression":"6*7"}"#),
            ("Runtime.evaluate", r#"{"expression":"nowhere.at.all"}"#),
            ("Nothing.known", "{}"),
        ] {
            self.ask(Some(&tab), method, params).await;
        }
        let page = json!({ "url": format!("{site}/frames.html") }).to_string();
        self.ask(Some(&tab), "Page.navigate", &page).await;
        let frame = timeout(TIMEOUT, self.attached("iframe")).await.expect("there is a frame");
        self.ask(Some(&frame), "Runtime.runIfWaitingForDebugger", "{}").await;
        self.ask(Some(&frame), "Runtime.evaluate", r#"{"expression":"6*7"}"#).await;
        self.ask(None, "Target.createTarget", r#"{"url":"about:blank"}"#).await;
        timeout(TIMEOUT, self.attached("page")).await.expect("there is a new tab");
        let target = self.last_told("Target.attachedToTarget")["targetInfo"]["targetId"].take();
        let close = json!({ "targetId": target }).to_string();
        self.ask(None, "Target.closeTarget", &close).await;
    }

    /// Asks for the features that only our extensions have: windows, permissions, downloads.
    async fn ask_for_features(&mut self, site: &str) {
        let page = json!({ "url": format!("{site}/index.html") }).to_string();
        self.ask(None, "Target.createTarget", &page).await;
        let tab = timeout(TIMEOUT, self.attached("page")).await.expect("there is a new tab");
        self.ask(Some(&tab), "Browser.getWindowForTarget", "{}").await;
        let window = self.last_answer()["windowId"].take();
        let bounds = json!({ "windowId": window, "bounds": { "width": 900, "height": 700 } });
        self.ask(None, "Browser.setWindowBounds", &bounds.to_string()).await;
        for (method, params) in [
            ("Browser.grantPermissions", r#"{"permissions":["geolocation"]}"#),
            ("Browser.resetPermissions", "{}"),
            ("Browser.setDownloadBehavior", r#"{"behavior":"deny","eventsEnabled":true}"#),
        ] {
            self.ask(None, method, params).await;
        }
        let click =
            "const link = document.createElement('a'); link.href = '/endless'; link.click()";
        let click = json!({ "expression": click }).to_string();
        self.ask(Some(&tab), "Runtime.evaluate", &click).await;
        let denied = async {
            while self.last_told("Browser.downloadProgress")["state"] != "canceled" {
                self.listen().await;
            }
        };
        timeout(TIMEOUT, denied).await.expect("the download is denied");
    }

    fn last_answer(&self) -> Value {
        let answer = self.kept.iter().rev().find_map(|line| {
            let Line::Told(message) = line else { return None };
            let mut message = parsed(message);
            (message["id"] == self.last_id).then(|| message["result"].take())
        });
        answer.unwrap_or_default()
    }

    async fn ask(&mut self, session: Option<&str>, method: &str, params: &str) {
        self.last_id += 1;
        let session = session.map_or(String::new(), |id| format!(r#""sessionId":"{id}","#));
        let id = self.last_id;
        let command = format!(r#"{{"id":{id},{session}"method":"{method}","params":{params}}}"#);
        self.kept.push(Line::Client(raw(&command)));
        self.client.as_mut().expect("the client has connected").send(&command).await;
        let is_answer = |line: &Line| matches!(line, Line::Told(it) if parsed(it)["id"] == id);
        let answer = async {
            while !self.kept.iter().any(is_answer) {
                self.listen().await;
            }
        };
        timeout(TIMEOUT, answer).await.expect("the client is answered");
    }

    /// Writes down what is said until nothing is.
    async fn listen(&mut self) {
        loop {
            let told = async {
                match &mut self.client {
                    Some(client) => Line::Told(raw(&client.next_text().await)),
                    None => std::future::pending().await,
                }
            };
            // Messages to the client come after the extension's messages.
            let line = tokio::select! {
                biased;
                line = self.lines.recv() => line.expect("the tap is open"),
                line = told => line,
                () = tokio::time::sleep(SILENCE) => return,
            };
            // An extension's lines for the log of the relay are no part of the conversation.
            let passes = |message| {
                let message = parsed(message);
                !is_ping(&message) && message["method"] != "log"
            };
            if match &line {
                Line::Key(_) | Line::Hello(_) | Line::Client(_) => true,
                Line::Extension(it) | Line::Relay(it) | Line::Told(it) => passes(it),
            } {
                self.kept.push(line);
            }
        }
    }

    /// The session over a target of a kind that the client is told of last.
    async fn attached(&mut self, kind: &str) -> String {
        loop {
            let attached = self.last_told("Target.attachedToTarget");
            if attached["targetInfo"]["type"] == kind {
                return attached["sessionId"].as_str().expect("a session has a name").to_owned();
            }
            self.listen().await;
        }
    }

    fn last_told(&self, method: &str) -> Value {
        let told = self.kept.iter().rev().find_map(|line| {
            let Line::Told(message) = line else { return None };
            let mut message = parsed(message);
            (message["method"] == method).then(|| message["params"].take())
        });
        told.unwrap_or_default()
    }
}
