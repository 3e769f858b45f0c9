//! Folders on disk.

use std::fs;
use std::path::{Path, PathBuf};

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("the folder can be read").path();
        let target = to.join(entry.file_name().expect("it has a name"));
        if entry.is_dir() {
            copy_folder(&entry, &target);
        } else {
            fs::copy(&entry, &target).expect("the file can be copied");
        }
    }
}

/// Returns the folder of the `playwright-core` that the tests use.
#[must_use]
pub fn playwright_core() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/playwright-core")
}
