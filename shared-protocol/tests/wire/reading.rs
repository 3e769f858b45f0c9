//! Differences in frames that mean nothing, and differences that are errors.

use shared_protocol::{
    AttachedToTarget, BrowserWindow, CdpCommand, FoundDownload, InitialTab, RequestId, SessionId,
    WindowState,
};

use super::{ExtensionMessage, Raw, RelayMessage, command, event, extra, raw};

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
fn target_info_keeps_fields_of_a_newer_chrome() {
    let written = r#"{"sessionId":"S","targetInfo":{"targetId":"T","type":"page","title":"","url":"about:blank","attached":true,"canAccessOpener":false,"pid":77},"waitingForDebugger":false,"reason":"new"}"#;
    let read: AttachedToTarget<Raw> = serde_json::from_str(written).unwrap();
    assert_eq!(read.target_info.extra, extra(&[("pid", "77")]));
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
}

#[test]
fn initial_tab_carries_the_fields_of_an_announcement() {
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
fn a_request_with_parameters_of_a_later_version_is_unknown_but_can_be_answered() {
    for written in [
        r#"{"id":1,"method":"activateTab"}"#,
        r#"{"id":1,"method":"setPermissions","params":{"rules":[{"name":"smell","setting":"allow"}]}}"#,
        r#"{"id":1,"method":"setWindow","params":{"windowId":"main"}}"#,
    ] {
        let read: RelayMessage = serde_json::from_str(written).unwrap();
        assert!(matches!(read, RelayMessage::Unknown { id: Some(RequestId(1)), .. }), "{read:?}");
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
    }
}
