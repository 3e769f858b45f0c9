//! The least that a peer in the field may send of each object. It only ever gets less: a field that
//! is not here may be missing, and one that is here must mean what it meant.

use serde::de::DeserializeOwned;
use serde_json::Value;
use shared_protocol::{
    AttachedToTarget, BrowserWindow, CdpCommand, CdpEvent, CookieAnswers, CookieCalls,
    DetachedFromTarget, DownloadId, DownloadQuery, ExtensionHello, FoundDownload, HelloMessage,
    InitialTab, LogLine, Notice, ParseFailure, PermissionRule, Permissions, TabQuery, TargetInfo,
    WindowChange, WindowMode, WindowQuery, http,
};

#[test]
fn fields_that_extensions_leave_out_have_defaults() {
    let tab = r#""sessionId":"S","targetInfo":{"targetId":"T","type":"page"}"#;
    reads::<CdpEvent<Value>>(r#"{"method":"Page.loadEventFired"}"#);
    reads::<TargetInfo<Value>>(r#"{"targetId":"T","type":"page"}"#);
    reads::<AttachedToTarget<Value>>(&format!("{{{tab}}}"));
    reads::<DetachedFromTarget<Value>>(r#"{"sessionId":"S"}"#);
    reads::<InitialTab<Value>>(&format!("{{\"tabId\":1,{tab}}}"));
    reads::<LogLine<Value>>("{}");
    reads::<HelloMessage<Value>>("{}");
    reads::<ParseFailure<Value>>("{}");
    reads::<FoundDownload<Value>>("{}");
    reads::<CookieAnswers<Value>>(r#"{"cookies":[]}"#);
    let bounds = r#""left":0,"top":0,"width":1,"height":1"#;
    reads::<BrowserWindow<Value>>(&format!("{{\"windowId\":1,{bounds},\"state\":\"normal\"}}"));
    reads::<ExtensionHello>("{}");
}

#[test]
fn fields_that_relays_leave_out_have_defaults() {
    reads::<CdpCommand<Value>>(r#"{"method":"Page.enable"}"#);
    reads::<WindowMode<Value>>(r#"{"separateWindow":true}"#);
    reads::<WindowQuery<Value>>("{}");
    reads::<WindowChange<Value>>(r#"{"windowId":1}"#);
    reads::<TabQuery<Value>>(r#"{"targetId":"T"}"#);
    reads::<Permissions<Value>>(r#"{"rules":[]}"#);
    reads::<PermissionRule<Value>>(r#"{"name":"camera","setting":"allow"}"#);
    reads::<DownloadQuery<Value>>(r#"{"url":"x:"}"#);
    reads::<DownloadId<Value>>(r#"{"id":1}"#);
    reads::<CookieCalls<Value>>(r#"{"function":"set","details":[]}"#);
    reads::<Notice<Value>>("{}");
    reads::<http::ExtensionStatus>("{}");
    reads::<http::Profile>("{}");
    let entry = r#"{"extensionId":"c","stableKey":"k","activeTargets":0}"#;
    reads::<http::ExtensionsStatus>(&format!("{{\"extensions\":[{entry}]}}"));
}

fn reads<T: DeserializeOwned>(text: &str) {
    let read = serde_json::from_str::<T>(text);
    assert!(read.is_ok(), "{text}: {:?}", read.err());
}
