//! The permissions of sites, as `chrome.contentSettings` can express them.

use serde::{Deserialize, Serialize};

wire_object! {
    /// Parameters of `setPermissions`: all the rules there are to be. Those of an earlier
    /// `setPermissions` go, so that none at all leaves the user's own.
    pub struct Permissions {
        /// Set one after the other. A rule for one site goes before one for every site.
        required "rules" rules: Vec<PermissionRule<P>>,
    }
}

wire_object! {
    /// A permission of one site, or of every site.
    pub struct PermissionRule {
        /// The thing to do.
        required "name" name: PermissionName,
        /// `scheme://host[:port]`; absent for every site.
        optional "origin" origin: Option<String>,
        /// The setting: allowed, denied, or left to the user.
        required "setting" setting: PermissionSetting,
    }
}

/// The settings of `chrome.contentSettings` that CDP has a permission for. An extension that cannot
/// read a further name says that it does not know the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum PermissionName {
    Geolocation,
    Notifications,
    Camera,
    Microphone,
    Clipboard,
}

/// The setting of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionSetting {
    /// Without asking.
    Allow,
    /// Never.
    Block,
    /// The site may, if the user agrees when asked.
    Ask,
}
