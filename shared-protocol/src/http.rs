//! What the relay answers over HTTP about itself and its extensions.
//!
//! Field names are in the field already: extensions and scripts read them.

use serde::{Deserialize, Serialize};

use crate::ids::TargetId;

/// `GET /version`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The relay's version.
    pub version: String,
}

/// `GET /extension/status`: the extension that a client without a choice would get.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtensionStatus {
    /// Whether any extension is connected.
    pub connected: bool,
    /// How many tabs it controls.
    pub active_targets: usize,
    /// The browser's name as the extension says it.
    pub browser: Option<String>,
    /// The Chrome profile, if the extension tells.
    pub profile: Option<Profile>,
    /// The extension's own version.
    pub playwriter_version: Option<String>,
}

/// `GET /extensions/status`: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtensionsStatus {
    /// Oldest connection first.
    pub extensions: Vec<ExtensionEntry>,
}

/// One extension in [`ExtensionsStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionEntry {
    /// Names this connection; gone when it closes.
    pub extension_id: String,
    /// Names this installation across connections.
    pub stable_key: String,
    /// The browser's name as the extension says it.
    pub browser: Option<String>,
    /// The Chrome profile, if the extension tells.
    pub profile: Option<Profile>,
    /// How many tabs it controls.
    pub active_targets: usize,
    /// The extension's own version.
    pub playwriter_version: Option<String>,
}

/// A Chrome profile. The address is only there when the user turned it on in the extension.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// The signed-in user's address.
    pub email: String,
    /// The signed-in user's opaque id.
    pub id: String,
}

/// `GET /extension-status`: is there a page to drive?
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PagesStatus {
    /// Whether any extension is connected.
    pub connected: bool,
    /// The length of `pages`.
    pub page_count: usize,
    /// Every controlled page.
    pub pages: Vec<PageEntry>,
}

/// One page in [`PagesStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageEntry {
    /// Chrome's id for the page.
    pub target_id: TargetId,
    /// What it shows.
    pub url: String,
    /// What its tab says.
    pub title: String,
}
