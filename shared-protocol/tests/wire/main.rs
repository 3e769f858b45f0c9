//! The wire, byte for byte: every fixture is what a peer in the field sends, and reading it and
//! writing it again must give the same bytes.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod from_extension;
mod from_relay;
mod over_http;
mod reading;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shared_protocol::{
    CdpCommand, CdpEvent, ExtensionHello, Extra, Feature, Features, Payload, RequestId, SessionId,
    Understood, Unreadable, WindowChange, WindowState,
};

type RelayMessage = shared_protocol::RelayMessage<Raw>;
type ExtensionMessage = shared_protocol::ExtensionMessage<Raw>;

/// Checks every file of the folder against the table, so that none is forgotten.
fn check_folder<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    folder: &str,
    table: &[(&str, T)],
) {
    for (name, value) in table {
        check(&format!("{folder}/{name}"), value);
    }
    let files: BTreeSet<String> = fs::read_dir(fixtures().join(folder))
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let checked: BTreeSet<String> = table.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, checked);
}

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, value: &T) {
    let text = fs::read_to_string(fixtures().join(format!("{name}.json"))).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{name}: reading");
    assert_eq!(serde_json::to_string(value).unwrap(), text, "{name}: writing");
}

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
}

fn command(method: &str, session: Option<&str>) -> CdpCommand<Raw> {
    CdpCommand {
        method: method.to_owned(),
        session_id: session.map(SessionId::new),
        params: None,
        source: None,
        extra: Extra::default(),
    }
}

fn event(method: &str, session: Option<&str>) -> CdpEvent<Raw> {
    CdpEvent {
        session_id: session.map(SessionId::new),
        method: method.to_owned(),
        params: None,
        extra: Extra::default(),
    }
}

fn window_change(window_id: i64, state: Option<WindowState>) -> WindowChange<Raw> {
    let (left, top, width, height) = (None, None, None, None);
    WindowChange { window_id, left, top, width, height, state, extra: Extra::default() }
}

fn unknown_recording(id: i64, method: &str) -> RelayMessage {
    let params = Some(raw(r#"{"tabId":4}"#));
    RelayMessage::Unknown { id: Some(RequestId(id)), method: method.to_owned(), params }
}

/// Every feature is understood by ours.
fn understood<const FEATURE: u8>() -> Understood<FEATURE> {
    let (version, capabilities) = (Some("1.0.0".to_owned()), Some(Feature::capabilities()));
    let hello = ExtensionHello { version, capabilities, ..ExtensionHello::default() };
    Features::of(&hello).proof().unwrap()
}

fn extra(fields: &[(&str, &str)]) -> Extra<Raw> {
    Extra(fields.iter().map(|(key, json)| ((*key).to_owned(), raw(json))).collect())
}

fn raw(json: &str) -> Raw {
    Raw(RawValue::from_string(json.to_owned()).unwrap())
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Raw(Box<RawValue>);

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Payload for Raw {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_json::from_str(self.0.get()).map_err(|error| Unreadable(error.to_string()))
    }

    fn parse(json: &str) -> Result<Self, Unreadable> {
        serde_json::from_str(json).map(Raw).map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        serde_json::value::to_raw_value(value)
            .map(Raw)
            .map_err(|error| Unreadable(error.to_string()))
    }
}
