//! What clients that have gone may have left behind in a tab, and how it is undone.

use serde::{Serialize, Serializer};

use crate::payload::Payload;

/// The parameters of a command, small enough for a table.
struct Params(&'static [(&'static str, Value)]);

enum Value {
    Bool(bool),
    Number(i32),
    Text(&'static str),
    EmptyList,
    EmptyObject,
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_i32(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::EmptyList => serializer.collect_seq([(); 0]),
            Self::EmptyObject => Params(&[]).serialize(serializer),
        }
    }
}

const OFF: &[(&str, Value)] = &[("enabled", Value::Bool(false))];

/// First what would hold the page up, then what would make it look or load differently to its user.
/// A domain that is switched off forgets what it was told: `Network` headers, blocked addresses and
/// the speed, `Runtime` the bindings. `Page` stays on, because the extension follows its events.
static COMMANDS: [(&str, &[(&str, Value)]); 31] = [
    ("Fetch.disable", &[]),
    ("Debugger.disable", &[]),
    (
        "Target.setAutoAttach",
        &[
            ("autoAttach", Value::Bool(false)),
            ("waitForDebuggerOnStart", Value::Bool(false)),
            ("flatten", Value::Bool(true)),
        ],
    ),
    ("Page.stopScreencast", &[]),
    ("Input.setIgnoreInputEvents", &[("ignore", Value::Bool(false))]),
    ("Input.setInterceptDrags", OFF),
    ("Emulation.setScriptExecutionDisabled", &[("value", Value::Bool(false))]),
    ("Emulation.setFocusEmulationEnabled", OFF),
    ("Emulation.setEmulatedMedia", &[("media", Value::Text("")), ("features", Value::EmptyList)]),
    ("Emulation.setEmulatedVisionDeficiency", &[("type", Value::Text("none"))]),
    ("Emulation.setAutoDarkModeOverride", &[]),
    ("Emulation.setDefaultBackgroundColorOverride", &[]),
    ("Emulation.clearDeviceMetricsOverride", &[]),
    ("Emulation.setPageScaleFactor", &[("pageScaleFactor", Value::Number(1))]),
    ("Emulation.setScrollbarsHidden", &[("hidden", Value::Bool(false))]),
    ("Emulation.setTouchEmulationEnabled", OFF),
    ("Emulation.setEmitTouchEventsForMouse", OFF),
    ("Emulation.clearGeolocationOverride", &[]),
    ("Emulation.clearIdleOverride", &[]),
    ("Emulation.setUserAgentOverride", &[("userAgent", Value::Text(""))]),
    ("Emulation.setTimezoneOverride", &[("timezoneId", Value::Text(""))]),
    ("Emulation.setLocaleOverride", &[]),
    ("Emulation.setCPUThrottlingRate", &[("rate", Value::Number(1))]),
    ("Emulation.setDocumentCookieDisabled", &[("disabled", Value::Bool(false))]),
    ("Network.setExtraHTTPHeaders", &[("headers", Value::EmptyObject)]),
    ("Network.disable", &[]),
    ("WebAuthn.disable", &[]),
    ("Overlay.disable", &[]),
    ("Runtime.disable", &[]),
    ("Page.setInterceptFileChooserDialog", OFF),
    ("Page.setBypassCSP", OFF),
];

/// The commands that give a tab back as it was before clients came, but for the scripts that its new
/// documents run.
pub fn reset_commands<P: Payload>() -> impl Iterator<Item = (&'static str, Option<P>)> {
    COMMANDS.iter().map(|(method, params)| (*method, P::write(&Params(params)).ok()))
}
