//! Writes small files, which appear whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid, fchown, fstat, openat, renameat, unlinkat};

/// More than any of these files ever has.
const MAX_LENGTH: u64 = 1024 * 1024;

/// Replaces a file with one that only its owner can read.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = unfinished(path.as_os_str())?;
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

/// Does the same in a folder that root may have given to another user. The file is that user's, and no
/// link of theirs leads it elsewhere.
pub(crate) fn write_for_owner(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let own = rustix::process::geteuid();
    // The owner of a link is the user who made it.
    let owner = fs::symlink_metadata(folder)?.uid();
    if !own.is_root() || owner == own.as_raw() {
        return write_whole(path, bytes);
    }
    let folder = openat(CWD, folder, OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    let about = fstat(&folder)?;
    let unfinished = unfinished(name)?;
    let write = || {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&folder, &*unfinished, flags, Mode::RUSR | Mode::WUSR)?;
        fchown(&file, Some(Uid::from_raw(about.st_uid)), Some(Gid::from_raw(about.st_gid)))?;
        let mut file = fs::File::from(file);
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(renameat(&folder, &*unfinished, &folder, name)?)
    };
    write().inspect_err(|_| {
        // It has no name that anybody looks for.
        unlinkat(&folder, &*unfinished, AtFlags::empty()).ok();
    })
}

/// Makes a name for a file that is not whole yet.
fn unfinished(name: &OsStr) -> io::Result<OsString> {
    let mut suffix = [0; 8];
    getrandom::fill(&mut suffix).map_err(io::Error::other)?;
    let mut unfinished = name.to_owned();
    unfinished.push(format!(".{:016x}", u64::from_be_bytes(suffix)));
    Ok(unfinished)
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
