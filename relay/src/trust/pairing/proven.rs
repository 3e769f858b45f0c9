//! The installations that have proven themselves: from then on they must.
//!
//! Otherwise anybody could take the place of one by leaving the proof out.

use std::io;
use std::path::Path;

use shared_protocol::pairing::KeyId;

use super::lists;

/// The id of an installation and the name of its key on each line.
const FILE: &str = "proven";

/// The number of installations that are kept; those that proved themselves last stay.
const MAX_PROVEN: usize = 256;

/// The longest id that is kept; ours have 36 characters.
const MAX_ID: usize = 128;

/// Returns `true` if an installation has proven itself before, or if the list cannot be read.
pub(crate) fn is_proven(home: &Path, install_id: &str) -> bool {
    let lines = lists::read_lines(&home.join(FILE));
    lines.map_or(true, |lines| lines.iter().any(|line| id(line) == install_id))
}

/// Keeps that an installation has proven itself, and with which key.
pub(crate) fn remember_proven(home: &Path, install_id: &str, kid: KeyId) -> io::Result<()> {
    if install_id.is_empty()
        || install_id.len() > MAX_ID
        || install_id.contains(char::is_whitespace)
    {
        return Ok(());
    }
    let path = home.join(FILE);
    let mut lines = lists::read_lines(&path)?;
    let line = format!("{install_id} {kid}");
    if lines.contains(&line) {
        return Ok(());
    }
    lines.retain(|line| id(line) != install_id);
    lines.push(line);
    lists::write_lines(&path, &lines, MAX_PROVEN)
}

/// Lets the installations of a key come without a proof again.
pub(crate) fn forget(home: &Path, kid: KeyId) -> io::Result<()> {
    let path = home.join(FILE);
    let mut lines = lists::read_lines(&path)?;
    let count = lines.len();
    let kid = kid.to_string();
    lines.retain(|line| line.split(' ').next_back() != Some(&*kid));
    if lines.len() == count { Ok(()) } else { lists::write_lines(&path, &lines, MAX_PROVEN) }
}

fn id(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}
