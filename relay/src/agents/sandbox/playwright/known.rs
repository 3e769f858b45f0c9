//! The bytes of the version that is installed, as its authors published them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256, SHA512, digest};

/// `npm view playwright-core@1.65.0 dist.integrity`
const ARCHIVE: &str =
    "vNSKgH6YqtN7cdT/L334zo0a+YwkrpicyrHJlWWPIm/Q+Nn2SWInil01oT0mbu96U4GgoRtCYQD9CzJQgju+lA==";

/// The digest of all files of the package, by [`digest_of`].
const FILES: &str = "NPQLyQEg52dNn/oF33Nbzxt2Z5a8R0b0/BYOwSdNCRM=";

/// More than any version has, so that a folder with other files ends the look early.
const MAX_FILES: usize = 4096;
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The folder that was looked at and is as it should be.
static LOOKED_AT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Returns whether an archive is the one that the authors published.
pub(super) fn is_archive(archive: &[u8]) -> bool {
    STANDARD.encode(digest(&SHA512, archive)) == ARCHIVE
}

/// Returns whether a folder has the files of that archive and nothing else.
pub(super) fn is_known(folder: &Path) -> bool {
    let mut looked_at = LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    if looked_at.as_deref() == Some(folder) {
        return true;
    }
    let is_known = digest_of(folder).is_ok_and(|found| found == FILES);
    if is_known {
        *looked_at = Some(folder.to_owned());
    }
    is_known
}

/// Returns the digest of names, lengths and contents of all files in a folder, in the order of names.
fn digest_of(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let name = inner.join(entry.file_name());
            // A link is neither, and is not in the archive.
            match entry.file_type()? {
                kind if kind.is_dir() => folders.push(name),
                kind if kind.is_file() => files.push(name),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        if files.len() + folders.len() > MAX_FILES {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    files.sort_by(|one, other| one.as_os_str().as_bytes().cmp(other.as_os_str().as_bytes()));
    let mut all = Context::new(&SHA256);
    let mut content = Vec::new();
    for name in files {
        content.clear();
        File::open(folder.join(&name))?.take(MAX_BYTES).read_to_end(&mut content)?;
        all.update(name.as_os_str().as_bytes());
        all.update(&[0]);
        all.update(&(content.len() as u64).to_le_bytes());
        all.update(&content);
    }
    Ok(STANDARD.encode(all.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_tests_playwright_are_those_that_were_published() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/node_modules");
        let package = tests.join("playwright-core");
        // `make test` installs it.
        if package.exists() {
            assert_eq!(digest_of(&package).unwrap(), FILES);
        }
    }

    #[test]
    fn a_file_more_or_another_name_changes_the_digest() {
        let folder = tempfile::tempdir().unwrap();
        let digest = || digest_of(folder.path()).unwrap();
        fs::create_dir(folder.path().join("lib")).unwrap();
        fs::write(folder.path().join("lib/a.js"), "1").unwrap();
        let first = digest();
        fs::write(folder.path().join("lib/a.js"), "2").unwrap();
        let changed = digest();
        fs::rename(folder.path().join("lib/a.js"), folder.path().join("lib/b.js")).unwrap();
        let renamed = digest();
        fs::write(folder.path().join("c.js"), "").unwrap();
        let more = digest();
        assert!(first != changed && changed != renamed && renamed != more);
        std::os::unix::fs::symlink("/etc/hosts", folder.path().join("link")).unwrap();
        assert!(digest_of(folder.path()).is_err());
        assert!(!is_archive(b"") && !is_known(folder.path()));
    }
}
