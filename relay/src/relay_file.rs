//! The relay file, `relay-<port>.json`: how to ask a running relay to stop, and with which settings to
//! start another like it.
//!
//! The file holds a key that only this user can read. A program that shows the key has the rights of
//! the user who started the relay, so no process is ever signalled because of a process id in a file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::system::folders::make_folder;
use crate::trust::Token;

/// The content of a relay file: one running relay, or one that was killed. Fields that earlier relays
/// did not write have defaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RelayRecord {
    pub(crate) pid: u32,
    pub(crate) port: u16,
    pub(crate) version: String,
    pub(crate) key: String,
    /// The arguments of `playwriter serve`.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) separate_window: bool,
    /// True if programs have to show a token. The token itself is not in the file.
    #[serde(default)]
    pub(crate) wants_token: bool,
    /// True if a browser ends with the relay.
    #[serde(default)]
    pub(crate) has_browser: bool,
    /// True if the relay was told to end. A relay that was not told and does not run was killed.
    #[serde(default)]
    pub(crate) is_stopping: bool,
}

impl RelayRecord {
    /// Returns a record of this process with a new key, which says nothing about settings yet.
    pub(crate) fn new(port: u16, version: &str) -> io::Result<Self> {
        Ok(Self {
            pid: std::process::id(),
            port,
            version: version.to_owned(),
            key: Token::random()?.secret().to_owned(),
            arguments: Vec::new(),
            separate_window: false,
            wants_token: false,
            has_browser: false,
            is_stopping: false,
        })
    }

    /// Writes the file, in the place of one that a dead relay left.
    fn write(&self, folder: &Path) -> io::Result<()> {
        make_folder(folder)?;
        let unfinished = folder.join(format!("relay-{}.json.{}", self.port, self.pid));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(unfinished, path(folder, self.port))
    }

    /// Reads the record of the relay that has, or last had, this port.
    pub(crate) fn read(folder: &Path, port: u16) -> Option<Self> {
        let text = fs::read_to_string(path(folder, port)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Returns true if the file is still there and is of this relay, and not of a later one.
    pub(crate) fn is_kept(&self, folder: &Path) -> bool {
        Self::read(folder, self.port).is_some_and(|now| now.key() == self.key())
    }

    /// Removes the file, unless it is of another relay by now.
    pub(crate) fn remove(&self, folder: &Path) {
        if self.is_kept(folder) {
            // Somebody may have been faster.
            drop(fs::remove_file(path(folder, self.port)));
        }
    }

    pub(crate) fn key(&self) -> Token {
        Token::new(&*self.key)
    }
}

/// The file of the relay in this process. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct RelayFile {
    key: Token,
    writer: RelayFileWriter,
}

/// Changes a relay file for as long as there is one.
#[derive(Debug, Clone)]
pub(crate) struct RelayFileWriter {
    folder: PathBuf,
    record: Arc<Mutex<Option<RelayRecord>>>,
}

impl RelayFile {
    pub(crate) fn create(folder: &Path, record: RelayRecord) -> io::Result<Self> {
        record.write(folder)?;
        let key = record.key();
        let record = Arc::new(Mutex::new(Some(record)));
        Ok(Self { key, writer: RelayFileWriter { folder: folder.to_owned(), record } })
    }

    /// Returns the key, which programs show that could read the file.
    pub(crate) fn key(&self) -> Token {
        self.key.clone()
    }

    pub(crate) fn writer(&self) -> &RelayFileWriter {
        &self.writer
    }
}

impl Drop for RelayFile {
    fn drop(&mut self) {
        if let Some(record) = self.writer.lock().take() {
            record.remove(&self.writer.folder);
        }
    }
}

impl RelayFileWriter {
    /// Writes the file anew with a change.
    pub(crate) fn change(&self, change: impl FnOnce(&mut RelayRecord)) {
        let mut record = self.lock();
        let Some(record) = record.as_mut() else { return };
        change(record);
        if let Err(error) = record.write(&self.folder) {
            tracing::warn!(%error, "the relay file for `playwriter stop` and `ensure` cannot be written");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<RelayRecord>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the ports of all relays with a file in a folder.
pub(crate) fn ports(folder: &Path) -> Vec<u16> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let port = |name: String| name.strip_prefix("relay-")?.strip_suffix(".json")?.parse().ok();
    names.filter_map(port).collect()
}

fn path(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!("relay-{port}.json"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_its_user_reads_a_relay_file_and_only_its_relay_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = RelayFile::create(folder.path(), record("1.0.0")).unwrap();
        let second = RelayFile::create(folder.path(), record("2.0.0")).unwrap();
        let mode = fs::metadata(path(folder.path(), 7)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_ne!(first.key(), second.key());
        drop(first);
        assert_eq!(RelayRecord::read(folder.path(), 7).unwrap().version, "2.0.0");
        drop(second);
        assert!(RelayRecord::read(folder.path(), 7).is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_relay_file_can_be_changed_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = RelayFile::create(folder.path(), record("1.0.0")).unwrap();
        let writer = file.writer().clone();
        writer.change(|record| record.separate_window = true);
        let changed = RelayRecord::read(folder.path(), 7).unwrap();
        assert!(changed.separate_window && changed.key() == file.key());
        drop(file);
        writer.change(|record| record.separate_window = false);
        assert!(RelayRecord::read(folder.path(), 7).is_none());
    }

    #[test]
    fn the_relay_file_of_the_first_relays_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"pid":1,"port":7,"version":"0.1.0","key":"k"}"#;
        fs::write(path(folder.path(), 7), text).unwrap();
        assert!(RelayRecord::read(folder.path(), 7).unwrap().arguments.is_empty());
        let arguments = vec!["--allow-focus".to_owned()];
        let newer = RelayRecord { arguments: arguments.clone(), ..record("0.2.0") };
        let _file = RelayFile::create(folder.path(), newer).unwrap();
        assert_eq!(RelayRecord::read(folder.path(), 7).unwrap().arguments, arguments);
    }

    fn record(version: &str) -> RelayRecord {
        RelayRecord::new(7, version).unwrap()
    }
}
