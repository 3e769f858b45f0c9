//! Writes small files, which appear whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More than any of these files ever has.
const MAX_LENGTH: u64 = 1024 * 1024;

/// Replaces a file with one that only its owner can read.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut suffix = [0; 8];
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{:016x}", u64::from_be_bytes(suffix)));
    let write = || {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    write().inspect_err(|_| {
        // The file has a name that nobody looks for.
        drop(fs::remove_file(&unfinished));
    })
}

/// The lines of a file; none if there is no file.
pub(crate) fn read_lines(path: &Path) -> io::Result<Vec<String>> {
    let mut text = String::new();
    match fs::File::open(path) {
        Ok(file) => file.take(MAX_LENGTH).read_to_string(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Writes the last lines of a list, at most `limit` of them.
pub(crate) fn write_lines(path: &Path, lines: &[String], limit: usize) -> io::Result<()> {
    let kept = &lines[lines.len().saturating_sub(limit)..];
    let text: String = kept.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    write_whole(path, text.as_bytes())
}
