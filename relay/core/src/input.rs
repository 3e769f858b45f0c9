//! Inputs: events outside of which the shell tells the machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use shared_protocol::{ExtensionHello, RequestId, TargetId};

use crate::cdp::payload::ExtensionMessage;
use crate::cdp::{Command, Error};
use crate::confinement::Confinement;
use crate::ids::{ClientId, ConnectionId};

/// An event outside, told to the machine.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Input {
    ExtensionConnected {
        connection: ConnectionId,
        hello: ExtensionHello,
        user_agent: String,
        /// True if the extension has shown that it has a key of this user's.
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
    /// The end of [`CopyDownload`](crate::Effect::CopyDownload), with its outcome.
    DownloadCopied {
        connection: ConnectionId,
        guid: String,
        /// The path of the copy for each path that was wanted.
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

/// A client's own statements when it connects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The name that it chose in its URL.
    pub name: Option<String>,
    /// The extension that it names, by connection or by stable key.
    pub extension: Option<String>,
    /// The one page that it wants to talk to, instead of the browser.
    pub page: Option<TargetId>,
    /// True if the client's tabs go to a window of their own; `None` leaves it to the relay's
    /// setting.
    pub separate_window: Option<bool>,
    /// The files that it may have the browser open; all when `None`.
    pub confinement: Option<Confinement>,
}
