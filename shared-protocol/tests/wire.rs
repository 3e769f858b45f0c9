//! The wire, byte for byte: every fixture is what a peer in the field sends, and reading it and
//! writing it again must give the same bytes.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shared_protocol::{
    AttachedToTarget, BrowserWindow, CdpCommand, CdpEvent, DownloadId, DownloadQuery, Extra,
    FoundDownload, HelloMessage, InitialTab, LogLevel, LogLine, ParseFailure, Payload,
    PermissionName, PermissionRule, PermissionSetting, Permissions, RecordingAction, RequestId,
    SessionId, TabQuery, TargetId, Unreadable, WindowChange, WindowMode, WindowQuery, WindowState,
    http,
};

type RelayMessage = shared_protocol::RelayMessage<Raw>;
type ExtensionMessage = shared_protocol::ExtensionMessage<Raw>;

#[test]
fn what_the_relay_says() {
    check_folder(
        "from-relay",
        &[
            (
                "command-on-a-tab",
                RelayMessage::Command {
                    id: RequestId(7),
                    command: CdpCommand {
                        params: Some(raw(r#"{"expression":"1+1","n":1.50}"#)),
                        source: Some("playwriter".to_owned()),
                        ..command("Runtime.evaluate", Some("pw-tab-1"))
                    },
                },
            ),
            (
                "command-on-the-extension",
                RelayMessage::Command {
                    id: RequestId(8),
                    command: CdpCommand {
                        params: Some(raw(r#"{"url":"about:blank"}"#)),
                        ..command("Target.createTarget", None)
                    },
                },
            ),
            (
                "command-without-params",
                RelayMessage::Command {
                    id: RequestId(9),
                    command: command("Page.enable", Some("pw-tab-a1b2-3")),
                },
            ),
            (
                "command-with-unknown-fields",
                RelayMessage::Command {
                    id: RequestId(10),
                    command: CdpCommand {
                        extra: extra(&[("tabGroup", r#""shop""#), ("priority", r#"{"level":2}"#)]),
                        ..command("Page.enable", Some("pw-tab-1"))
                    },
                },
            ),
            (
                "create-initial-tab",
                RelayMessage::CreateInitialTab { id: RequestId(11), params: None },
            ),
            ("ping", RelayMessage::Ping),
            (
                "set-window-mode",
                RelayMessage::SetWindowMode(WindowMode {
                    separate_window: true,
                    extra: Extra::default(),
                }),
            ),
            (
                "set-window-mode-with-unknown-fields",
                RelayMessage::SetWindowMode(WindowMode {
                    separate_window: false,
                    extra: extra(&[("width", "1200")]),
                }),
            ),
            (
                "get-window-of-a-page",
                RelayMessage::GetWindow {
                    id: RequestId(18),
                    query: WindowQuery {
                        target_id: Some(TargetId::new("T1")),
                        window_id: None,
                        extra: Extra::default(),
                    },
                },
            ),
            (
                "get-window",
                RelayMessage::GetWindow {
                    id: RequestId(19),
                    query: WindowQuery {
                        target_id: None,
                        window_id: Some(41),
                        extra: Extra::default(),
                    },
                },
            ),
            (
                "set-window-bounds",
                RelayMessage::SetWindow {
                    id: RequestId(20),
                    change: WindowChange {
                        left: Some(-8),
                        width: Some(800),
                        ..window_change(41, None)
                    },
                },
            ),
            (
                "set-window-state",
                RelayMessage::SetWindow {
                    id: RequestId(21),
                    change: window_change(41, Some(WindowState::Maximized)),
                },
            ),
            (
                "activate-tab",
                RelayMessage::ActivateTab {
                    id: RequestId(22),
                    tab: TabQuery { target_id: TargetId::new("T1"), extra: Extra::default() },
                },
            ),
            (
                "set-permissions",
                RelayMessage::SetPermissions {
                    id: RequestId(23),
                    permissions: Permissions {
                        rules: vec![
                            PermissionRule {
                                name: PermissionName::Geolocation,
                                origin: Some("https://example.com".to_owned()),
                                setting: PermissionSetting::Allow,
                                extra: Extra::default(),
                            },
                            PermissionRule {
                                name: PermissionName::Camera,
                                origin: None,
                                setting: PermissionSetting::Block,
                                extra: extra(&[("embedder", r#""https://a.test""#)]),
                            },
                        ],
                        extra: Extra::default(),
                    },
                },
            ),
            (
                "find-download",
                RelayMessage::FindDownload {
                    id: RequestId(24),
                    query: DownloadQuery {
                        url: "https://example.com/a.pdf".to_owned(),
                        exclude: vec![3, 4],
                        at_once: false,
                        extra: Extra::default(),
                    },
                },
            ),
            (
                "cancel-download",
                RelayMessage::CancelDownload {
                    id: RequestId(25),
                    download: DownloadId { id: 5, extra: Extra::default() },
                },
            ),
            ("start-recording", recording(12, RecordingAction::Start)),
            ("stop-recording", recording(13, RecordingAction::Stop)),
            ("is-recording", recording(14, RecordingAction::Query)),
            ("cancel-recording", recording(15, RecordingAction::Cancel)),
            (
                "update-tab-group",
                RelayMessage::UpdateTabGroup {
                    id: RequestId(16),
                    params: Some(raw(r#"{"title":"shop","color":"blue"}"#)),
                },
            ),
            (
                "unknown-event",
                RelayMessage::Unknown {
                    id: None,
                    method: "futureEvent".to_owned(),
                    params: Some(raw(r#"[1,2,{"a":null}]"#)),
                },
            ),
            (
                "unknown-request",
                RelayMessage::Unknown {
                    id: Some(RequestId(17)),
                    method: "futureRequest".to_owned(),
                    params: Some(raw(r#""text""#)),
                },
            ),
        ],
    );
}

#[test]
fn what_an_extension_says() {
    check_folder(
        "from-extension",
        &[
            (
                "reply",
                ExtensionMessage::Reply {
                    id: RequestId(7),
                    outcome: Ok(Some(raw(
                        r#"{"result":{"type":"number","value":2,"description":"2"}}"#,
                    ))),
                },
            ),
            (
                "reply-without-result",
                ExtensionMessage::Reply { id: RequestId(8), outcome: Ok(None) },
            ),
            (
                "reply-with-error",
                ExtensionMessage::Reply {
                    id: RequestId(9),
                    outcome: Err(
                        r#"{"code":-32601,"message":"'Browser.getVersion' wasn't found"}"#
                            .to_owned(),
                    ),
                },
            ),
            (
                "event-of-a-tab",
                ExtensionMessage::Event(CdpEvent {
                    params: Some(raw(r#"{"timestamp":123.4567890123456789}"#)),
                    ..event("Page.loadEventFired", Some("pw-tab-1"))
                }),
            ),
            (
                "event-of-a-child",
                ExtensionMessage::Event(event(
                    "Runtime.executionContextsCleared",
                    Some("0A1B2C3D"),
                )),
            ),
            (
                "event-of-the-extension",
                ExtensionMessage::Event(CdpEvent {
                    params: Some(raw(r#"{"sessionId":"pw-tab-1","targetId":"T1"}"#)),
                    ..event("Target.detachedFromTarget", None)
                }),
            ),
            (
                "event-with-unknown-fields",
                ExtensionMessage::Event(CdpEvent {
                    params: Some(raw("{}")),
                    extra: extra(&[("sequence", "41")]),
                    ..event("Page.loadEventFired", Some("pw-tab-1"))
                }),
            ),
            (
                "log",
                ExtensionMessage::Log(LogLine {
                    level: LogLevel::Warn,
                    args: vec!["tab".to_owned(), "is gone".to_owned()],
                    extra: Extra::default(),
                }),
            ),
            ("pong", ExtensionMessage::Pong),
            (
                "hello",
                ExtensionMessage::Hello(HelloMessage {
                    browser: Some("Chrome".to_owned()),
                    email: None,
                    id: Some("123".to_owned()),
                    install_id: Some("i-1".to_owned()),
                    version: Some("0.0.151".to_owned()),
                    extra: extra(&[("remote", "false")]),
                }),
            ),
            ("ready", ExtensionMessage::Ready),
            (
                "recording-data",
                ExtensionMessage::RecordingData(Some(raw(r#"{"tabId":4,"final":false}"#))),
            ),
            (
                "recording-cancelled",
                ExtensionMessage::RecordingCancelled(Some(raw(r#"{"tabId":4}"#))),
            ),
            (
                "parse-failure",
                ExtensionMessage::ParseFailure(ParseFailure {
                    code: -32700,
                    message: "Error parsing message".to_owned(),
                    extra: Extra::default(),
                }),
            ),
            (
                "unknown-message",
                ExtensionMessage::Unknown {
                    id: None,
                    method: "futureMessage".to_owned(),
                    params: Some(raw(r#"{"deep":[{"er":1}]}"#)),
                },
            ),
        ],
    );
}

#[test]
fn what_the_relay_answers_over_http() {
    let profile = http::Profile { email: String::new(), id: "123".to_owned() };
    check("http/version", &http::Version { version: "0.1.0".to_owned() });
    check(
        "http/extension-status",
        &http::ExtensionStatus {
            connected: true,
            active_targets: 2,
            browser: Some("Chrome".to_owned()),
            profile: Some(profile),
            playwriter_version: Some("0.1.0".to_owned()),
        },
    );
    check("http/extension-status-without-extension", &http::ExtensionStatus::default());
    check(
        "http/extensions-status",
        &http::ExtensionsStatus {
            extensions: vec![http::ExtensionEntry {
                extension_id: "c-1".to_owned(),
                stable_key: "install:Chrome:i-1".to_owned(),
                browser: Some("Chrome".to_owned()),
                profile: None,
                active_targets: 1,
                playwriter_version: Some("0.0.151".to_owned()),
            }],
        },
    );
    check(
        "http/pages-status",
        &http::PagesStatus {
            connected: true,
            page_count: 1,
            pages: vec![http::PageEntry {
                target_id: TargetId::new("T1"),
                url: "https://example.com/".to_owned(),
                title: "Example".to_owned(),
            }],
        },
    );
}

#[test]
fn fields_in_any_order_mean_the_same() {
    let written = r#"{"params":{"params":{"a":1},"method":"Page.enable"},"method":"forwardCDPCommand","id":3}"#;
    let read: RelayMessage = serde_json::from_str(written).unwrap();
    let command = CdpCommand { params: Some(raw(r#"{"a":1}"#)), ..command("Page.enable", None) };
    assert_eq!(read, RelayMessage::Command { id: RequestId(3), command });
}

#[test]
fn null_and_absent_mean_the_same() {
    let read: ExtensionMessage = serde_json::from_str(
        r#"{"id":null,"method":"forwardCDPEvent","params":{"sessionId":null,"method":"A.b","params":null}}"#,
    )
    .unwrap();
    assert_eq!(read, ExtensionMessage::Event(event("A.b", None)));
    let read: ExtensionMessage =
        serde_json::from_str(r#"{"id":1,"result":null,"error":null}"#).unwrap();
    assert_eq!(read, ExtensionMessage::Reply { id: RequestId(1), outcome: Ok(None) });
}

#[test]
fn unknown_fields_of_the_envelope_do_no_harm() {
    let read: RelayMessage =
        serde_json::from_str(r#"{"jsonrpc":"2.0","method":"ping","trace":{"a":[1]}}"#).unwrap();
    assert_eq!(read, RelayMessage::Ping);
}

#[test]
fn a_known_method_in_an_unknown_role_keeps_its_parameters() {
    let written = r#"{"method":"forwardCDPCommand","params":{"method":"A.b","params":{"c":1.0}}}"#;
    let read: RelayMessage = serde_json::from_str(written).unwrap();
    assert_eq!(
        read,
        RelayMessage::Unknown {
            id: None,
            method: "forwardCDPCommand".to_owned(),
            params: Some(raw(r#"{"method":"A.b","params":{"c":1.0}}"#)),
        }
    );
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
}

#[test]
fn a_frame_that_is_no_message_says_why() {
    for (text, why) in [
        ("[]", "a message object"),
        ("{}", "missing field `method`"),
        (r#"{"method":"forwardCDPEvent","params":{}}"#, "missing field `method`"),
        (r#"{"id":"one","method":"ping"}"#, "invalid type"),
    ] {
        let error = serde_json::from_str::<ExtensionMessage>(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn target_info_keeps_what_a_newer_chrome_adds() {
    let written = r#"{"sessionId":"S","targetInfo":{"targetId":"T","type":"page","title":"","url":"about:blank","attached":true,"canAccessOpener":false,"pid":77},"waitingForDebugger":false,"reason":"new"}"#;
    let read: AttachedToTarget<Raw> = serde_json::from_str(written).unwrap();
    assert_eq!(read.target_info.extra, extra(&[("pid", "77")]));
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
}

#[test]
fn initial_tab_carries_what_an_announcement_would() {
    let written = r#"{"success":true,"tabId":12,"sessionId":"pw-tab-1","targetInfo":{"targetId":"T","type":"page","title":"","url":"about:blank","attached":true,"canAccessOpener":false}}"#;
    let read: InitialTab<Raw> = serde_json::from_str(written).unwrap();
    assert_eq!(read.session_id, SessionId::new("pw-tab-1"));
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
}

#[test]
fn answers_of_chrome_keep_what_is_absent_absent() {
    let written = r#"{"windowId":41,"left":-8,"top":0,"width":800,"height":600,"state":"normal","contentWidth":780,"contentHeight":500,"hidden":true}"#;
    let read: BrowserWindow<Raw> = serde_json::from_str(written).unwrap();
    assert_eq!((read.window_id, read.state), (41, WindowState::Normal));
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
    for written in ["{}", r#"{"id":5,"path":"/tmp/a.pdf","state":"complete"}"#] {
        let read: FoundDownload<Raw> = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
    }
}

#[test]
fn a_request_without_its_parameters_says_so() {
    let error = serde_json::from_str::<RelayMessage>(r#"{"id":1,"method":"activateTab"}"#);
    assert!(error.unwrap_err().to_string().contains("missing field `params`"));
}

/// Every file of the folder must be in the table, so that none is forgotten.
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

fn recording(id: i64, action: RecordingAction) -> RelayMessage {
    RelayMessage::Recording { id: RequestId(id), action, params: Some(raw(r#"{"tabId":4}"#)) }
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

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        serde_json::value::to_raw_value(value)
            .map(Raw)
            .map_err(|error| Unreadable(error.to_string()))
    }
}
