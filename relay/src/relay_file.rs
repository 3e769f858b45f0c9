//! What a relay leaves for its own user while it runs: how to ask it to stop, and how to start
//! another like it.
//!
//! The file holds a secret that only this user can read. Whoever shows it is as good as the one who
//! started the relay, so no process is ever signalled on the strength of a number in a file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::system::folders::make_folder;
use crate::trust::Token;

/// One running relay, or one that was killed. What earlier relays did not write has a default.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) pid: u32,
    pub(crate) port: u16,
    pub(crate) version: String,
    pub(crate) key: String,
    /// What `playwriter serve` was told.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) separate_window: bool,
    /// Whether programs have to show a token, which does not stand here.
    #[serde(default)]
    pub(crate) wants_token: bool,
    /// Whether a browser ends with it.
    #[serde(default)]
    pub(crate) has_browser: bool,
    /// Whether it has been told to end: one that was not, and is gone, was killed.
    #[serde(default)]
    pub(crate) is_stopping: bool,
}

impl Record {
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

    /// Writes it, in the place of one that a dead relay left.
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

    /// The record of the relay that has, or last had, this port.
    pub(crate) fn read(folder: &Path, port: u16) -> Option<Self> {
        let text = fs::read_to_string(path(folder, port)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Whether it is still there, and no other relay has taken its place.
    pub(crate) fn is_kept(&self, folder: &Path) -> bool {
        Self::read(folder, self.port).is_some_and(|now| now.key() == self.key())
    }

    /// Removes it, unless another relay has taken its place.
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

/// The record that this process keeps of its relay. It goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Note {
    key: Token,
    pen: Pen,
}

/// Changes what stands in a note, for as long as there is one.
#[derive(Debug, Clone)]
pub(crate) struct Pen {
    folder: PathBuf,
    record: Arc<Mutex<Option<Record>>>,
}

impl Note {
    pub(crate) fn leave(folder: &Path, record: Record) -> io::Result<Self> {
        record.write(folder)?;
        let key = record.key();
        let record = Arc::new(Mutex::new(Some(record)));
        Ok(Self { key, pen: Pen { folder: folder.to_owned(), record } })
    }

    /// What whoever can read it shows.
    pub(crate) fn key(&self) -> Token {
        self.key.clone()
    }

    pub(crate) fn pen(&self) -> &Pen {
        &self.pen
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if let Some(record) = self.pen.lock().take() {
            record.remove(&self.pen.folder);
        }
    }
}

impl Pen {
    /// Writes it anew with a change.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Record)) {
        let mut record = self.lock();
        let Some(record) = record.as_mut() else { return };
        change(record);
        if let Err(error) = record.write(&self.folder) {
            tracing::warn!(%error, "the note for `playwriter stop` and `ensure` cannot be written");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Record>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the ports of all relays that left a note in a folder.
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
    fn only_its_user_can_read_it_and_only_its_relay_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = Note::leave(folder.path(), record("1.0.0")).unwrap();
        let second = Note::leave(folder.path(), record("2.0.0")).unwrap();
        let mode = fs::metadata(path(folder.path(), 7)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_ne!(first.key(), second.key());
        drop(first);
        assert_eq!(Record::read(folder.path(), 7).unwrap().version, "2.0.0");
        drop(second);
        assert!(Record::read(folder.path(), 7).is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn it_can_be_changed_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let note = Note::leave(folder.path(), record("1.0.0")).unwrap();
        let pen = note.pen().clone();
        pen.change(|record| record.separate_window = true);
        let changed = Record::read(folder.path(), 7).unwrap();
        assert!(changed.separate_window && changed.key() == note.key());
        drop(note);
        pen.change(|record| record.separate_window = false);
        assert!(Record::read(folder.path(), 7).is_none());
    }

    #[test]
    fn the_record_of_the_first_relays_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"pid":1,"port":7,"version":"0.1.0","key":"k"}"#;
        fs::write(path(folder.path(), 7), text).unwrap();
        assert!(Record::read(folder.path(), 7).unwrap().arguments.is_empty());
        let arguments = vec!["--allow-focus".to_owned()];
        let newer = Record { arguments: arguments.clone(), ..record("0.2.0") };
        let _note = Note::leave(folder.path(), newer).unwrap();
        assert_eq!(Record::read(folder.path(), 7).unwrap().arguments, arguments);
    }

    fn record(version: &str) -> Record {
        Record::new(7, version).unwrap()
    }
}
