//! The content settings of sites, as the relay has set them.
//!
//! Chrome keeps these settings over a restart, so the ones that were set must be stored to be
//! cleared later.

use shared_protocol::{PermissionName, PermissionRule};

use crate::interface::{Effect, RequestRef};

/// All names that can be set.
const ALL_NAMES: [PermissionName; 5] = [
    PermissionName::Geolocation,
    PermissionName::Notifications,
    PermissionName::Camera,
    PermissionName::Microphone,
    PermissionName::Clipboard,
];

/// The names whose settings are not the user's own.
#[derive(Debug, Default)]
pub(crate) struct Permissions(Vec<PermissionName>);

impl Permissions {
    /// Replaces all rules by these.
    pub(crate) fn replace<P>(
        &mut self,
        request: RequestRef,
        rules: Vec<PermissionRule<P>>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let changed =
            ALL_NAMES.into_iter().filter(|name| rules.iter().any(|rule| rule.name == *name));
        let clear = std::mem::replace(&mut self.0, changed.collect());
        effects.push(Effect::SetPermissions { request: Some(request), clear, rules });
    }

    /// Gives the user's own settings back.
    pub(crate) fn reset<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        let clear = std::mem::take(&mut self.0);
        if !clear.is_empty() {
            effects.push(Effect::SetPermissions { request: None, clear, rules: Vec::new() });
        }
    }

    pub(crate) fn changed(&self) -> Vec<PermissionName> {
        self.0.clone()
    }

    /// Takes over from an earlier worker. If that one left nothing, the browser may have been
    /// closed while rules were set, so all are cleared.
    pub(crate) fn restore<P>(
        &mut self,
        changed: Vec<PermissionName>,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.0 = changed;
        if self.0.is_empty() {
            let clear = ALL_NAMES.to_vec();
            effects.push(Effect::SetPermissions { request: None, clear, rules: Vec::new() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
