//! Follows a log while it is written, also when the relay replaces its file by a new one.

use std::io::{self, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

/// The interval at which the file is checked, because a file tells nobody that it has grown.
const FILE_POLL_INTERVAL: Duration = Duration::from_millis(200);

const CHUNK: usize = 64 * 1024;

/// The longest line; a longer one comes in pieces.
const MAX_LINE: usize = 1024 * 1024;

/// The lines of a file that grows.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
    /// True if the next file is read from where it ends.
    skips: bool,
}

impl Lines {
    /// Follows a file from its beginning, or from its end.
    pub(crate) fn of(path: &Path, from_start: bool) -> Self {
        Self { path: path.to_owned(), file: None, buffer: Vec::new(), skips: !from_start }
    }

    /// Returns the next line, or `None` when there is none yet.
    pub(crate) async fn next_now(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            if !self.read_more().await? {
                return Ok(None);
            }
        }
    }

    /// Returns the next line, as soon as there is one.
    pub(crate) async fn next(&mut self) -> io::Result<String> {
        loop {
            if let Some(line) = self.next_now().await? {
                return Ok(line);
            }
            self.skips = false;
            tokio::time::sleep(FILE_POLL_INTERVAL).await;
        }
    }

    fn take_line(&mut self) -> Option<String> {
        let end = memchr::memchr(b'\n', &self.buffer);
        let (end, rest) = match end {
            Some(end) => (end, end + 1),
            None if self.buffer.len() >= MAX_LINE => (self.buffer.len(), self.buffer.len()),
            None => return None,
        };
        let line = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..rest);
        Some(line)
    }

    /// Reads more; returns `true` if there was more.
    async fn read_more(&mut self) -> io::Result<bool> {
        let file = match &mut self.file {
            Some(file) => file,
            None => match self.open().await? {
                Some(file) => self.file.insert(file),
                None => return Ok(false),
            },
        };
        if read_into(&mut self.buffer, file).await? {
            return Ok(true);
        }
        if !is_replaced(file, &self.path).await {
            return Ok(false);
        }
        // The rest of the old file is read; the new one is read from its beginning.
        if !read_into(&mut self.buffer, file).await? {
            self.file = None;
            // Half a line of a relay that was killed has no other half.
            if !self.buffer.is_empty() {
                self.buffer.push(b'\n');
            }
        }
        Ok(true)
    }

    async fn open(&mut self) -> io::Result<Option<File>> {
        let mut file = match File::open(&self.path).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if std::mem::take(&mut self.skips) {
            file.seek(SeekFrom::End(0)).await?;
        }
        Ok(Some(file))
    }
}

/// Reads more; returns `true` if there was more.
async fn read_into(buffer: &mut Vec<u8>, file: &mut File) -> io::Result<bool> {
    let old = buffer.len();
    buffer.resize(old + CHUNK, 0);
    let count = file.read(&mut buffer[old..]).await?;
    buffer.truncate(old + count);
    Ok(count > 0)
}

/// Returns `true` if the path names another file than the one that was opened.
async fn is_replaced(file: &File, path: &Path) -> bool {
    match (file.metadata().await, tokio::fs::metadata(path).await) {
        (Ok(open), Ok(now)) => (open.dev(), open.ino()) != (now.dev(), now.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_missed_when_a_file_is_turned_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut lines = Lines::of(&path, true);
        assert_eq!(lines.next_now().await.unwrap(), None, "there is no file yet");
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        assert_eq!(lines.next().await.unwrap(), "one");
        assert_eq!(lines.next().await.unwrap(), "two");
        assert_eq!(lines.next_now().await.unwrap(), None, "half a line waits for the rest");
        let mut old = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::fs::rename(&path, folder.path().join("a.log.1")).unwrap();
        std::io::Write::write_all(&mut old, b"ee\n").unwrap();
        std::fs::write(&path, "four\n").unwrap();
        assert_eq!(lines.next().await.unwrap(), "three");
        assert_eq!(lines.next().await.unwrap(), "four");
    }

    #[tokio::test]
    async fn half_a_line_that_nobody_will_finish_stands_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::fs::write(&path, "one\ntw").unwrap();
        let mut lines = Lines::of(&path, true);
        assert_eq!(lines.next().await.unwrap(), "one");
        assert_eq!(lines.next_now().await.unwrap(), None);
        std::fs::rename(&path, folder.path().join("a.log.1")).unwrap();
        std::fs::write(&path, "three\n").unwrap();
        assert_eq!(lines.next().await.unwrap(), "tw");
        assert_eq!(lines.next().await.unwrap(), "three");
    }

    #[tokio::test]
    async fn from_the_end_only_what_comes_later_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        std::fs::write(&path, "old\n").unwrap();
        let mut lines = Lines::of(&path, false);
        assert_eq!(lines.next_now().await.unwrap(), None);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"new\n").unwrap();
        assert_eq!(lines.next().await.unwrap(), "new");
    }
}
