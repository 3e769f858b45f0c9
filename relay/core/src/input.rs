//! What happened outside.

use std::collections::BTreeMap;
use std::path::PathBuf;

use shared_protocol::{ExtensionHello, RequestId, TargetId};

use crate::cdp::payload::ExtensionMessage;
use crate::cdp::{Command, Error};
use crate::confinement::Confinement;
use crate::ids::{ClientId, ConnectionId};

/// What happened outside.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input {
    ExtensionConnected {
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        /// Whether it has shown that it has a key of this user's.
        proven: bool,
    },
    ExtensionSent {
        connection: ConnectionId,
        message: ExtensionMessage,
    },
    ExtensionDisconnected {
        connection: ConnectionId,
    },
    ClientConnected {
        client: ClientId,
        hello: ClientHello,
    },
    ClientSent {
        client: ClientId,
        command: Command,
    },
    /// The text was no command; the error is what Chrome would answer.
    ClientSentGarbage {
        client: ClientId,
        error: Error,
    },
    ClientDisconnected {
        client: ClientId,
    },
    /// What came of [`CopyDownload`](crate::Effect::CopyDownload).
    DownloadCopied {
        connection: ConnectionId,
        guid: String,
        /// For each place where the file was wanted, where it is.
        outcome: Result<BTreeMap<PathBuf, PathBuf>, String>,
    },
    /// [`SendToExtension`](crate::Effect::SendToExtension) found no room for a command.
    CommandRefused {
        connection: ConnectionId,
        id: RequestId,
    },
    /// The user wants another window mode.
    WindowModeChosen {
        separate_window: bool,
    },
    /// The relay is about to end, and its clients with it.
    Closing,
    DeadlinePassed,
}

/// What a client says of itself when it connects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The name that it chose in its URL.
    pub name: Option<String>,
    /// The extension that it names, by connection or by stable key.
    pub extension: Option<String>,
    /// The one page that it wants to talk to, instead of the browser.
    pub page: Option<TargetId>,
    /// Whether its tabs go to a window of their own; as the relay has it when it does not say.
    pub separate_window: Option<bool>,
    /// The files that it may have the browser open; all when `None`.
    pub confinement: Option<Confinement>,
}
