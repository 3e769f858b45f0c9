//! The folder that a failed test leaves, named after the test.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// The folders of a home in which relays leave their logs.
const LOGS: [&str; 2] = ["logs", ".playwriter"];

/// Returns the name of the test that runs on this thread. Each test has a thread with its name, unless
/// there is only one at a time.
pub(crate) fn test_name() -> String {
    thread::current().name().unwrap_or("test").trim_start_matches("behaviour::").to_owned()
}

/// Returns the folder of the test that runs on this thread.
pub(crate) fn failure_folder() -> PathBuf {
    let failures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/failures");
    failures.join(test_name().replace("::", "."))
}

/// Copies the logs below a home into the folder of the failure, and returns whether there were any.
pub(super) fn keep_logs(home: &Path) -> bool {
    let folder = failure_folder();
    let inner =
        fs::read_dir(home).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut has_logs = false;
    for home in inner.chain([home.to_owned()]) {
        for logs in LOGS {
            has_logs |= keep_files(&home.join(logs), &folder.join(logs));
        }
    }
    has_logs
}

/// Copies the logs of a folder. What cannot be read is left out: the failure itself is what counts.
fn keep_files(from: &Path, to: &Path) -> bool {
    let Ok(files) = fs::read_dir(from) else { return false };
    let is_log = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("log" | "jsonl"))
    };
    let mut has_logs = false;
    for path in files.filter_map(|file| Some(file.ok()?.path())).filter(is_log) {
        drop(fs::create_dir_all(to));
        if let Some(name) = path.file_name() {
            has_logs |= fs::copy(&path, to.join(name)).is_ok();
        }
    }
    has_logs
}
