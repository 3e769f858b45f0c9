//! The relay: makes the tabs that a person put under control look like a whole browser.
//!
//! A Chrome extension connects on one side and carries the tabs' DevTools protocol; any CDP client
//! connects on the other and sees a browser endpoint. The relay never starts or owns the browser
//! it serves, and it never looks into a payload that it only passes on.
//!
//! [`relay_core`] is the whole relay as a pure machine; [`server`] is sockets and a clock around it.

pub mod agents;
pub mod background;
pub mod boundary;
pub mod browser;
pub mod bundled;
pub mod client;
mod event_loop;
pub mod log;
pub mod mcp;
mod relay_file;
pub mod server;
mod start_error;
mod system;
mod trust;

pub use background::{
    ConnectOptions, ConnectedExtension, Connection, PersistentRelay, PersistentRelayOptions,
    RelayServerError, StopOptions, UNPROVEN, WaitOptions, cdp_url, choose_window_mode,
    connect_to_playwriter, ensure_persistent_relay, how_to_start, stop_relay, version_of_ours,
    wait_for_extension,
};
pub use server::{Logger, RelayEvent, RelayServer, RelayServerOptions, start_relay_server};
pub use shared_protocol::LogLevel;
pub use system::descriptors;
pub use trust::pairing;
pub use trust::secret::{SecretError, tokens_of_user};

/// The id that the `key` in our extension's manifest gives it.
pub const EXTENSION_ID: &str = "joeomfljfbehbofidokmedgkaibdmpkp";

/// This relay's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
