//! Every message that relays send.

use shared_protocol::{
    CdpCommand, CookieCalls, CookieFunction, DownloadId, DownloadQuery, Extra, Notice,
    PermissionName, PermissionRule, PermissionSetting, Permissions, RequestId, TabQuery, TargetId,
    WindowChange, WindowMode, WindowQuery, WindowState,
};

use super::{
    RelayMessage, check_folder, command, extra, raw, understood, unknown_recording, window_change,
};

#[test]
fn every_relay_message_round_trips() {
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
                RelayMessage::CreateInitialTab {
                    id: RequestId(11),
                    params: None,
                    proof: understood(),
                },
            ),
            ("ping", RelayMessage::Ping),
            (
                "set-window-mode",
                RelayMessage::SetWindowMode(
                    WindowMode { separate_window: true, extra: Extra::default() },
                    understood(),
                ),
            ),
            (
                "set-window-mode-with-unknown-fields",
                RelayMessage::SetWindowMode(
                    WindowMode { separate_window: false, extra: extra(&[("width", "1200")]) },
                    understood(),
                ),
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
                    proof: understood(),
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
                    proof: understood(),
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
                    proof: understood(),
                },
            ),
            (
                "set-window-state",
                RelayMessage::SetWindow {
                    id: RequestId(21),
                    change: window_change(41, Some(WindowState::Maximized)),
                    proof: understood(),
                },
            ),
            (
                "activate-tab",
                RelayMessage::ActivateTab {
                    id: RequestId(22),
                    tab: TabQuery { target_id: TargetId::new("T1"), extra: Extra::default() },
                    proof: understood(),
                },
            ),
            (
                "blank-tab",
                RelayMessage::BlankTab {
                    id: RequestId(27),
                    tab: TabQuery { target_id: TargetId::new("T1"), extra: Extra::default() },
                    proof: understood(),
                },
            ),
            (
                "close-tab",
                RelayMessage::CloseTab {
                    id: RequestId(28),
                    tab: TabQuery { target_id: TargetId::new("T1"), extra: Extra::default() },
                    proof: understood(),
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
                    proof: understood(),
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
                        max_age: Some(15_000),
                        extra: Extra::default(),
                    },
                    proof: understood(),
                },
            ),
            (
                "cancel-download",
                RelayMessage::CancelDownload {
                    id: RequestId(25),
                    download: DownloadId { id: 5, remove: true, extra: Extra::default() },
                    proof: understood(),
                },
            ),
            (
                "call-cookies",
                RelayMessage::CallCookies {
                    id: RequestId(26),
                    calls: CookieCalls {
                        function: CookieFunction::Set,
                        details: vec![raw(
                            r#"{"url":"https://a.example/","name":"n","value":"1"}"#,
                        )],
                        extra: Extra::default(),
                    },
                    proof: understood(),
                },
            ),
            (
                "set-notice",
                RelayMessage::SetNotice(
                    Notice { text: Some("update me".to_owned()), extra: Extra::default() },
                    understood(),
                ),
            ),
            // Released relays send these. Our relay does not, so our extension knows none of them.
            ("start-recording", unknown_recording(12, "startRecording")),
            ("stop-recording", unknown_recording(13, "stopRecording")),
            ("is-recording", unknown_recording(14, "isRecording")),
            ("cancel-recording", unknown_recording(15, "cancelRecording")),
            (
                "update-tab-group",
                RelayMessage::Unknown {
                    id: Some(RequestId(16)),
                    method: "updateTabGroup".to_owned(),
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
