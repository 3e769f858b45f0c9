//! The settings that sessions may override, how their values combine, and how Chrome is told that
//! nothing is overridden.

use super::{Combine, Rule};

const fn latest(method: &'static str, reset: &'static str) -> Rule {
    Rule { method, combine: Combine::Latest, of: None, reset: (method, reset) }
}

const fn any(method: &'static str, flag: &'static str, reset: &'static str) -> Rule {
    Rule { method, combine: Combine::Any(flag), of: None, reset: (method, reset) }
}

const fn cleared_by(method: &'static str, clear: &'static str) -> Rule {
    Rule { method, combine: Combine::Latest, of: None, reset: (clear, "{}") }
}

/// One of several things of the same kind, which a parameter names.
const fn one_of(of: &'static str, method: &'static str) -> Rule {
    let reset = (method, r#"{"enabled":false}"#);
    Rule { method, combine: Combine::Any("enabled"), of: Some(of), reset }
}

pub(super) static RULES: [Rule; 54] = [
    cleared_by("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    cleared_by("Emulation.setDevicePostureOverride", "Emulation.clearDevicePostureOverride"),
    cleared_by("Emulation.setDisplayFeaturesOverride", "Emulation.clearDisplayFeaturesOverride"),
    cleared_by("Emulation.setGeolocationOverride", "Emulation.clearGeolocationOverride"),
    cleared_by("Emulation.setIdleOverride", "Emulation.clearIdleOverride"),
    cleared_by(
        "DeviceOrientation.setDeviceOrientationOverride",
        "DeviceOrientation.clearDeviceOrientationOverride",
    ),
    latest("Emulation.setTouchEmulationEnabled", r#"{"enabled":false}"#),
    latest("Emulation.setEmitTouchEventsForMouse", r#"{"enabled":false}"#),
    latest("Emulation.setEmulatedMedia", r#"{"media":"","features":[]}"#),
    latest("Emulation.setEmulatedOSTextScale", "{}"),
    latest("Emulation.setEmulatedVisionDeficiency", r#"{"type":"none"}"#),
    latest("Emulation.setTimezoneOverride", r#"{"timezoneId":""}"#),
    latest("Emulation.setLocaleOverride", "{}"),
    latest("Emulation.setCPUPerformanceOverride", "{}"),
    latest("Emulation.setCPUThrottlingRate", r#"{"rate":1}"#),
    latest("Emulation.setDefaultBackgroundColorOverride", "{}"),
    latest("Emulation.setAutoDarkModeOverride", "{}"),
    latest("Emulation.setAutomationOverride", r#"{"enabled":false}"#),
    latest("Emulation.setDisabledImageTypes", r#"{"imageTypes":[]}"#),
    latest("Emulation.setScriptExecutionDisabled", r#"{"value":false}"#),
    latest("Emulation.setScrollbarsHidden", r#"{"hidden":false}"#),
    latest("Emulation.setDocumentCookieDisabled", r#"{"disabled":false}"#),
    latest("Emulation.setNavigatorOverrides", r#"{"platform":""}"#),
    latest("Emulation.setPageScaleFactor", r#"{"pageScaleFactor":1}"#),
    latest("Emulation.setSafeAreaInsetsOverride", r#"{"insets":{}}"#),
    latest("Emulation.setSmallViewportHeightDifferenceOverride", r#"{"difference":0}"#),
    latest("Emulation.setDataSaverOverride", "{}"),
    latest("Emulation.setVirtualKeyboardGeometryOverride", "{}"),
    // There is no way back to real time; at least time passes.
    latest("Emulation.setVirtualTimePolicy", r#"{"policy":"advance"}"#),
    one_of("type", "Emulation.setSensorOverrideEnabled"),
    one_of("source", "Emulation.setPressureSourceOverrideEnabled"),
    latest("Page.setPrerenderingAllowed", r#"{"isAllowed":true}"#),
    latest("Page.setRPHRegistrationMode", r#"{"mode":"none"}"#),
    latest("Page.setSPCTransactionMode", r#"{"mode":"none"}"#),
    latest(
        "Network.emulateNetworkConditions",
        r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
    ),
    latest(
        "Network.overrideNetworkState",
        r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#,
    ),
    latest(
        "Network.emulateNetworkConditionsByRule",
        r#"{"offline":false,"matchedNetworkConditions":[]}"#,
    ),
    latest("Page.setWebLifecycleState", r#"{"state":"active"}"#),
    latest("Debugger.setPauseOnExceptions", r#"{"state":"none"}"#),
    latest("Debugger.setBreakpointsActive", r#"{"active":true}"#),
    latest("Overlay.setInspectMode", r#"{"mode":"none"}"#),
    any("Debugger.setSkipAllPauses", "skip", r#"{"skip":false}"#),
    latest("Emulation.setUserAgentOverride", r#"{"userAgent":""}"#),
    any("Emulation.setFocusEmulationEnabled", "enabled", r#"{"enabled":false}"#),
    any("Network.setAttachDebugStack", "enabled", r#"{"enabled":false}"#),
    any("Network.setCacheDisabled", "cacheDisabled", r#"{"cacheDisabled":false}"#),
    any("Network.setBypassServiceWorker", "bypass", r#"{"bypass":false}"#),
    any("Page.setAdBlockingEnabled", "enabled", r#"{"enabled":false}"#),
    any("Page.setBypassCSP", "enabled", r#"{"enabled":false}"#),
    any("Page.setInterceptFileChooserDialog", "enabled", r#"{"enabled":false}"#),
    any("Input.setInterceptDrags", "enabled", r#"{"enabled":false}"#),
    any("Input.setIgnoreInputEvents", "ignore", r#"{"ignore":false}"#),
    Rule {
        method: "Network.setExtraHTTPHeaders",
        combine: Combine::Headers,
        of: None,
        reset: ("Network.setExtraHTTPHeaders", r#"{"headers":{}}"#),
    },
    Rule {
        method: "Network.setBlockedURLs",
        combine: Combine::Blocked,
        of: None,
        reset: ("Network.setBlockedURLs", r#"{"urls":[]}"#),
    },
];

/// Older names of commands, and what they are called now.
pub(super) const ALIASES: [(&str, &str); 8] = [
    ("Network.setUserAgentOverride", "Emulation.setUserAgentOverride"),
    ("Page.setDeviceMetricsOverride", "Emulation.setDeviceMetricsOverride"),
    ("Page.clearDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    ("Page.setGeolocationOverride", "Emulation.setGeolocationOverride"),
    ("Page.clearGeolocationOverride", "Emulation.clearGeolocationOverride"),
    ("Page.setTouchEmulationEnabled", "Emulation.setTouchEmulationEnabled"),
    ("Page.setDeviceOrientationOverride", "DeviceOrientation.setDeviceOrientationOverride"),
    ("Page.clearDeviceOrientationOverride", "DeviceOrientation.clearDeviceOrientationOverride"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `Emulation.set*` and `Page.set*` of the protocol as of its revision 1704951.
    const COMMANDS: &str = "
        Emulation.setFocusEmulationEnabled Emulation.setAutoDarkModeOverride
        Emulation.setCPUThrottlingRate Emulation.setDefaultBackgroundColorOverride
        Emulation.setSafeAreaInsetsOverride Emulation.setVirtualKeyboardGeometryOverride
        Emulation.setDeviceMetricsOverride Emulation.setDevicePostureOverride
        Emulation.setDisplayFeaturesOverride Emulation.setScrollbarsHidden
        Emulation.setDocumentCookieDisabled Emulation.setEmitTouchEventsForMouse
        Emulation.setEmulatedMedia Emulation.setEmulatedVisionDeficiency
        Emulation.setEmulatedOSTextScale Emulation.setGeolocationOverride
        Emulation.setSensorOverrideEnabled Emulation.setSensorOverrideReadings
        Emulation.setPressureSourceOverrideEnabled Emulation.setPressureStateOverride
        Emulation.setIdleOverride Emulation.setNavigatorOverrides Emulation.setPageScaleFactor
        Emulation.setScriptExecutionDisabled Emulation.setTouchEmulationEnabled
        Emulation.setVirtualTimePolicy Emulation.setLocaleOverride Emulation.setTimezoneOverride
        Emulation.setVisibleSize Emulation.setDisabledImageTypes Emulation.setDataSaverOverride
        Emulation.setHardwareConcurrencyOverride Emulation.setCPUPerformanceOverride
        Emulation.setUserAgentOverride Emulation.setAutomationOverride
        Emulation.setSmallViewportHeightDifferenceOverride Emulation.setPrimaryScreen
        Page.setAdBlockingEnabled Page.setBypassCSP Page.setDeviceMetricsOverride
        Page.setDeviceOrientationOverride Page.setFontFamilies Page.setFontSizes
        Page.setDocumentContent Page.setDownloadBehavior Page.setGeolocationOverride
        Page.setLifecycleEventsEnabled Page.setTouchEmulationEnabled Page.setWebLifecycleState
        Page.setSPCTransactionMode Page.setRPHRegistrationMode Page.setInterceptFileChooserDialog
        Page.setPrerenderingAllowed
    ";

    /// Those without a rule, and why.
    const WITHOUT: [(&str, &str); 10] = [
        ("Emulation.setHardwareConcurrencyOverride", "Chrome has no way back"),
        ("Emulation.setPrimaryScreen", "only a browser without windows has it"),
        ("Emulation.setPressureStateOverride", "nothing without its source"),
        ("Emulation.setSensorOverrideReadings", "nothing without its sensor"),
        ("Emulation.setVisibleSize", "Chrome has no way back; metrics are what clients use"),
        ("Page.setDocumentContent", "no setting"),
        ("Page.setDownloadBehavior", "the relay's own, of the session that asked"),
        ("Page.setFontFamilies", "once per tab, and Chrome has no way back"),
        ("Page.setFontSizes", "Chrome has no way back to the user's own"),
        ("Page.setLifecycleEventsEnabled", "counted by the session that asked"),
    ];

    #[test]
    fn every_command_that_sets_something_has_a_rule_or_a_reason() {
        for method in COMMANDS.split_whitespace() {
            let is_excused = WITHOUT.iter().any(|(excused, _)| *excused == method);
            assert!(Rule::of(method).is_some() != is_excused, "{method}");
        }
        for (method, why) in WITHOUT {
            assert!(COMMANDS.contains(method), "{method}: {why}");
        }
    }
}
