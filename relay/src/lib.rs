//! The relay: makes the tabs that a person put under control look like a whole browser.
//!
//! A Chrome extension connects on one side and carries the tabs' DevTools protocol; any CDP client
//! connects on the other and sees a browser endpoint. The relay never starts or owns the browser
//! it serves, and it never looks into a payload that it only passes on.
//!
//! [`state`] is the whole relay as a pure machine; [`server`] is sockets and a clock around it.

pub mod browser;
pub mod browser_version;
pub mod cdp;
pub mod client;
pub mod log;
pub mod payload;
pub mod server;
pub mod state;

/// The id that the `key` in our extension's manifest gives it.
pub const EXTENSION_ID: &str = "joeomfljfbehbofidokmedgkaibdmpkp";

/// This relay's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
