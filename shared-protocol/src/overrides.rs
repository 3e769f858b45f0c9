//! The settings of a target that clients override: one table, which says how the values of several
//! client sessions become one, and which command resets each setting.
//!
//! The relay resets a setting when the last session that overrides it has ended. The extension's worker
//! resets all settings of all its tabs when a relay was killed, because no client is left that could.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::payload::Payload;

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
    /// The parameters that reset the setting.
    reset: Fields,
    cleanup: Cleanup,
}

/// How the values of several sessions become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The last value counts.
    Latest,
    /// The setting is on while any session wants it.
    Any,
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
    /// All that Chrome has.
    names: &'static [&'static str],
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

type Fields = &'static [(&'static str, Value)];

/// A JSON value, small enough for a table.
#[derive(Debug)]
enum Value {
    Bool(bool),
    Number(i32),
    Text(&'static str),
    EmptyList,
    EmptyObject,
}

/// The parameters of a command that resets something.
#[derive(Debug)]
pub struct ResetParams<'a> {
    fields: Fields,
    member: Option<(&'static str, &'a str)>,
}

use Value::{Bool, EmptyList, EmptyObject, Number, Text};

const OFF: Fields = &[("enabled", Bool(false))];

const ONLINE: Fields = &[
    ("offline", Bool(false)),
    ("latency", Number(0)),
    ("downloadThroughput", Number(-1)),
    ("uploadThroughput", Number(-1)),
];

static SENSORS: Members = Members {
    parameter: "type",
    names: &[
        "absolute-orientation",
        "accelerometer",
        "ambient-light",
        "gravity",
        "gyroscope",
        "linear-acceleration",
        "magnetometer",
        "relative-orientation",
    ],
};

static PRESSURE_SOURCES: Members = Members { parameter: "source", names: &["cpu"] };

/// All settings. Cleanup goes through them in this order: first what would hold a page up, then what
/// would make it look or load differently to its user.
pub static OVERRIDES: [Override; 54] = [
    any("Input.setIgnoreInputEvents", &[("ignore", Bool(false))]),
    any("Input.setInterceptDrags", OFF),
    latest("Emulation.setScriptExecutionDisabled", &[("value", Bool(false))]),
    latest("Page.setWebLifecycleState", &[("state", Text("active"))]),
    // There is no way back to real time; at least time passes. A tab that never had virtual time would
    // get it.
    latest("Emulation.setVirtualTimePolicy", &[("policy", Text("advance"))]).kept_by_cleanup(),
    any("Emulation.setFocusEmulationEnabled", OFF),
    latest("Emulation.setEmulatedMedia", &[("media", Text("")), ("features", EmptyList)]),
    latest("Emulation.setEmulatedVisionDeficiency", &[("type", Text("none"))]),
    latest("Emulation.setAutoDarkModeOverride", &[]),
    latest("Emulation.setDefaultBackgroundColorOverride", &[]),
    cleared_by("Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"),
    latest("Emulation.setPageScaleFactor", &[("pageScaleFactor", Number(1))]),
    latest("Emulation.setScrollbarsHidden", &[("hidden", Bool(false))]),
    latest("Emulation.setTouchEmulationEnabled", OFF),
    latest("Emulation.setEmitTouchEventsForMouse", OFF),
    cleared_by("Emulation.setGeolocationOverride", "Emulation.clearGeolocationOverride"),
    cleared_by("Emulation.setIdleOverride", "Emulation.clearIdleOverride"),
    latest("Emulation.setUserAgentOverride", &[("userAgent", Text(""))]),
    latest("Emulation.setTimezoneOverride", &[("timezoneId", Text(""))]),
    latest("Emulation.setLocaleOverride", &[]),
    latest("Emulation.setCPUThrottlingRate", &[("rate", Number(1))]),
    latest("Emulation.setDocumentCookieDisabled", &[("disabled", Bool(false))]),
    cleared_by("Emulation.setDevicePostureOverride", "Emulation.clearDevicePostureOverride"),
    cleared_by("Emulation.setDisplayFeaturesOverride", "Emulation.clearDisplayFeaturesOverride"),
    cleared_by(
        "DeviceOrientation.setDeviceOrientationOverride",
        "DeviceOrientation.clearDeviceOrientationOverride",
    ),
    latest("Emulation.setEmulatedOSTextScale", &[]),
    latest("Emulation.setCPUPerformanceOverride", &[]),
    latest("Emulation.setAutomationOverride", OFF),
    latest("Emulation.setDisabledImageTypes", &[("imageTypes", EmptyList)]),
    latest("Emulation.setNavigatorOverrides", &[("platform", Text(""))]),
    latest("Emulation.setSafeAreaInsetsOverride", &[("insets", EmptyObject)]),
    latest("Emulation.setSmallViewportHeightDifferenceOverride", &[("difference", Number(0))]),
    latest("Emulation.setDataSaverOverride", &[]),
    latest("Emulation.setVirtualKeyboardGeometryOverride", &[]),
    one_of("Emulation.setSensorOverrideEnabled", &SENSORS),
    one_of("Emulation.setPressureSourceOverrideEnabled", &PRESSURE_SOURCES),
    latest("Page.setPrerenderingAllowed", &[("isAllowed", Bool(true))]),
    latest("Page.setRPHRegistrationMode", &[("mode", Text("none"))]),
    latest("Page.setSPCTransactionMode", &[("mode", Text("none"))]),
    any("Page.setAdBlockingEnabled", OFF),
    any("Page.setBypassCSP", OFF),
    any("Page.setInterceptFileChooserDialog", OFF),
    latest("Network.emulateNetworkConditions", ONLINE).reset_by_domain(),
    latest("Network.overrideNetworkState", ONLINE).reset_by_domain(),
    latest(
        "Network.emulateNetworkConditionsByRule",
        &[("offline", Bool(false)), ("matchedNetworkConditions", EmptyList)],
    )
    .reset_by_domain(),
    latest("Debugger.setPauseOnExceptions", &[("state", Text("none"))]).reset_by_domain(),
    latest("Debugger.setBreakpointsActive", &[("active", Bool(true))]).reset_by_domain(),
    latest("Overlay.setInspectMode", &[("mode", Text("none"))]).reset_by_domain(),
    any("Debugger.setSkipAllPauses", &[("skip", Bool(false))]).reset_by_domain(),
    any("Network.setAttachDebugStack", OFF).reset_by_domain(),
    any("Network.setCacheDisabled", &[("cacheDisabled", Bool(false))]).reset_by_domain(),
    any("Network.setBypassServiceWorker", &[("bypass", Bool(false))]).reset_by_domain(),
    merged("Network.setExtraHTTPHeaders", Combine::Headers, &[("headers", EmptyObject)]),
    merged("Network.setBlockedURLs", Combine::Blocked, &[("urls", EmptyList)]).reset_by_domain(),
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
static CLEANUP_FIRST: [(&str, Fields); 4] = [
    ("Fetch.disable", &[]),
    ("Debugger.disable", &[]),
    (
        "Target.setAutoAttach",
        &[
            ("autoAttach", Bool(false)),
            ("waitForDebuggerOnStart", Bool(false)),
            ("flatten", Bool(true)),
        ],
    ),
    ("Page.stopScreencast", &[]),
];

/// The domains that cleanup switches off in the end. `Network` forgets headers, blocked addresses and
/// the speed, `Runtime` the bindings. `Page` stays on, because the extension follows its events.
static CLEANUP_LAST: [&str; 4] =
    ["Network.disable", "WebAuthn.disable", "Overlay.disable", "Runtime.disable"];

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

    /// Returns the parameters that reset the setting, or that of one of its members.
    #[must_use]
    pub fn reset_params<'a>(&self, member: Option<&'a str>) -> ResetParams<'a> {
        let member = self.members.zip(member).map(|(all, member)| (all.parameter, member));
        ResetParams { fields: self.reset, member }
    }

    /// Returns the parameter that switches the setting on, if it is on while any session wants it.
    #[must_use]
    pub fn flag(&self) -> Option<&'static str> {
        let (name, _) = self.reset.first()?;
        (self.combine == Combine::Any).then_some(*name)
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

const fn merged(method: &'static str, combine: Combine, reset: Fields) -> Override {
    let cleanup = Cleanup::Command;
    Override { method, combine, members: None, cleared_by: None, reset, cleanup }
}

const fn latest(method: &'static str, reset: Fields) -> Override {
    merged(method, Combine::Latest, reset)
}

/// The first parameter of the reset switches the setting on.
const fn any(method: &'static str, reset: Fields) -> Override {
    merged(method, Combine::Any, reset)
}

const fn cleared_by(method: &'static str, clear: &'static str) -> Override {
    Override { cleared_by: Some(clear), ..latest(method, &[]) }
}

const fn one_of(method: &'static str, members: &'static Members) -> Override {
    Override { members: Some(members), ..any(method, OFF) }
}

/// Returns a command's present name.
#[must_use]
pub fn canonical(method: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == method).map_or(method, |(_, name)| name)
}

/// Returns the commands that give a tab back as it was before clients came, but for the scripts that its
/// new documents run.
#[must_use]
pub fn cleanup_commands<P: Payload>() -> Vec<(&'static str, Option<P>)> {
    let write = |fields, member| P::write(&ResetParams { fields, member }).ok();
    let mut commands = Vec::new();
    for (method, fields) in &CLEANUP_FIRST {
        commands.push((*method, write(*fields, None)));
    }
    for setting in OVERRIDES.iter().filter(|it| it.cleanup == Cleanup::Command) {
        let Some(members) = setting.members else {
            commands.push((setting.reset_method(), write(setting.reset, None)));
            continue;
        };
        for name in members.names {
            let member = Some((members.parameter, *name));
            commands.push((setting.reset_method(), write(setting.reset, member)));
        }
    }
    for method in CLEANUP_LAST {
        commands.push((method, write(&[], None)));
    }
    commands
}

impl Serialize for ResetParams<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.fields {
            map.serialize_entry(name, value)?;
        }
        if let Some((name, member)) = self.member {
            map.serialize_entry(name, member)?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_i32(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::EmptyList => serializer.collect_seq([(); 0]),
            Self::EmptyObject => ResetParams { fields: &[], member: None }.serialize(serializer),
        }
    }
}
