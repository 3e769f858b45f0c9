//! What the shell must do.

use std::path::PathBuf;
use std::time::Duration;

use shared_protocol::{CloseCode, LogLevel};

use crate::cdp::Frame;
use crate::cdp::payload::RelayMessage;
use crate::ids::{ClientId, ConnectionId};

/// What the shell must do now, in order.
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
    /// Where it is to be.
    pub to: PathBuf,
    /// Whether it has to have this very name. Otherwise one close to it will do, if it is taken.
    pub is_exact: bool,
    /// The folders that it has to be in, if the client is confined.
    pub inside: Option<Vec<PathBuf>>,
}

/// A file as an extension tells of it, which may be a lie: what else is known of the download has to
/// fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFile {
    /// Where it is said to be.
    pub path: PathBuf,
    /// How long ago the download can have begun.
    pub age: Duration,
    /// How many bytes have come.
    pub size: Option<u64>,
}
