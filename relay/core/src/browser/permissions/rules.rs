//! The rules that commands ask for, in the words of content settings.

use serde::Deserialize;
use shared_protocol::{Extra, PermissionName, PermissionSetting};

use crate::browser::cookies::key::origin;
use crate::cdp::payload::PermissionRule as Rule;
use crate::cdp::{Command, Error};
use crate::policy::AgentsMay;

/// Permissions that Chrome has, and extensions have no setting for.
pub(super) const UNREACHABLE: [&str; 36] = [
    "ar",
    "automaticFullscreen",
    "backgroundFetch",
    "backgroundSync",
    "background-fetch",
    "background-sync",
    "accelerometer",
    "cameraPanTiltZoom",
    "capturedSurfaceControl",
    "displayCapture",
    "durableStorage",
    "gyroscope",
    "handTracking",
    "idleDetection",
    "idle-detection",
    "keyboardLock",
    "localFonts",
    "localNetwork",
    "localNetworkAccess",
    "loopbackNetwork",
    "local-fonts",
    "magnetometer",
    "midi",
    "midiSysex",
    "nfc",
    "paymentHandler",
    "payment-handler",
    "periodicBackgroundSync",
    "pointerLock",
    "protectedMediaIdentifier",
    "sensors",
    "smartCard",
    "storageAccess",
    "storage-access",
    "topLevelStorageAccess",
    "wakeLockScreen",
];

#[derive(Deserialize)]
pub(super) struct GrantPermissions {
    origin: Option<String>,
    permissions: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct SetPermission {
    origin: Option<String>,
    permission: PermissionDescriptor,
    setting: String,
}

#[derive(Deserialize)]
pub(super) struct PermissionDescriptor {
    name: String,
}

pub(super) fn rules(command: &Command) -> Result<Vec<Rule>, Error> {
    let rule = |name, origin, setting| Rule { name, origin, setting, extra: Extra::default() };
    if command.method == "Browser.grantPermissions" {
        let GrantPermissions { origin, permissions } = command.read_params()?;
        let origin = origin.map(|url| origin_of(&url)).transpose()?;
        let names: Vec<Option<PermissionName>> =
            permissions.iter().map(|name| setting_of(name)).collect::<Result<_, _>>()?;
        let allow = |name| rule(name, origin.clone(), PermissionSetting::Allow);
        return Ok(names.into_iter().flatten().map(allow).collect());
    }
    let SetPermission { origin, permission, setting } = command.read_params()?;
    let origin = origin.map(|url| origin_of(&url)).transpose()?;
    let setting = match setting.as_str() {
        "granted" => PermissionSetting::Allow,
        "denied" => PermissionSetting::Block,
        "prompt" => PermissionSetting::Ask,
        other => return Err(Error::invalid_params(format!("Unknown permission setting: {other}"))),
    };
    Ok(setting_of(&permission.name)?.map(|name| rule(name, origin, setting)).into_iter().collect())
}

/// Replaces rules about the same setting and site by new ones, and returns the replaced rules.
pub(super) fn replace(rules: &mut Vec<Rule>, new: &[Rule]) -> Vec<Rule> {
    let is_replaced = |old: &mut Rule| new.iter().any(|new| concerns_the_same(new, old));
    let replaced = rules.extract_if(.., is_replaced).collect();
    rules.extend(new.iter().cloned());
    replaced
}

pub(super) fn concerns_the_same(one: &Rule, other: &Rule) -> bool {
    (one.name, &one.origin) == (other.name, &other.origin)
}

/// Returns the origin of an address. Clients name an origin by any address in it.
pub(super) fn origin_of(url: &str) -> Result<String, Error> {
    let opaque = || Error::new(-32602, "Permission can't be granted to opaque origins.");
    origin(url).map(str::to_ascii_lowercase).ok_or_else(opaque)
}

/// Returns Chrome's content setting for a permission; `None` for permissions that every page has
/// anyway.
pub(super) fn setting_of(permission: &str) -> Result<Option<PermissionName>, Error> {
    match permission {
        "geolocation" => Ok(Some(PermissionName::Geolocation)),
        "notifications" => Ok(Some(PermissionName::Notifications)),
        "videoCapture" | "camera" => Ok(Some(PermissionName::Camera)),
        "audioCapture" | "microphone" => Ok(Some(PermissionName::Microphone)),
        "clipboardReadWrite" | "clipboard-read" => Ok(Some(PermissionName::Clipboard)),
        "clipboardSanitizedWrite" | "clipboard-write" => Ok(None),
        known if UNREACHABLE.contains(&known) => Err(Error::server(format!(
            "the permission {known} cannot be changed by an extension: set it in the browser"
        ))),
        other => Err(Error::new(-32602, format!("Unknown permission type: {other}"))),
    }
}

pub(super) fn web_origin(url: &str) -> Option<String> {
    let origin = origin(url)?.to_ascii_lowercase();
    (origin.starts_with("http://") || origin.starts_with("https://")).then_some(origin)
}

/// Returns the option that lets agents make such a rule, if it is needed and missing.
pub(super) fn missing_consent(rule: &Rule, may: AgentsMay) -> Option<&'static str> {
    if rule.setting != PermissionSetting::Allow {
        return None;
    }
    match rule.name {
        PermissionName::Camera => (!may.camera).then_some("camera"),
        PermissionName::Microphone => (!may.microphone).then_some("microphone"),
        PermissionName::Clipboard => (!may.clipboard_read).then_some("clipboard-read"),
        PermissionName::Geolocation | PermissionName::Notifications => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_become_content_settings_or_a_reason_why_not() {
        assert_eq!(setting_of("videoCapture"), Ok(Some(PermissionName::Camera)));
        assert_eq!(setting_of("clipboardSanitizedWrite"), Ok(None));
        assert_eq!(setting_of("midi").unwrap_err().code, -32000);
        assert_eq!(setting_of("nonsense").unwrap_err().code, -32602);
    }
}
