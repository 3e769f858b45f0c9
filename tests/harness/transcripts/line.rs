//! A transcript on disk, line by line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use shared_protocol::ExtensionHello;
use shared_protocol::pairing::{Key, METHOD};

/// A message, as it was sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Line {
    /// The key of an extension that has one, before all else.
    Key(FixedKey),
    /// The query of the extension's socket, by which it introduces itself.
    Hello(String),
    /// A message from the extension to the relay.
    Extension(Box<RawValue>),
    /// A message from the relay to the extension.
    Relay(Box<RawValue>),
    /// A message from the client to the relay.
    Client(Box<RawValue>),
    /// A message from the relay to the client.
    Told(Box<RawValue>),
}

/// The key with which proofs are checked and made.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct FixedKey {
    /// The relay's.
    pub(crate) secret: Key,
    /// The extension's.
    pub(crate) key: Key,
    /// The port of the relay.
    pub(crate) port: u16,
}

/// The query with which each recorded generation introduces itself.
///
/// # Panics
///
/// Without transcripts.
#[must_use]
pub fn generations() -> BTreeMap<String, String> {
    let files = fs::read_dir(folder()).expect("there are transcripts");
    let hello = |file: PathBuf| {
        let generation = file.file_stem().expect("a file has a name").to_string_lossy();
        let mut lines = read(&generation).into_iter();
        let query = match lines.next() {
            Some(Line::Hello(query)) => query,
            Some(Line::Key(_)) => query_of(&lines.find_map(proven_hello).expect("it has a hello")),
            _ => panic!("{generation} begins without a hello"),
        };
        (generation.into_owned(), query)
    };
    files.map(|file| hello(file.expect("the folder can be read").path())).collect()
}

/// The hello of an extension that proves itself, if this is the frame with it.
fn proven_hello(line: Line) -> Option<String> {
    let Line::Extension(message) = line else { return None };
    let message = parsed(&message);
    (message["method"] == METHOD).then(|| message["params"]["hello"].as_str().map(str::to_owned))?
}

fn query_of(hello: &str) -> String {
    let hello: ExtensionHello = serde_json::from_str(hello).expect("it is a hello");
    serde_urlencoded::to_string(hello).expect("it fits into a query")
}

pub(super) fn read(generation: &str) -> Vec<Line> {
    let text = fs::read_to_string(file_of(generation)).expect("there is such a transcript");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is a message")).collect()
}

pub(super) fn write(generation: &str, lines: &[Line]) {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line).expect("a message is JSON");
        text.push('\n');
    }
    fs::write(file_of(generation), text).expect("the transcript can be written");
}

fn file_of(generation: &str) -> PathBuf {
    folder().join(format!("{generation}.jsonl"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compatibility/transcripts")
}

pub(super) fn parsed(message: &RawValue) -> Value {
    serde_json::from_str(message.get()).expect("a message is JSON")
}

/// Keeps workers awake, whenever its time comes.
pub(super) fn is_ping(message: &Value) -> bool {
    message["method"] == "ping" || message["method"] == "pong"
}
