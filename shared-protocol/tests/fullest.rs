//! The most that this version says of each object, and every word it has for something. A field or a
//! word that is renamed here is lost on every peer in the field.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use shared_protocol::{
    AttachedToTarget, BrowserWindow, CdpCommand, CdpEvent, CloseCode, CookieAnswers, CookieCalls,
    CookieFunction, DetachedFromTarget, DownloadId, DownloadQuery, ExtensionHello, FoundDownload,
    HelloMessage, InitialTab, LogLevel, LogLine, Notice, ParseFailure, PermissionName,
    PermissionRule, PermissionSetting, Permissions, TabQuery, TargetInfo, WindowChange, WindowMode,
    WindowQuery, WindowState,
};

#[test]
fn every_field_of_an_extension_message_has_its_name() {
    let info = r#"{"targetId":"T","type":"page","title":"t","url":"u:","attached":true,"openerId":"O","canAccessOpener":true,"browserContextId":"C"}"#;
    knows::<TargetInfo<Value>>(info);
    knows::<AttachedToTarget<Value>>(&format!(
        r#"{{"sessionId":"S","targetInfo":{info},"waitingForDebugger":true}}"#
    ));
    knows::<DetachedFromTarget<Value>>(r#"{"sessionId":"S","targetId":"T"}"#);
    knows::<InitialTab<Value>>(&format!(
        r#"{{"success":true,"tabId":1,"sessionId":"S","targetInfo":{info}}}"#
    ));
    knows::<CdpEvent<Value>>(r#"{"sessionId":"S","method":"A.b","params":{}}"#);
    knows::<LogLine<Value>>(r#"{"level":"warn","args":["a"]}"#);
    knows::<HelloMessage<Value>>(
        r#"{"browser":"Chrome","email":"e","id":"p","installId":"i","version":"1.0.0"}"#,
    );
    knows::<ParseFailure<Value>>(r#"{"code":-32700,"message":"m"}"#);
    knows::<FoundDownload<Value>>(r#"{"id":1,"path":"/a","state":"complete","error":"e"}"#);
    knows::<BrowserWindow<Value>>(
        r#"{"windowId":1,"left":1,"top":2,"width":3,"height":4,"state":"normal","contentWidth":5,"contentHeight":6,"hidden":true}"#,
    );
    knows::<CookieAnswers<Value>>(r#"{"cookies":[[],null],"error":"e"}"#);
    let query =
        "browser=Chrome&browserVersion=156.0.1&email=e&id=p&installId=i&v=1.0.0&capabilities=c";
    let hello: ExtensionHello = serde_urlencoded::from_str(query).unwrap();
    assert_eq!(serde_urlencoded::to_string(&hello).unwrap(), query);
}

#[test]
fn every_field_of_a_relay_message_has_its_name() {
    knows::<CdpCommand<Value>>(
        r#"{"method":"A.b","sessionId":"S","params":{},"source":"playwriter"}"#,
    );
    knows::<WindowMode<Value>>(r#"{"separateWindow":true}"#);
    knows::<WindowQuery<Value>>(r#"{"targetId":"T","windowId":1}"#);
    knows::<WindowChange<Value>>(
        r#"{"windowId":1,"left":1,"top":2,"width":3,"height":4,"state":"normal"}"#,
    );
    knows::<TabQuery<Value>>(r#"{"targetId":"T"}"#);
    let rule = r#"{"name":"camera","origin":"https://a.example","setting":"allow"}"#;
    knows::<PermissionRule<Value>>(rule);
    knows::<Permissions<Value>>(&format!(r#"{{"rules":[{rule}]}}"#));
    knows::<DownloadQuery<Value>>(r#"{"url":"u:","exclude":[1],"atOnce":true,"maxAge":2}"#);
    knows::<DownloadId<Value>>(r#"{"id":1,"remove":true}"#);
    knows::<CookieCalls<Value>>(r#"{"function":"getAll","details":[{"url":"u:"}]}"#);
    knows::<Notice<Value>>(r#"{"text":"t"}"#);
}

#[test]
fn every_word_on_the_wire_keeps_its_meaning() {
    use PermissionName::{Camera, Clipboard, Geolocation, Microphone, Notifications};
    says(&[
        (Geolocation, "geolocation"),
        (Notifications, "notifications"),
        (Camera, "camera"),
        (Microphone, "microphone"),
        (Clipboard, "clipboard"),
    ]);
    use PermissionSetting::{Allow, Ask, Block};
    says(&[(Allow, "allow"), (Block, "block"), (Ask, "ask")]);
    use WindowState::{Fullscreen, Maximized, Minimized, Normal};
    says(&[
        (Normal, "normal"),
        (Minimized, "minimized"),
        (Maximized, "maximized"),
        (Fullscreen, "fullscreen"),
    ]);
    says(&[(CookieFunction::GetAll, "getAll"), (CookieFunction::Set, "set")]);
    use LogLevel::{Debug, Error, Info, Log, Warn};
    says(&[(Debug, "debug"), (Log, "log"), (Info, "info"), (Warn, "warn"), (Error, "error")]);
}

#[test]
fn every_close_code_has_its_number() {
    for (code, number) in [
        (CloseCode::Normal, 1000),
        (CloseCode::ExtensionReplaced, 4001),
        (CloseCode::ExtensionInUse, 4002),
        (CloseCode::NoSuchExtension, 4003),
        (CloseCode::DuplicateClient, 4004),
        (CloseCode::ClientTooSlow, 4007),
        (CloseCode::ExtensionSilent, 4008),
        (CloseCode::ConnectionFailed, 4009),
        (CloseCode::UnknownKey, 4010),
        (CloseCode::NotProven, 4011),
        (CloseCode::TooManyClients, 4012),
        (CloseCode::TooManyConnections, 4013),
    ] {
        assert_eq!(code.number(), number, "{code:?}");
    }
}

/// Fails for an unknown field or message: unknown parts are kept and would be written again.
fn knows<T: DeserializeOwned + Serialize + Debug>(text: &str) {
    let read: T = serde_json::from_str(text).unwrap();
    let shown = format!("{read:?}");
    assert!(!shown.contains("Extra([("), "{text}: {shown}");
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

fn says<T: DeserializeOwned + Serialize + PartialEq + Debug>(words: &[(T, &str)]) {
    for (value, word) in words {
        assert_eq!(serde_json::to_value(value).unwrap(), *word);
        assert_eq!(&serde_json::from_value::<T>((*word).into()).unwrap(), value);
    }
}
