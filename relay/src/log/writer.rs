//! The thread that writes both logs.

use std::io::{self, Write};
use std::path::Path;
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::Line;
use super::entry::Entry;
use super::file::LogFile;
use crate::system::folders::make_folder;

/// The name of the log for people.
pub(super) const TEXT: &str = "relay-server.log";

pub(super) const TEXT_LIMIT: u64 = 8 * 1024 * 1024;
const TRAFFIC_LIMIT: u64 = 32 * 1024 * 1024;

pub(super) struct Writer {
    text: LogFile,
    traffic: LogFile,
    line: Vec<u8>,
    has_failed: bool,
}

impl Writer {
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        make_folder(folder)?;
        Ok(Self {
            text: LogFile::create(folder.join(TEXT), TEXT_LIMIT)?,
            traffic: LogFile::create(folder.join("cdp.jsonl"), TRAFFIC_LIMIT)?,
            line: Vec::new(),
            has_failed: false,
        })
    }

    /// Writes until nobody can say anything any more.
    pub(super) fn start(self, lines: mpsc::Receiver<Line>) -> io::Result<()> {
        thread::Builder::new().name("logs".to_owned()).spawn(move || self.run(lines)).map(drop)
    }

    fn run(mut self, mut lines: mpsc::Receiver<Line>) {
        while let Some(first) = lines.blocking_recv() {
            let mut next = Some(first);
            let mut waiting = Vec::new();
            while let Some(line) = next {
                waiting.extend(self.write(line));
                next = lines.try_recv().ok();
            }
            let flushed = self.text.flush().and_then(|()| self.traffic.flush());
            self.report(flushed);
            // Dropping the senders tells the tasks that wait.
            drop(waiting);
        }
    }

    /// Writes a line, and gives who wants to know when that is done.
    fn write(&mut self, line: Line) -> Option<oneshot::Sender<()>> {
        let written = match line {
            Line::Text(line, dropped) => self.write_text(&line, dropped),
            Line::Traffic(entry, dropped) => self.write_traffic(&entry, dropped),
            Line::Written(asker) => return Some(asker),
        };
        self.report(written);
        None
    }

    fn write_text(&mut self, line: &[u8], dropped: u64) -> io::Result<()> {
        if dropped > 0 {
            self.text.write(format!("{dropped} lines are missing here\n").as_bytes())?;
        }
        self.text.write(line)
    }

    fn write_traffic(&mut self, entry: &Entry, dropped: u64) -> io::Result<()> {
        if dropped > 0 {
            self.write_entry(&Entry::dropped(dropped, entry.at))?;
        }
        self.write_entry(entry)
    }

    fn write_entry(&mut self, entry: &Entry) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, entry)?;
        self.line.write_all(b"\n")?;
        self.traffic.write(&self.line)
    }

    /// Says the first failure only: a full disk makes many.
    fn report(&mut self, written: io::Result<()>) {
        if let Err(error) = written
            && !self.has_failed
        {
            self.has_failed = true;
            let folder = self.text.path().parent().unwrap_or(Path::new(".")).display();
            tracing::warn!(%folder, %error, "the logs have gaps: writing failed");
        }
    }
}
