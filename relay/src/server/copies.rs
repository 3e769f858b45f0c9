//! Copies of what the browser has downloaded, for clients that want their files somewhere. What is
//! there already is the user's, and stays as it is.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::state::WantedCopy;

/// How many names are tried where others are taken.
const MAX_NAMES: u32 = 1000;

/// Brings a file to where clients expect it; says where it is, for each place.
///
/// # Errors
///
/// Says what could not be done, for the log.
pub(super) fn copy(
    from: &Path,
    wanted: &[WantedCopy],
) -> Result<BTreeMap<PathBuf, PathBuf>, String> {
    let one = |wanted: &WantedCopy| {
        let failed = |error| format!("cannot copy it to {}: {error}", wanted.to.display());
        let is_at = if wanted.replaces { replace(from, &wanted.to) } else { add(from, &wanted.to) };
        Ok((wanted.to.clone(), is_at.map_err(failed)?))
    };
    wanted.iter().map(one).collect()
}

/// Copies a file to a name that nothing else can have.
fn replace(from: &Path, to: &Path) -> io::Result<PathBuf> {
    make_folder(to)?;
    // A file that is copied onto itself is emptied.
    if !is_same(from, to) {
        fs::copy(from, to)?;
    }
    Ok(to.to_owned())
}

/// Copies a file to a name that may be taken; then to one close to it, as browsers do.
fn add(from: &Path, to: &Path) -> io::Result<PathBuf> {
    make_folder(to)?;
    let folders = from.parent().zip(to.parent());
    if folders.is_some_and(|(one, other)| is_same(one, other)) {
        // The browser itself has put it there, under a name that was free.
        return Ok(from.to_owned());
    }
    let mut source = File::open(from)?;
    for number in 0..MAX_NAMES {
        let to = numbered(to, number);
        let mut copy = match File::create_new(&to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            created => created?,
        };
        return match io::copy(&mut source, &mut copy) {
            Ok(_) => Ok(to),
            Err(error) => {
                drop(fs::remove_file(&to));
                Err(error)
            }
        };
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn make_folder(to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = (fs::canonicalize(one), fs::canonicalize(other));
    matches!(real, (Ok(one), Ok(other)) if one == other)
}

/// `archive (1).tar.gz` for `archive.tar.gz`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| number > 0) else { return path.to_owned() };
    let (stem, extension) = match name.rfind('.') {
        Some(dot) if dot > 0 => {
            let dot = name[..dot].strip_suffix(".tar").map_or(dot, str::len);
            name.split_at(dot)
        }
        Some(_) | None => (name, ""),
    };
    path.with_file_name(format!("{stem} ({number}){extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_already_is_not_touched() {
        let stage = Stage::new();
        let from = stage.file("downloads/report.pdf", "new");
        let older = stage.file("wanted/report.pdf", "the user's");
        let free = stage.path("wanted/report (1).pdf");
        assert_eq!(given(&from, &older, false), free);
        assert_eq!(read(&older), "the user's");
        assert_eq!(read(&free), "new");
        assert_eq!(read(&from), "new");
        assert_eq!(given(&from, &older, false), stage.path("wanted/report (2).pdf"));
    }

    #[test]
    fn a_file_that_the_browser_put_there_itself_is_left_as_it_is() {
        let stage = Stage::new();
        let older = stage.file("downloads/report.pdf", "the user's");
        let from = stage.file("downloads/report (1).pdf", "new");
        let by_other_name = stage.path("downloads/../downloads/report.pdf");
        assert_eq!(given(&from, &by_other_name, false), from);
        assert_eq!(given(&from, &from, true), from);
        assert_eq!((read(&older), read(&from)), ("the user's".to_owned(), "new".to_owned()));
        let files = fs::read_dir(stage.path("downloads")).unwrap().count();
        assert_eq!(files, 2);
    }

    #[test]
    fn a_copy_that_is_named_by_its_download_replaces_an_earlier_one() {
        let stage = Stage::new();
        let from = stage.file("downloads/report.pdf", "new");
        let to = stage.path("wanted/deep/GUID");
        for _ in 0..2 {
            assert_eq!(given(&from, &to, true), to);
            assert_eq!(read(&to), "new");
        }
    }

    #[test]
    fn what_cannot_be_read_leaves_nothing_behind() {
        let stage = Stage::new();
        let to = stage.path("wanted/report.pdf");
        let wanted = [WantedCopy { to: to.clone(), replaces: false }];
        assert!(copy(&stage.path("downloads/none.pdf"), &wanted).is_err());
        assert!(!to.exists());
    }

    #[test]
    fn numbers_stand_before_the_extension() {
        for (name, expected) in [
            ("a.pdf", "a (1).pdf"),
            ("a.tar.gz", "a (1).tar.gz"),
            ("none", "none (1)"),
            (".hidden", ".hidden (1)"),
        ] {
            assert_eq!(numbered(Path::new(name), 1), Path::new(expected));
        }
    }

    /// Where the file is, once it is where it was wanted.
    fn given(from: &Path, to: &Path, replaces: bool) -> PathBuf {
        let wanted = [WantedCopy { to: to.to_owned(), replaces }];
        copy(from, &wanted).unwrap().remove(to).unwrap()
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    struct Stage(tempfile::TempDir);

    impl Stage {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn file(&self, name: &str, content: &str) -> PathBuf {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            path
        }
    }
}
