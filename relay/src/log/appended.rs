//! The log for people, for a program beside the relay that has the file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tracing_subscriber::fmt::MakeWriter;

use super::file::FILE_MODE;
use super::writer::{TEXT, TEXT_LIMIT};
use crate::system::folders::make_folder;

/// Appends lines that `tracing` has formatted to the relay's log. The relay may turn its file over at
/// any time, so the file is opened for each line; a program like this has few.
#[derive(Debug, Clone)]
pub struct AppendedLog {
    folder: PathBuf,
}

impl AppendedLog {
    /// Names the folder of the relay's logs.
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        make_folder(&self.folder)?;
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(FILE_MODE)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(self.folder.join(TEXT))?;
        // Only the relay starts a new file.
        if file.metadata()?.len() < TEXT_LIMIT { file.write_all(line) } else { Ok(()) }
    }
}

impl<'a> MakeWriter<'a> for AppendedLog {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for AppendedLog {
    /// `tracing` writes each line in one piece. A program works without its log.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        drop(self.append(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::LogFile;
    use super::*;

    #[test]
    fn lines_of_both_stay_in_the_file_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(TEXT);
        let mut beside = AppendedLog::in_folder(folder.path());
        beside.write_all(b"before any relay\n").unwrap();
        let mut relay = LogFile::create(path.clone(), 1000).unwrap();
        for turn in 1..3 {
            beside.write_all(format!("agent {turn}\n").as_bytes()).unwrap();
            relay.write(format!("relay {turn}\n").as_bytes()).unwrap();
            relay.flush().unwrap();
        }
        let lines = std::fs::read_to_string(path).unwrap();
        assert_eq!(lines, "agent 1\nrelay 1\nagent 2\nrelay 2\n");
        let last = std::fs::read_to_string(folder.path().join("relay-server.log.1")).unwrap();
        assert_eq!(last, "before any relay\n");
    }
}
