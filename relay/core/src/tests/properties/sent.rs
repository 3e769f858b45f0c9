//! The messages that extensions send about themselves, and the commands that clients send.

use super::AUTO_ATTACH;

/// Versions and capabilities of extensions, which may follow each other in one installation.
pub(super) const GENERATIONS: [(&str, &str); 4] = [
    ("", ""),
    ("0.4.0", ""),
    ("0.7.0", "inventory-ready-v1"),
    (
        "1.0.0",
        "inventory-ready-v1,window-mode-v1,windows-v1,permissions-v1,downloads-v1,cookies-v1",
    ),
];

/// The index of the first command that is about one target.
pub(super) const FIRST_OF_TARGETS: usize = 25;

/// The commands that clients send, on whatever session.
pub(super) const COMMANDS: [(&str, &str); 56] = [
    ("Target.setAutoAttach", AUTO_ATTACH),
    ("Target.setAutoAttach", r#"{"autoAttach":false,"waitForDebuggerOnStart":false}"#),
    (
        "Target.setAutoAttach",
        r#"{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{}]}"#,
    ),
    ("Target.setDiscoverTargets", r#"{"discover":true,"filter":[{}]}"#),
    ("Target.setDiscoverTargets", r#"{"discover":false}"#),
    ("Target.getTargets", "{}"),
    ("Target.attachToTarget", r#"{"targetId":"T1","flatten":true}"#),
    ("Target.attachToTarget", r#"{"targetId":"T2"}"#),
    ("Target.attachToTarget", r#"{"targetId":"target-service_worker"}"#),
    ("Target.attachToBrowserTarget", "{}"),
    ("Target.detachFromTarget", r#"{"sessionId":"pw-tab-1"}"#),
    ("Target.detachFromTarget", r#"{"sessionId":"browser"}"#),
    ("Target.createTarget", r#"{"url":"about:blank"}"#),
    ("Target.closeTarget", r#"{"targetId":"T1"}"#),
    ("Browser.getVersion", "{}"),
    ("Browser.getWindowForTarget", "{}"),
    ("Browser.setContentsSize", r#"{"windowId":1,"width":800,"height":600}"#),
    ("Browser.grantPermissions", r#"{"permissions":["geolocation"]}"#),
    ("Browser.resetPermissions", "{}"),
    (
        "Browser.setDownloadBehavior",
        r#"{"behavior":"allowAndName","downloadPath":"/d","eventsEnabled":true}"#,
    ),
    ("Browser.cancelDownload", r#"{"guid":"G"}"#),
    ("Storage.setCookies", r#"{"cookies":[{"name":"a","value":"1","domain":"d"}]}"#),
    ("Storage.getCookies", "{}"),
    ("Storage.clearCookies", "{}"),
    ("Network.getCookies", r#"{"urls":["https://a.example/"]}"#),
    ("Runtime.enable", "{}"),
    ("Runtime.disable", "{}"),
    ("Page.enable", "{}"),
    ("Page.getFrameTree", "{}"),
    ("Page.addScriptToEvaluateOnNewDocument", r#"{"source":""}"#),
    ("Page.removeScriptToEvaluateOnNewDocument", r#"{"identifier":"1"}"#),
    ("Page.handleJavaScriptDialog", r#"{"accept":true}"#),
    ("Page.startScreencast", "{}"),
    ("Runtime.addBinding", r#"{"name":"b"}"#),
    ("Runtime.runIfWaitingForDebugger", "{}"),
    ("Runtime.evaluate", r#"{"expression":"1"}"#),
    ("Emulation.setTimezoneOverride", r#"{"timezoneId":"Asia/Tokyo"}"#),
    ("Fetch.enable", "{}"),
    ("Fetch.disable", "{}"),
    ("Fetch.continueRequest", r#"{"requestId":"R"}"#),
    ("Fetch.enable", r#"{"patterns":[{"urlPattern":"y:*"}]}"#),
    ("Fetch.continueRequest", r#"{"requestId":"R","interceptResponse":true}"#),
    ("Tracing.start", "{}"),
    ("Tracing.end", "{}"),
    ("Page.startScreencast", r#"{"maxWidth":9}"#),
    ("Page.stopScreencast", "{}"),
    ("Page.setLifecycleEventsEnabled", r#"{"enabled":true}"#),
    ("Page.setInterceptFileChooserDialog", r#"{"enabled":true}"#),
    ("Network.setExtraHTTPHeaders", r#"{"headers":{"a":"b"}}"#),
    ("Network.setBlockedURLs", r#"{"urls":["*a*"]}"#),
    ("Debugger.enable", "{}"),
    ("Debugger.disable", "{}"),
    ("Debugger.setBreakpointByUrl", r#"{"lineNumber":1}"#),
    ("Debugger.removeBreakpoint", r#"{"breakpointId":"1"}"#),
    ("Log.enable", "{}"),
    ("Log.disable", "{}"),
];
