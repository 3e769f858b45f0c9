//! Every message that extensions send.

use shared_protocol::{CdpEvent, Extra, HelloMessage, LogLevel, LogLine, ParseFailure, RequestId};

use super::{ExtensionMessage, check_folder, event, extra, raw};

#[test]
fn every_extension_message_round_trips() {
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
