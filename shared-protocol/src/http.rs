//! The relay's answers over HTTP about itself and its extensions.
//!
//! Field names cannot change: existing extensions and scripts read them.

use serde::{Deserialize, Serialize};

use crate::ids::TargetId;

/// The name of this project's relays, by which they are told from other programs on their port.
pub const RELAY_NAME: &str = "playwriter-rs";

/// `GET /version`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The relay's version.
    pub version: String,
    /// [`RELAY_NAME`]; other projects' relays have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The time for which it has listened at its port, in milliseconds; given together with a proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<u32>,
    /// The proof that it has the secret of the program that asked with `?nonce=`; older relays have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

/// `GET /relay/status`: the relay itself, and who drives tabs with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayStatus {
    /// True if tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// True if a client that finds no tab gets one.
    pub auto_enable: bool,
    /// All connected clients.
    pub clients: Vec<ClientEntry>,
    /// The settings that are fixed at its start; the first relays did not tell them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<RelaySettings>,
    /// The browsers that were not let in lately, in words for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// The boundary that the system enforces around agents' code; the first relays did not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxStatus>,
    /// The users who connect; told to the user of the relay alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<UsersStatus>,
}

/// The boundary around agents' code, in [`RelayStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxStatus {
    /// `auto`, or `required`, with which code is not run unless the boundary is whole.
    pub mode: String,
    /// The servers that agents' code may connect to by itself: `none`, `web` or `all`.
    pub agents_network: String,
    /// True if everything is enforced for which `required` asks.
    pub is_whole: bool,
    /// The rights that the system takes from the code, in words for the user.
    pub enforced: Vec<String>,
    /// The rights that it cannot take, and the reasons.
    pub missing: Vec<String>,
}

/// The users who connect to a relay, in [`RelayStatus`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsersStatus {
    /// The user of the relay.
    pub uid: u32,
    /// The number of connections of this machine that were looked up, each once.
    pub lookups: u64,
    /// The number of connections from Windows, around the WSL in which the relay runs.
    pub from_windows: u64,
    /// The number of connections whose user the system did not tell.
    pub unknown: u64,
    /// Other users of this machine who were refused.
    pub refused: Vec<RefusedUser>,
    /// The reason why the relay does not listen on `[::1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_refused: Option<String>,
}

/// Another user of this machine, in [`UsersStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedUser {
    /// The user's number.
    pub uid: u32,
    /// The number of this user's requests that were refused.
    pub times: u64,
}

/// The settings with which a relay was started, in [`RelayStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelaySettings {
    /// The address at which it listens beside 127.0.0.1.
    pub host: String,
    /// Other names by which programs may call it.
    pub allowed_hosts: Vec<String>,
    /// True if clients may bring tabs to the front.
    pub allow_focus: bool,
    /// True if clients see and clear the cookies of the whole profile.
    pub whole_profile: bool,
    /// True if programs must show a token that the user chose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_token: bool,
    /// True if CDP clients must show a token that is derived from the user's secret, unless the user
    /// chose one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_paired: bool,
    /// Users of this machine who are served like the relay's own, by number, or `all`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_users: Vec<String>,
    /// True if only extensions that prove themselves are let in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pairing_required: bool,
    /// The permissions that agents may give to pages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents_may: Vec<String>,
}

/// A client in [`RelayStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientEntry {
    /// Names this connection in the logs.
    pub client_id: String,
    /// The name it chose in its address.
    pub name: Option<String>,
    /// The extension that it drives, by the id of its connection.
    pub extension_id: String,
    /// True if the tabs that it opens go to a window of their own.
    pub separate_window: bool,
}

/// `POST /relay/window-mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowModeChange {
    /// True if tabs that clients open from now on go to a window of their own.
    pub separate_window: bool,
}

/// `GET /extension/status`: the extension that a client without a choice would get.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtensionStatus {
    /// True if any extension is connected.
    pub connected: bool,
    /// The number of tabs that it controls.
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
    /// The extensions, the oldest connection first.
    pub extensions: Vec<ExtensionEntry>,
}

/// An extension in [`ExtensionsStatus`].
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
    /// The number of tabs that it controls.
    pub active_targets: usize,
    /// The extension's own version.
    pub playwriter_version: Option<String>,
    /// The requests that it cannot serve, and which side to update, in words for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// True if it has proven to be this user's; the first relays did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<bool>,
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
    /// True if any extension is connected.
    pub connected: bool,
    /// The length of `pages`.
    pub page_count: usize,
    /// All controlled pages.
    pub pages: Vec<PageEntry>,
}

/// A page in [`PagesStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageEntry {
    /// Chrome's id for the page.
    pub target_id: TargetId,
    /// The address that it shows.
    pub url: String,
    /// The title of its tab.
    pub title: String,
}
