//! A home folder that takes along the relays that were started from it, and keeps their logs when its
//! test fails.

use std::io::Write;
use std::path::Path;
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

use super::failures::{failure_folder, keep_logs, test_name};
use super::processes::kill;

/// A home folder for one test. A relay in the background that is still there at its end is killed.
#[derive(Debug)]
pub struct Home(TempDir);

impl Home {
    /// An empty one. What an earlier failure of the test has left is removed.
    #[must_use]
    pub fn new() -> Self {
        drop(std::fs::remove_dir_all(failure_folder()));
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the process of the background relay, if there is a relay file and the process runs.
    #[must_use]
    pub fn relay_process(&self, port: u16) -> Option<u32> {
        let file =
            std::fs::read(self.path().join(format!(".playwriter/relay-{port}.json"))).ok()?;
        let file: Value = serde_json::from_slice(&file).ok()?;
        let pid = u32::try_from(file["pid"].as_u64()?).ok()?;
        // The number of a process that is gone may be another's.
        let program = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&program).contains("playwriter").then_some(pid)
    }

    /// Ends the relays that were started in the background from this home.
    pub(crate) fn end_relays(&self) {
        let Ok(files) = std::fs::read_dir(self.path().join(".playwriter")) else { return };
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let ports = names.filter_map(|name| {
            name.strip_prefix("relay-")?.strip_suffix(".json")?.parse::<u16>().ok()
        });
        for pid in ports.filter_map(|port| self.relay_process(port)) {
            kill(pid);
        }
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.end_relays();
        if thread::panicking() && keep_logs(self.path()) {
            let (test, folder) = (test_name(), failure_folder());
            drop(writeln!(
                std::io::stderr(),
                "{test}: the relay's logs are in {}",
                folder.display()
            ));
        }
    }
}
