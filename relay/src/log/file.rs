//! One file of a log: new at each start, and replaced before it grows too long.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Only the owner reads a log.
pub(super) const FILE_MODE: u32 = 0o600;

/// A file that keeps one predecessor, named `.1`; the two together have twice the limit at most.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    limit: u64,
    file: BufWriter<File>,
    length: u64,
}

impl LogFile {
    pub(super) fn create(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = BufWriter::new(create_after_the_last(&path)?);
        Ok(Self { path, limit, file, length: 0 })
    }

    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.length > 0 && self.length.saturating_add(length) > self.limit {
            self.file.flush()?;
            self.file = BufWriter::new(create_after_the_last(&self.path)?);
            self.length = 0;
        }
        self.length = self.length.saturating_add(length);
        self.file.write_all(line)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Creates the file; the last one of that name goes out of its way.
fn create_after_the_last(path: &Path) -> io::Result<File> {
    let mut last = path.as_os_str().to_owned();
    last.push(".1");
    match fs::rename(path, last) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // The file must be new: a file that somebody put there in the meantime is not written to.
    // Programs beside the relay append to it as well.
    OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(path)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::system::folders::make_folder;

    #[test]
    fn a_file_is_turned_over_at_its_limit_and_only_one_old_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut file = LogFile::create(path.clone(), 10).unwrap();
        for line in ["one\n", "two\n", "three\n", "four\n", "a line beyond any limit\n"] {
            file.write(line.as_bytes()).unwrap();
        }
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a line beyond any limit\n");
        let last = fs::read_to_string(folder.path().join("a.log.1")).unwrap();
        assert_eq!(last, "four\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn each_start_has_a_file_of_its_own_and_keeps_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        for run in ["first", "second"] {
            LogFile::create(path.clone(), 100).unwrap().write(run.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(fs::read_to_string(folder.path().join("a.log.1")).unwrap(), "first");
    }

    #[test]
    fn nobody_else_may_read() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("logs");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        make_folder(&folder).unwrap();
        let path = folder.join("a.log");
        LogFile::create(path.clone(), 100).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    }
}
