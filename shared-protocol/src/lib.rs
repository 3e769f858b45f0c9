//! The wire between the Playwriter extension and its relay.
//!
//! Both ends compile against these types, so that a change of the wire does not build on one side
//! only. The crate does no I/O, knows no clock and no transport, and never looks inside a CDP
//! payload: every message is generic over a [`Payload`] `P`, which is raw JSON text in the relay
//! and a JavaScript value in the extension's worker.
//!
//! | direction | type |
//! | --- | --- |
//! | extension → relay, in the query of `/extension` | [`ExtensionHello`] |
//! | both, before all else, on the socket of an extension that has a key | [`pairing`] |
//! | relay → extension, text frames | [`RelayMessage`] |
//! | extension → relay, text frames | [`ExtensionMessage`] |
//! | relay → extension, when it closes the socket | [`CloseCode`] |
//! | relay → anyone, HTTP | [`http`] |
//!
//! Extensions in the field update slowly. Nothing here may become mandatory that an older peer does
//! not send, and nothing may change its meaning. Fields that this version does not know are kept in
//! [`Extra`]; methods that it does not know arrive as `Unknown`. What not every extension understands
//! is a [`Feature`], and can only be sent to one that does.

#[macro_use]
mod object;

pub mod cdp_events;
mod close;
mod command;
mod cookies;
mod downloads;
mod event;
mod features;
mod frame;
mod hello;
pub mod http;
mod ids;
pub mod overrides;
pub mod pairing;
mod payload;
mod permissions;
mod target;
mod windows;

pub use close::CloseCode;
pub use command::{CdpCommand, InitialTab, Notice, RelayMessage, WindowMode};
pub use cookies::{CookieAnswers, CookieCalls, CookieFunction, MAX_COOKIE_CALLS};
pub use downloads::{DownloadId, DownloadQuery, FoundDownload};
pub use event::{CdpEvent, ExtensionMessage, HelloMessage, LogLevel, LogLine, ParseFailure};
pub use features::{Feature, Features, Understood};
pub use hello::{ExtensionHello, StableKey};
pub use ids::{ExtensionId, RequestId, SessionId, TabId, TargetId};
pub use object::Extra;
pub use payload::{Payload, Unreadable};
pub use permissions::{PermissionName, PermissionRule, PermissionSetting, Permissions};
pub use target::{AttachedToTarget, DetachedFromTarget, TargetInfo};
pub use windows::{BrowserWindow, TabQuery, WindowChange, WindowQuery, WindowState};

/// The port at which the relay listens unless told otherwise.
pub const DEFAULT_PORT: u16 = 19988;
