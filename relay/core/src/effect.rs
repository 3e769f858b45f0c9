//! Effects: the work that the machine gives to the shell.

use std::path::PathBuf;
use std::time::Duration;

use shared_protocol::{CloseCode, LogLevel};

use crate::cdp::Frame;
use crate::cdp::payload::RelayMessage;
use crate::ids::{ClientId, ConnectionId};

/// Work for the shell. Effects are performed in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Effect {
    SendToExtension { connection: ConnectionId, message: RelayMessage },
    CloseExtension { connection: ConnectionId, code: CloseCode, reason: String },
    SendToClient { client: ClientId, frame: Frame },
    CloseClient { client: ClientId, code: CloseCode, reason: String },
    CopyDownload { connection: ConnectionId, guid: String, from: ReportedFile, to: Vec<WantedCopy> },
    Log { level: LogLevel, text: String },
}

/// A file that a client wants.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedCopy {
    /// The path at which the copy is to be.
    pub to: PathBuf,
    /// True if the copy must have exactly this name. Otherwise a similar name will do if this one is
    /// taken.
    pub is_exact: bool,
    /// The folders that it has to be in, if the client is confined.
    pub inside: Option<Vec<PathBuf>>,
}

/// A file as an extension tells of it, which may be a lie: what else is known of the download has to
/// fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFile {
    /// The path at which the file is, according to the extension.
    pub path: PathBuf,
    /// The longest time for which the download can have been running.
    pub age: Duration,
    /// The number of bytes that have come.
    pub size: Option<u64>,
}
