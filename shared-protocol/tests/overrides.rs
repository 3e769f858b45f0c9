//! The table of overrides: every setting is in it, and is reset by the relay and by the worker.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared_protocol::overrides::{ALIASES, OVERRIDES, Override, cleanup_commands};
use shared_protocol::{Payload, Unreadable};

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
    let commands = cleanup_commands::<Json>();
    let is_sent = |method: &str| commands.iter().any(|(sent, _)| *sent == method);
    for setting in &OVERRIDES {
        let method = setting.method;
        let domain = method.split('.').next().unwrap();
        let is_reset = if setting.is_reset_by_domain() {
            is_sent(&format!("{domain}.disable"))
        } else {
            let own = commands.iter().filter(|(sent, _)| *sent == setting.reset_method());
            let resets: Vec<&Json> = own.filter_map(|(_, params)| params.as_ref()).collect();
            let first = resets.first().map(|params| &params.0);
            // The worker and the relay send the same.
            let member = setting
                .members
                .and_then(|members| first?.get(members.parameter)?.as_str().map(str::to_owned));
            let of_relay = serde_json::to_value(setting.reset_params(member.as_deref())).unwrap();
            first == Some(&of_relay)
        };
        let is_excused = NOT_BY_THE_WORKER.iter().any(|(excused, _)| *excused == method);
        assert!(is_reset != is_excused, "{method}");
    }
    for (method, why) in NOT_BY_THE_WORKER {
        assert!(Override::of(method).is_some(), "{method}: {why}");
    }
}

#[test]
fn the_members_of_a_setting_are_reset_one_by_one() {
    let sensors: Vec<String> = cleanup_commands::<Json>()
        .into_iter()
        .filter(|(method, _)| *method == "Emulation.setSensorOverrideEnabled")
        .map(|(_, params)| params.unwrap().0.to_string())
        .collect();
    assert_eq!(sensors.len(), 8);
    assert_eq!(sensors[1], r#"{"enabled":false,"type":"accelerometer"}"#);
}

#[test]
fn what_would_hold_a_page_up_is_switched_off_first() {
    let commands = cleanup_commands::<Json>();
    let first: Vec<&str> = commands.iter().take(5).map(|(method, _)| *method).collect();
    assert_eq!(
        first,
        [
            "Fetch.disable",
            "Debugger.disable",
            "Target.setAutoAttach",
            "Page.stopScreencast",
            "Input.setIgnoreInputEvents",
        ]
    );
    let last: Vec<&str> = commands.iter().rev().take(4).map(|(method, _)| *method).collect();
    assert_eq!(last, ["Runtime.disable", "Overlay.disable", "WebAuthn.disable", "Network.disable"]);
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Json(Value);

impl Payload for Json {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_json::from_value(self.0.clone()).map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        serde_json::to_value(value).map(Json).map_err(|error| Unreadable(error.to_string()))
    }
}
