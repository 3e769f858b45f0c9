//! What pages may do while a client is here. The user's own settings come back when it leaves.

use serde::Deserialize;
use shared_protocol::{
    Extra, Feature, PermissionName, PermissionRule, PermissionSetting, Permissions, Understood,
};

use super::cookies::origin;
use super::on_target::params;
use super::requests::{Asker, Purpose, QUICK, Request};
use super::sessions::Seat;
use super::turn::Turn;
use super::wishes::Before;
use super::{ClientId, ConnectionId, Relay};
use crate::cdp::{Command, Error};
use crate::payload::{Payload, RelayMessage};

/// Shows that the extension can be told what sites may do.
type Proof = Understood<{ Feature::Permissions as u8 }>;

pub(crate) type Rule = PermissionRule<Payload>;

/// How many rules one client may make.
const MAX_RULES: usize = 1000;

#[derive(Deserialize)]
struct GrantPermissions {
    origin: Option<String>,
    permissions: Vec<String>,
}

#[derive(Deserialize)]
struct SetPermission {
    origin: Option<String>,
    permission: PermissionDescriptor,
    setting: String,
}

#[derive(Deserialize)]
struct PermissionDescriptor {
    name: String,
}

impl Relay {
    pub(super) fn permission_command(&mut self, seat: &Seat, command: &Command, turn: &mut Turn) {
        let asker = Asker::new(seat, command);
        if command.method == "Browser.resetPermissions" {
            let Some(client) = self.clients.get_mut(seat.client) else { return };
            let had_any = !std::mem::take(&mut client.permissions).is_empty();
            let connection = client.connection;
            return if had_any {
                self.apply_permissions(connection, Some(asker), Purpose::Forward, turn);
            } else {
                turn.effects.push(asker.reply(Ok(Payload::empty_object())));
            };
        }
        let proof: Result<Proof, Error> = self.require(seat, turn);
        let rules = proof.and_then(|_| rules(command));
        let Some(client) = self.clients.get_mut(seat.client) else { return };
        match rules {
            Ok(rules) if client.permissions.len() + rules.len() > MAX_RULES => {
                let error = Error::server(format!("no more than {MAX_RULES} permissions"));
                turn.effects.push(asker.reply(Err(error)));
            }
            Ok(rules) => {
                let replaced = replace(&mut client.permissions, &rules);
                let before = Before::Permissions { added: rules, replaced };
                let connection = client.connection;
                self.apply_permissions(connection, Some(asker), Purpose::Wish(before), turn);
            }
            Err(error) => turn.effects.push(asker.reply(Err(error))),
        }
    }

    /// The browser did not take some rules: those that they replaced count again.
    pub(super) fn take_permissions_back(
        &mut self,
        client: ClientId,
        added: &[Rule],
        replaced: Vec<Rule>,
        turn: &mut Turn,
    ) {
        let Some(state) = self.clients.get_mut(client) else { return };
        let permissions = &mut state.permissions;
        permissions.retain(|rule| !added.contains(rule));
        let is_open = |old: &Rule| !permissions.iter().any(|rule| is_about_the_same(rule, old));
        let again: Vec<Rule> = replaced.into_iter().filter(is_open).collect();
        permissions.extend(again);
        let connection = state.connection;
        // It may have taken some of them.
        self.apply_permissions(connection, None, Purpose::Forward, turn);
    }

    /// Tells the extension what all its clients want together.
    pub(super) fn apply_permissions(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        purpose: Purpose,
        turn: &mut Turn,
    ) {
        let Some(proof) = self.proof(connection, turn) else {
            // An older one may have taken the place of the one that understood.
            turn.effects.extend(asker.map(|asker| asker.reply(Ok(Payload::empty_object()))));
            return;
        };
        let rules = self.clients.all_of(connection).flat_map(|it| it.permissions.clone()).collect();
        let permissions = Permissions { rules, extra: Extra::default() };
        let deadline = Some(turn.now + QUICK);
        let request = Request { connection, session: None, asker, purpose, deadline, needs: None };
        let message = |id| RelayMessage::SetPermissions { id, permissions, proof };
        self.ask_extension(request, message, turn);
    }
}

fn rules(command: &Command) -> Result<Vec<Rule>, Error> {
    let rule = |name, origin, setting| Rule { name, origin, setting, extra: Extra::default() };
    if command.method == "Browser.grantPermissions" {
        let GrantPermissions { origin, permissions } = params(command)?;
        let origin = origin.map(|url| origin_of(&url)).transpose()?;
        let names: Vec<Option<PermissionName>> =
            permissions.iter().map(|name| setting_of(name)).collect::<Result<_, _>>()?;
        let allow = |name| rule(name, origin.clone(), PermissionSetting::Allow);
        return Ok(names.into_iter().flatten().map(allow).collect());
    }
    let SetPermission { origin, permission, setting } = params(command)?;
    let origin = origin.map(|url| origin_of(&url)).transpose()?;
    let setting = match setting.as_str() {
        "granted" => PermissionSetting::Allow,
        "denied" => PermissionSetting::Block,
        "prompt" => PermissionSetting::Ask,
        other => return Err(Error::invalid_params(format!("Unknown permission setting: {other}"))),
    };
    Ok(setting_of(&permission.name)?.map(|name| rule(name, origin, setting)).into_iter().collect())
}

/// Puts new rules in the place of those about the same, and gives the latter.
fn replace(rules: &mut Vec<Rule>, new: &[Rule]) -> Vec<Rule> {
    let is_replaced = |old: &mut Rule| new.iter().any(|new| is_about_the_same(new, old));
    let replaced = rules.extract_if(.., is_replaced).collect();
    rules.extend(new.iter().cloned());
    replaced
}

fn is_about_the_same(one: &Rule, other: &Rule) -> bool {
    (one.name, &one.origin) == (other.name, &other.origin)
}

/// Clients name an origin by any address in it.
fn origin_of(url: &str) -> Result<String, Error> {
    let opaque = || Error::new(-32602, "Permission can't be granted to opaque origins.");
    origin(url).map(str::to_ascii_lowercase).ok_or_else(opaque)
}

/// Chrome's content setting for a permission; `None` for what every page may do anyway.
fn setting_of(permission: &str) -> Result<Option<PermissionName>, Error> {
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

/// Permissions that Chrome has, and extensions have no setting for.
const UNREACHABLE: [&str; 36] = [
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
