//! The relay's files on disk: `relay-server.log` for people, and `cdp.jsonl` with the traffic.
//! A task hands over a small line and goes on; one thread writes. When that thread cannot keep up,
//! lines are dropped and their number is written in their place.

mod appended;
mod entry;
mod excerpt;
mod file;
mod text;
mod traffic;
mod typed;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use crate::trust::Token;
pub use appended::AppendedLog;
use entry::Entry;
pub(crate) use excerpt::line;
pub use text::TextLog;
pub(crate) use traffic::Traffic;
use writer::Writer;

/// The number of lines that may wait for the disk: some megabytes.
const WAITING: usize = 8192;

/// The two logs in one folder. Nothing is created until a relay has its port: another one may be
/// writing there.
#[derive(Clone)]
pub struct Logs {
    folder: PathBuf,
    lines: Lines,
    /// The receiver, until the logs are opened.
    unopened: Arc<Mutex<Option<mpsc::Receiver<Line>>>>,
}

impl Logs {
    /// Logs that will be in this folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let lines = Lines { sender, dropped: Arc::default() };
        Self { folder: folder.into(), lines, unopened: Arc::new(Mutex::new(Some(receiver))) }
    }

    /// Returns the folder of the logs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the log to which `tracing` writes for people.
    #[must_use]
    pub fn text(&self) -> TextLog {
        TextLog::new(self.lines.clone())
    }

    /// Creates the files and begins to write. A relay works without them, so a failure is only said.
    pub(crate) fn open(&self) -> bool {
        let receiver = self.unopened.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A relay that is started again goes on with the files that it has.
        let Some(receiver) = receiver else { return true };
        let started = Writer::create(&self.folder).and_then(|writer| writer.start(receiver));
        if let Err(error) = &started {
            let folder = self.folder.display();
            tracing::warn!(%folder, %error, "the logs cannot be written; going on without them");
        }
        started.is_ok()
    }

    /// The log of the traffic. The token must not get into it.
    pub(crate) fn traffic(&self, token: Option<Token>) -> Traffic {
        Traffic::new(self.lines.clone(), token)
    }

    /// Completes when all that was said so far is in the files.
    pub(crate) async fn written(&self) {
        let (done, written) = oneshot::channel();
        if self.lines.sender.send(Line::Written(done)).await.is_ok() {
            // The writer drops its end when it is done.
            drop(written.await);
        }
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Logs").field(&self.folder).finish()
    }
}

/// A message to the writer.
#[derive(Debug)]
enum Line {
    /// A line, and the number of lines that were dropped before it.
    Text(Box<[u8]>, u64),
    Traffic(Entry, u64),
    /// The sender is dropped when everything before it is written.
    Written(oneshot::Sender<()>),
}

/// The channel that takes lines without waiting.
#[derive(Debug, Clone)]
struct Lines {
    sender: mpsc::Sender<Line>,
    dropped: Arc<Dropped>,
}

/// The number of lines that were dropped since one was accepted.
#[derive(Debug, Default)]
struct Dropped {
    text: AtomicU64,
    traffic: AtomicU64,
}

impl Lines {
    fn text(&self, line: &[u8]) {
        self.hand_over(&self.dropped.text, |dropped| Line::Text(line.into(), dropped));
    }

    fn traffic(&self, entry: Entry) {
        self.hand_over(&self.dropped.traffic, |dropped| Line::Traffic(entry, dropped));
    }

    fn hand_over(&self, dropped: &AtomicU64, line: impl FnOnce(u64) -> Line) {
        let before = dropped.swap(0, Ordering::Relaxed);
        if self.sender.try_send(line(before)).is_err() {
            dropped.fetch_add(before + 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
