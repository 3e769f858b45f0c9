//! The releases in `tests/compatibility/released`, as they were published.

use std::path::{Path, PathBuf};

pub(super) fn package(version: &str) -> String {
    format!("playwriter-{version}")
}

pub(super) fn dist(version: &str) -> PathBuf {
    released().join("node_modules").join(package(version)).join("dist/extension")
}

pub(super) fn released() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compatibility/released")
}
