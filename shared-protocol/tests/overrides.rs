//! The table of overrides: every setting is in it, and is reset by the relay and by the worker.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use shared_protocol::overrides::{ALIASES, CLEANUP_COMMANDS, OVERRIDES, Override};

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

/// Those that are not in the table, and why.
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

/// Those that the relay resets and the worker does not, and why.
const NOT_BY_THE_WORKER: [(&str, &str); 1] = [(
    "Emulation.setVirtualTimePolicy",
    "Chrome has no way back to real time, and a tab that never had virtual time would get it",
)];

#[test]
fn every_command_that_sets_something_is_in_the_table_or_has_a_reason() {
    for method in COMMANDS.split_whitespace() {
        let is_excused = WITHOUT.iter().any(|(excused, _)| *excused == method);
        assert!(Override::of(method).is_some() != is_excused, "{method}");
    }
    for (method, why) in WITHOUT {
        assert!(COMMANDS.contains(method), "{method}: {why}");
    }
}

#[test]
fn every_setting_is_found_by_its_names_and_is_in_the_table_once() {
    for setting in &OVERRIDES {
        for name in [setting.method, setting.reset_method()] {
            assert_eq!(Override::of(name).map(|found| found.method), Some(setting.method));
        }
    }
    for (old, name) in ALIASES {
        assert!(Override::of(old).is_some(), "{old} is {name}");
    }
    assert!(Override::of("Page.navigate").is_none());
    let names: BTreeSet<&str> = OVERRIDES.iter().map(|setting| setting.method).collect();
    assert_eq!(names.len(), OVERRIDES.len());
}

#[test]
fn every_setting_is_reset_by_the_worker_or_excused_by_name() {
    let is_sent = |method: &str| CLEANUP_COMMANDS.iter().any(|(sent, _)| *sent == method);
    for setting in &OVERRIDES {
        let method = setting.method;
        let domain = method.split('.').next().unwrap();
        let is_reset = if setting.is_reset_by_domain() {
            is_sent(&format!("{domain}.disable"))
        } else {
            let own = CLEANUP_COMMANDS.iter().filter(|(sent, _)| *sent == setting.reset_method());
            let sent: Vec<&str> = own.map(|(_, params)| *params).collect();
            match setting.members {
                Some(members) => sent == members.resets,
                None => sent == [setting.reset],
            }
        };
        let is_excused = NOT_BY_THE_WORKER.iter().any(|(excused, _)| *excused == method);
        assert!(is_reset != is_excused, "{method}");
    }
    for (method, why) in NOT_BY_THE_WORKER {
        assert!(Override::of(method).is_some(), "{method}: {why}");
    }
}

#[test]
fn parameters_are_json_and_members_have_those_of_their_setting() {
    let read = |json: &str| serde_json::from_str::<Map<String, Value>>(json).unwrap();
    for (_, params) in CLEANUP_COMMANDS {
        read(params);
    }
    for setting in &OVERRIDES {
        let reset = read(setting.reset);
        for member in setting.members.into_iter().flat_map(|members| members.resets) {
            let mut fields = read(member);
            assert!(fields.remove(setting.members.unwrap().parameter).is_some(), "{member}");
            assert_eq!(fields, reset, "{member}");
        }
    }
}

#[test]
fn what_would_hold_a_page_up_is_switched_off_first() {
    let methods: Vec<&str> = CLEANUP_COMMANDS.iter().map(|(method, _)| *method).collect();
    assert!(methods.starts_with(&[
        "Fetch.disable",
        "Debugger.disable",
        "Target.setAutoAttach",
        "Page.stopScreencast",
        "Input.setIgnoreInputEvents",
    ]));
    let last = ["Network.disable", "WebAuthn.disable", "Overlay.disable", "Runtime.disable"];
    assert!(methods.ends_with(&last));
}
