//! The settings of a target that clients override: one table, which says how the values of several
//! client sessions become one, and which command resets each setting.
//!
//! The relay resets a setting when the last session that overrides it has ended. The extension's worker
//! resets all settings of all its tabs when a relay was killed, because no client is left that could.

/// One setting.
#[derive(Debug)]
pub struct Override {
    /// The command that overrides the setting.
    pub method: &'static str,
    /// How the values of several sessions become one.
    pub combine: Combine,
    /// The things of the same kind that are set one by one, if the setting has several.
    pub members: Option<&'static Members>,
    /// The command that resets the setting, if it is another one.
    cleared_by: Option<&'static str>,
    /// The parameters that reset the setting, as JSON.
    pub reset: &'static str,
    cleanup: Cleanup,
}

/// How the values of several sessions become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The last value counts.
    Latest,
    /// The setting is on while any session wants it; the parameter that says so.
    Any(&'static str),
    /// The headers of all sessions count, later ones over earlier ones.
    Headers,
    /// What any session wants blocked is blocked.
    Blocked,
}

/// The things of the same kind that one command sets, one at a time.
#[derive(Debug)]
pub struct Members {
    /// The parameter that names one of them.
    pub parameter: &'static str,
    /// The parameters that reset each of all that Chrome has, as JSON.
    pub resets: &'static [&'static str],
}

/// How the setting is reset after a relay was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cleanup {
    /// By its own command.
    Command,
    /// By switching its domain off: the domain forgets what it was told.
    Domain,
    /// Not at all.
    Kept,
}

const OFF: &str = r#"{"enabled":false}"#;

const ONLINE: &str =
    r#"{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}"#;

static SENSORS: Members = Members {
    parameter: "type",
    resets: &[
        r#"{"enabled":false,"type":"absolute-orientation"}"#,
        r#"{"enabled":false,"type":"accelerometer"}"#,
        r#"{"enabled":false,"type":"ambient-light"}"#,
        r#"{"enabled":false,"type":"gravity"}"#,
        r#"{"enabled":false,"type":"gyroscope"}"#,
        r#"{"enabled":false,"type":"linear-acceleration"}"#,
        r#"{"enabled":false,"type":"magnetometer"}"#,
        r#"{"enabled":false,"type":"relative-orientation"}"#,
    ],
};

static PRESSURE_SOURCES: Members =
    Members { parameter: "source", resets: &[r#"{"enabled":false,"source":"cpu"}"#] };

/// All settings.
pub static OVERRIDES: [Override; 54] = TABLE;

/// Cleanup goes through them in this order: first what would hold a page up, then what would make it
/// look or load differently to its user.
const TABLE: [Override; 54] = [
    any("Input.setIgnoreInputEvents", "ignore", r#"{"ignore":false}"#),
    any("Input.setInterceptDrags", "enabled", OFF),
    latest("Emulation.setScriptExecutionDisabled", r#"{"value":false}"#),
    latest("Page.setWebLifecycleState", r#"{"state":"active"}"#),
    // There is no way back to real time; at least time passes. A tab that never had virtual time would
    // get it.
    latest("Emulation.setVirtualTimePolicy", r#"{"policy":"advance"}"#).kept_by_cleanup(),
    any("Emulation.setFocusEmulationEnabled", "enabled", OFF),
    latest("Emulation.setEmulatedMedia", r#"{"media":"","features":[]}"#),
    latest("Emulation.setEmulatedVisionDeficiency", r#"{"type":"none"}"#),
    latest("Emulation.setAutoDarkModeOverride", "{}"),
    latest("Emulation.setDefaultBackgroundColorOverride", "{}"),
    cleared_by("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    latest("Emulation.setPageScaleFactor", r#"{"pageScaleFactor":1}"#),
    latest("Emulation.setScrollbarsHidden", r#"{"hidden":false}"#),
    latest("Emulation.setTouchEmulationEnabled", OFF),
    latest("Emulation.setEmitTouchEventsForMouse", OFF),
    cleared_by("Emulation.setGeolocationOverride", "Emulation.clearGeolocationOverride"),
    cleared_by("Emulation.setIdleOverride", "Emulation.clearIdleOverride"),
    latest("Emulation.setUserAgentOverride", r#"{"userAgent":""}"#),
    latest("Emulation.setTimezoneOverride", r#"{"timezoneId":""}"#),
    latest("Emulation.setLocaleOverride", "{}"),
    latest("Emulation.setCPUThrottlingRate", r#"{"rate":1}"#),
    latest("Emulation.setDocumentCookieDisabled", r#"{"disabled":false}"#),
    cleared_by("Emulation.setDevicePostureOverride", "Emulation.clearDevicePostureOverride"),
    cleared_by("Emulation.setDisplayFeaturesOverride", "Emulation.clearDisplayFeaturesOverride"),
    cleared_by(
        "DeviceOrientation.setDeviceOrientationOverride",
        "DeviceOrientation.clearDeviceOrientationOverride",
    ),
    latest("Emulation.setEmulatedOSTextScale", "{}"),
    latest("Emulation.setCPUPerformanceOverride", "{}"),
    latest("Emulation.setAutomationOverride", OFF),
    latest("Emulation.setDisabledImageTypes", r#"{"imageTypes":[]}"#),
    latest("Emulation.setNavigatorOverrides", r#"{"platform":""}"#),
    latest("Emulation.setSafeAreaInsetsOverride", r#"{"insets":{}}"#),
    latest("Emulation.setSmallViewportHeightDifferenceOverride", r#"{"difference":0}"#),
    latest("Emulation.setDataSaverOverride", "{}"),
    latest("Emulation.setVirtualKeyboardGeometryOverride", "{}"),
    one_of("Emulation.setSensorOverrideEnabled", &SENSORS),
    one_of("Emulation.setPressureSourceOverrideEnabled", &PRESSURE_SOURCES),
    latest("Page.setPrerenderingAllowed", r#"{"isAllowed":true}"#),
    latest("Page.setRPHRegistrationMode", r#"{"mode":"none"}"#),
    latest("Page.setSPCTransactionMode", r#"{"mode":"none"}"#),
    any("Page.setAdBlockingEnabled", "enabled", OFF),
    any("Page.setBypassCSP", "enabled", OFF),
    any("Page.setInterceptFileChooserDialog", "enabled", OFF),
    latest("Network.emulateNetworkConditions", ONLINE).reset_by_domain(),
    latest("Network.overrideNetworkState", ONLINE).reset_by_domain(),
    latest(
        "Network.emulateNetworkConditionsByRule",
        r#"{"offline":false,"matchedNetworkConditions":[]}"#,
    )
    .reset_by_domain(),
    latest("Debugger.setPauseOnExceptions", r#"{"state":"none"}"#).reset_by_domain(),
    latest("Debugger.setBreakpointsActive", r#"{"active":true}"#).reset_by_domain(),
    latest("Overlay.setInspectMode", r#"{"mode":"none"}"#).reset_by_domain(),
    any("Debugger.setSkipAllPauses", "skip", r#"{"skip":false}"#).reset_by_domain(),
    any("Network.setAttachDebugStack", "enabled", OFF).reset_by_domain(),
    any("Network.setCacheDisabled", "cacheDisabled", r#"{"cacheDisabled":false}"#)
        .reset_by_domain(),
    any("Network.setBypassServiceWorker", "bypass", r#"{"bypass":false}"#).reset_by_domain(),
    merged("Network.setExtraHTTPHeaders", Combine::Headers, r#"{"headers":{}}"#),
    merged("Network.setBlockedURLs", Combine::Blocked, r#"{"urls":[]}"#).reset_by_domain(),
];

/// Older names of commands, and what they are called now.
pub const ALIASES: [(&str, &str); 8] = [
    ("Network.setUserAgentOverride", "Emulation.setUserAgentOverride"),
    ("Page.setDeviceMetricsOverride", "Emulation.setDeviceMetricsOverride"),
    ("Page.clearDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    ("Page.setGeolocationOverride", "Emulation.setGeolocationOverride"),
    ("Page.clearGeolocationOverride", "Emulation.clearGeolocationOverride"),
    ("Page.setTouchEmulationEnabled", "Emulation.setTouchEmulationEnabled"),
    ("Page.setDeviceOrientationOverride", "DeviceOrientation.setDeviceOrientationOverride"),
    ("Page.clearDeviceOrientationOverride", "DeviceOrientation.clearDeviceOrientationOverride"),
];

/// What cleanup switches off before it resets settings, because it would hold a page up.
const CLEANUP_FIRST: [(&str, &str); 4] = [
    ("Fetch.disable", "{}"),
    ("Debugger.disable", "{}"),
    (
        "Target.setAutoAttach",
        r#"{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}"#,
    ),
    ("Page.stopScreencast", "{}"),
];

/// The domains that cleanup switches off in the end. `Network` forgets headers, blocked addresses and
/// the speed, `Runtime` the bindings. `Page` stays on, because the extension follows its events.
const CLEANUP_LAST: [(&str, &str); 4] = [
    ("Network.disable", "{}"),
    ("WebAuthn.disable", "{}"),
    ("Overlay.disable", "{}"),
    ("Runtime.disable", "{}"),
];

/// The commands that give a tab back as it was before clients came, but for the scripts that its new
/// documents run: methods, and parameters as JSON. The worker's program holds no more of the table.
pub static CLEANUP_COMMANDS: [(&str, &str); CLEANUP_COUNT] = cleanup_commands();

const CLEANUP_COUNT: usize = {
    let mut count = CLEANUP_FIRST.len() + CLEANUP_LAST.len();
    let mut at = 0;
    while at < TABLE.len() {
        if matches!(TABLE[at].cleanup, Cleanup::Command) {
            count += match TABLE[at].members {
                Some(members) => members.resets.len(),
                None => 1,
            };
        }
        at += 1;
    }
    count
};

/// It is computed by the compiler, which knows no iterators.
const fn cleanup_commands() -> [(&'static str, &'static str); CLEANUP_COUNT] {
    let mut commands = [("", ""); CLEANUP_COUNT];
    let mut count = 0;
    while count < CLEANUP_FIRST.len() {
        commands[count] = CLEANUP_FIRST[count];
        count += 1;
    }
    let mut at = 0;
    while at < TABLE.len() {
        let setting = &TABLE[at];
        at += 1;
        if !matches!(setting.cleanup, Cleanup::Command) {
            continue;
        }
        let resets: &[&'static str] = match setting.members {
            Some(members) => members.resets,
            None => &[setting.reset],
        };
        let mut member = 0;
        while member < resets.len() {
            commands[count] = (setting.reset_method(), resets[member]);
            count += 1;
            member += 1;
        }
    }
    let mut last = 0;
    while last < CLEANUP_LAST.len() {
        commands[count] = CLEANUP_LAST[last];
        count += 1;
        last += 1;
    }
    commands
}

impl Override {
    /// Returns the setting that a command overrides or resets. Some commands have an older name too.
    #[must_use]
    pub fn of(method: &str) -> Option<&'static Self> {
        let method = canonical(method);
        OVERRIDES.iter().find(|it| it.method == method || it.reset_method() == method)
    }

    /// Returns the command that resets the setting.
    #[must_use]
    pub const fn reset_method(&self) -> &'static str {
        match self.cleared_by {
            Some(method) => method,
            None => self.method,
        }
    }

    /// Returns whether switching the setting's domain off resets the setting after a relay was killed.
    #[must_use]
    pub fn is_reset_by_domain(&self) -> bool {
        self.cleanup == Cleanup::Domain
    }

    const fn reset_by_domain(self) -> Self {
        Self { cleanup: Cleanup::Domain, ..self }
    }

    const fn kept_by_cleanup(self) -> Self {
        Self { cleanup: Cleanup::Kept, ..self }
    }
}

const fn merged(method: &'static str, combine: Combine, reset: &'static str) -> Override {
    let cleanup = Cleanup::Command;
    Override { method, combine, members: None, cleared_by: None, reset, cleanup }
}

const fn latest(method: &'static str, reset: &'static str) -> Override {
    merged(method, Combine::Latest, reset)
}

const fn any(method: &'static str, flag: &'static str, reset: &'static str) -> Override {
    merged(method, Combine::Any(flag), reset)
}

const fn cleared_by(method: &'static str, clear: &'static str) -> Override {
    Override { cleared_by: Some(clear), ..latest(method, "{}") }
}

const fn one_of(method: &'static str, members: &'static Members) -> Override {
    Override { members: Some(members), ..any(method, "enabled", OFF) }
}

/// Returns a command's present name.
#[must_use]
pub fn canonical(method: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == method).map_or(method, |(_, name)| name)
}
