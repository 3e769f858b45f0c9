//! What a client that has gone may have left behind in a tab, and how it is undone.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::payload::Payload;

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Enabled {
    enabled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AutoAttach {
    auto_attach: bool,
    wait_for_debugger_on_start: bool,
    flatten: bool,
}

#[derive(Serialize)]
struct EmulatedMedia {
    media: &'static str,
    features: [&'static str; 0],
}

#[derive(Serialize)]
struct Headers {
    headers: BTreeMap<String, String>,
}

/// The commands that give a tab back as it was before a client came: first what would hold the page
/// up, then what would make it look or load differently to its user.
#[must_use]
pub fn reset_commands<P: Payload>() -> Vec<(&'static str, Option<P>)> {
    fn command<P: Payload>(
        method: &'static str,
        params: &impl Serialize,
    ) -> (&'static str, Option<P>) {
        (method, P::write(params).ok())
    }
    let off = Enabled { enabled: false };
    let no_children =
        AutoAttach { auto_attach: false, wait_for_debugger_on_start: false, flatten: true };
    vec![
        command("Fetch.disable", &Nothing {}),
        command("Target.setAutoAttach", &no_children),
        command("Page.stopScreencast", &Nothing {}),
        command("Emulation.setFocusEmulationEnabled", &off),
        command("Emulation.setEmulatedMedia", &EmulatedMedia { media: "", features: [] }),
        command("Emulation.clearDeviceMetricsOverride", &Nothing {}),
        command("Emulation.setTouchEmulationEnabled", &off),
        command("Emulation.clearGeolocationOverride", &Nothing {}),
        command("Network.setExtraHTTPHeaders", &Headers { headers: BTreeMap::new() }),
        command("Page.setInterceptFileChooserDialog", &off),
        command("Page.setBypassCSP", &off),
    ]
}
