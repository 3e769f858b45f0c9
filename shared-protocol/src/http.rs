//! What the relay answers over HTTP about itself and its extensions.
//!
//! Field names are in the field already: extensions and scripts read them.

use serde::{Deserialize, Serialize};

use crate::ids::TargetId;

/// How this project's relays call themselves, so that they are not taken for others on their port.
pub const RELAY_NAME: &str = "playwriter-rs";

/// `GET /version`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The relay's version.
    pub version: String,
    /// [`RELAY_NAME`]; other projects' relays have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For how many milliseconds it has listened at its port, with a proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<u32>,
    /// That it has the secret of whoever asked with `?nonce=`; older relays have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

/// `GET /relay/status`: the relay itself, and who drives tabs with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelayStatus {
    /// Whether tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// Whether a client that finds no tab gets one.
    pub auto_enable: bool,
    /// Everybody who is connected.
    pub clients: Vec<ClientEntry>,
    /// What it was started with for good; the first relays did not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<RelaySettings>,
    /// Which browsers were not let in lately, in words for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// What the system keeps agents' code from; the first relays did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxStatus>,
    /// Who connects; told to the user of the relay alone.
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
    /// Whether all that `required` asks for is enforced.
    pub is_whole: bool,
    /// What the system keeps code from, in words for the user.
    pub enforced: Vec<String>,
    /// What it cannot, and why.
    pub missing: Vec<String>,
}

/// Who connects to a relay, in [`RelayStatus`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UsersStatus {
    /// The user of the relay.
    pub uid: u32,
    /// How many connections of this machine were looked up, each once.
    pub lookups: u64,
    /// How many came from Windows, around the WSL in which the relay runs.
    pub from_windows: u64,
    /// Of how many the system did not tell whose they are.
    pub unknown: u64,
    /// Other users of this machine who were refused.
    pub refused: Vec<RefusedUser>,
    /// Why the relay does not listen on `[::1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6_refused: Option<String>,
}

/// Another user of this machine, in [`UsersStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedUser {
    /// The user's number.
    pub uid: u32,
    /// How many requests of theirs were refused.
    pub times: u64,
}

/// What a relay was started with, in [`RelayStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelaySettings {
    /// Where it listens beside 127.0.0.1.
    pub host: String,
    /// Other names by which programs may call it.
    pub allowed_hosts: Vec<String>,
    /// Whether clients may bring tabs to the front.
    pub allow_focus: bool,
    /// Whether clients see and clear the cookies of the whole profile.
    pub whole_profile: bool,
    /// Whether programs must show a token that the user chose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_token: bool,
    /// Whether CDP clients must show a token that is derived from the user's secret, unless the user
    /// chose one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_paired: bool,
    /// Users of this machine who are served like the relay's own, by number, or `all`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_users: Vec<String>,
    /// Whether only extensions that prove themselves are let in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pairing_required: bool,
    /// What agents may let pages use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents_may: Vec<String>,
}

/// One client in [`RelayStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientEntry {
    /// Names this connection in the logs.
    pub client_id: String,
    /// The name it chose in its address.
    pub name: Option<String>,
    /// The extension that it drives, by the id of its connection.
    pub extension_id: String,
    /// Whether the tabs that it opens go to a window of their own.
    pub separate_window: bool,
}

/// `POST /relay/window-mode`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowModeChange {
    /// Whether tabs that clients open from now on go to a window of their own.
    pub separate_window: bool,
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
    /// What was asked for and cannot be had, and which side to update, in words for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether it has proven to be this user's; the first relays did not ask.
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
