//! Copies of what the browser has downloaded, for clients that want their files somewhere. What is
//! there already is the user's, and stays as it is.
//!
//! Where a file is, an extension says, and nothing shows that it is a browser's. So a file is copied
//! only if it can be that download: one of this user's that was made since, and of the size that has
//! come.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use rustix::io::Errno;

use relay_core::{ReportedFile, WantedCopy};

/// The number of names that are tried when names are taken.
const MAX_NAMES: u32 = 1000;

/// The precision of file times on some file systems.
const COARSE: Duration = Duration::from_secs(2);

/// Brings a file to where clients expect it; says where it is, for each place. Nothing that is in one
/// of the folders of our own is copied.
///
/// # Errors
///
/// Says what could not be done, for the log.
pub(crate) fn copy(
    from: &ReportedFile,
    wanted: &[WantedCopy],
    own_folders: &[PathBuf],
) -> Result<BTreeMap<PathBuf, PathBuf>, String> {
    let mut source = Source::open(from, own_folders)?;
    let mut one = |wanted: &WantedCopy| {
        let failed = |error| format!("cannot copy it to {}: {error}", wanted.to.display());
        Ok((wanted.to.clone(), source.bring(wanted).map_err(failed)?))
    };
    wanted.iter().map(&mut one).collect()
}

/// A file that can be the download that it is said to be.
struct Source {
    file: File,
    /// The path of the file, without links.
    path: PathBuf,
}

impl Source {
    fn open(told: &ReportedFile, own_folders: &[PathBuf]) -> Result<Self, String> {
        let shown = told.path.display();
        let unreadable = |error: io::Error| format!("cannot read {shown}: {error}");
        let nameless = || unreadable(io::ErrorKind::InvalidInput.into());
        let folder = told.path.parent().ok_or_else(nameless)?;
        let name = told.path.file_name().ok_or_else(nameless)?;
        let path = fs::canonicalize(folder).map_err(unreadable)?.join(name);
        let is_ours = |own: &PathBuf| {
            let own = fs::canonicalize(own).unwrap_or_else(|_| own.clone());
            path.starts_with(own)
        };
        if own_folders.iter().any(is_ours) {
            return Err(format!("{shown} is among the relay's own files"));
        }
        // A pipe would make us wait for somebody who writes.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits().cast_signed())
            .open(&path)
            .map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        match unlikeness(&found, told) {
            Some(why) => Err(format!("{shown} cannot be it: {why}")),
            None => Ok(Self { file, path }),
        }
    }

    /// Copies it to where it is wanted, or to a name close to that; as browsers do.
    fn bring(&mut self, wanted: &WantedCopy) -> io::Result<PathBuf> {
        if wanted.inside.is_none() {
            wanted.to.parent().map_or(Ok(()), fs::create_dir_all)?;
        }
        let folder = wanted.to.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let is_there = folder.is_some_and(|folder| self.path.parent() == Some(&folder))
            && (!wanted.is_exact || self.path.file_name() == wanted.to.file_name());
        if is_there {
            // The browser itself has put it there, under a name that was free.
            return Ok(self.path.clone());
        }
        let names = if wanted.is_exact { 1 } else { MAX_NAMES };
        for number in 0..names {
            let to = numbered(&wanted.to, number);
            let created = match &wanted.inside {
                Some(folders) => create_beneath(folders, &to),
                None => OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to),
            };
            let mut copy = match created {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            self.file.rewind()?;
            return match io::copy(&mut self.file, &mut copy) {
                Ok(_) => Ok(to),
                Err(error) => {
                    // The file is emptied through its descriptor: under its name there may be another
                    // file.
                    drop(copy.set_len(0));
                    Err(error)
                }
            };
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Returns the reason why a file cannot be the download that it is said to be.
#[expect(clippy::disallowed_methods, reason = "files have the time of the clock")]
fn unlikeness(found: &fs::Metadata, told: &ReportedFile) -> Option<String> {
    let user = rustix::process::geteuid().as_raw();
    let earliest = SystemTime::now().checked_sub(told.age + COARSE);
    let is_old = |time: io::Result<SystemTime>| time.is_ok_and(|time| Some(time) < earliest);
    if !found.is_file() {
        Some("it is no regular file".to_owned())
    } else if found.uid() != user {
        Some(format!(
            "it belongs to user {}, and the relay runs as user {user}: run the relay as the user of \
             the browser",
            found.uid()
        ))
    } else if found.nlink() != 1 {
        Some("it has other names".to_owned())
    } else if is_old(found.modified()) || is_old(found.created()) {
        // Some file systems do not record when a file was made.
        Some("it is older than the download".to_owned())
    } else if Some(found.len()) != told.size {
        let came = told.size.map_or_else(|| "an unknown number".to_owned(), |it| it.to_string());
        Some(format!("it has {} bytes, and {came} have come", found.len()))
    } else {
        None
    }
}

/// Creates a file in one of the folders, or below it. No link on the way is followed: code that may
/// write there may have made one.
fn create_beneath(folders: &[PathBuf], to: &Path) -> io::Result<File> {
    let outside =
        || io::Error::new(io::ErrorKind::PermissionDenied, "that is outside of its folders");
    let below = |folder: &'_ PathBuf| Some((folder.clone(), to.strip_prefix(folder).ok()?));
    let (folder, below) = folders.iter().find_map(below).ok_or_else(outside)?;
    let part = |part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    };
    let mut parts = below.components().map(part).collect::<Option<Vec<_>>>().ok_or_else(outside)?;
    let name = parts.pop().ok_or_else(outside)?;
    let is_folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = open(&folder, is_folder, Mode::empty())?;
    for part in parts {
        match mkdirat(&at, part, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        at = openat(&at, part, is_folder, Mode::empty())?;
    }
    let is_new =
        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(&at, name, is_new, Mode::RUSR | Mode::WUSR)?.into())
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
    use std::os::unix::fs::{PermissionsExt, symlink};

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
        assert_eq!(fs::metadata(&free).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(given(&from, &older, false), stage.path("wanted/report (2).pdf"));
        assert!(copied(&told(&from), &older, true, None).is_err(), "nothing is replaced");
        assert_eq!(read(&older), "the user's");
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
    fn a_copy_may_have_to_be_named_by_its_download() {
        let stage = Stage::new();
        let from = stage.file("downloads/report.pdf", "new");
        for to in ["wanted/deep/GUID", "downloads/GUID"] {
            let to = stage.path(to);
            assert_eq!(given(&from, &to, true), to);
            assert_eq!(read(&to), "new");
        }
    }

    #[test]
    fn what_cannot_be_the_download_is_not_copied() {
        let stage = Stage::new();
        let to = stage.path("wanted/report.pdf");
        let from = stage.file("downloads/report.pdf", "new");
        let is_refused = |told: &ReportedFile, why: &str| {
            let refusal = copied(told, &to, false, None).unwrap_err();
            assert!(refusal.contains(why), "{refusal}");
            assert!(!to.exists());
        };
        is_refused(&told(&stage.path("downloads/none.pdf")), "cannot read");
        is_refused(
            &ReportedFile { size: Some(4), ..told(&from) },
            "it has 3 bytes, and 4 have come",
        );
        is_refused(&ReportedFile { size: None, ..told(&from) }, "it has 3 bytes, and an unknown");
        symlink(&from, stage.path("downloads/link")).unwrap();
        is_refused(&told(&stage.path("downloads/link")), "cannot read");
        is_refused(&told(Path::new("/dev/null")), "no regular file");
        let folder = ReportedFile { size: Some(0), ..told(&stage.path("downloads")) };
        is_refused(&folder, "no regular file");
        let hour_ago = SystemTime::UNIX_EPOCH;
        File::options().write(true).open(&from).unwrap().set_modified(hour_ago).unwrap();
        is_refused(&told(&from), "older than the download");
        let own = stage.file("own/pairing", "key");
        fs::hard_link(&own, stage.path("downloads/other-name")).unwrap();
        is_refused(&told(&stage.path("downloads/other-name")), "other names");
        symlink(stage.path("own"), stage.path("downloads/way")).unwrap();
        is_refused(&told(&stage.path("downloads/way/pairing")), "among the relay's own files");
    }

    #[test]
    fn a_file_of_another_user_is_refused_in_clear_words() {
        let file = Path::new("/etc/passwd");
        let found = fs::metadata(file).unwrap();
        if found.uid() == rustix::process::geteuid().as_raw() {
            // Root owns all that is old enough to be found anywhere.
            let stage = Stage::new();
            let from = stage.file("downloads/report.pdf", "new");
            std::os::unix::fs::chown(&from, Some(65534), None).unwrap();
            let refusal = unlikeness(&fs::metadata(&from).unwrap(), &told(&from));
            assert!(refusal.unwrap().contains("belongs to user 65534"));
        } else {
            let refusal = unlikeness(&found, &told(file)).unwrap();
            assert!(refusal.contains("belongs to user 0"), "{refusal}");
        }
    }

    #[test]
    fn a_confined_client_gets_its_file_inside_of_its_folders_and_past_no_link() {
        let stage = Stage::new();
        let from = stage.file("downloads/report.pdf", "new");
        let elsewhere = stage.file("elsewhere/mine", "the user's");
        fs::create_dir(stage.path("session")).unwrap();
        symlink(stage.path("elsewhere"), stage.path("session/way")).unwrap();
        symlink(&elsewhere, stage.path("session/link")).unwrap();
        let inside = |to: &str, is_exact| {
            let folders = vec![fs::canonicalize(stage.path("session")).unwrap()];
            let to = folders[0].join(to);
            copied(&told(&from), &to, is_exact, Some(folders)).map(|is_at| (to, is_at))
        };
        let (to, is_at) = inside("deep/down/report.pdf", true).unwrap();
        assert_eq!(to, is_at);
        assert_eq!(read(&to), "new");
        for outside in ["way/report.pdf", "way/deep/report.pdf", "link", "../elsewhere/x", "/x"] {
            assert!(inside(outside, true).is_err(), "{outside}");
        }
        assert_eq!(fs::read_dir(stage.path("elsewhere")).unwrap().count(), 1);
        assert_eq!(read(&elsewhere), "the user's");
        let (_, beside) = inside("link", false).unwrap();
        assert!(beside.ends_with("session/link (1)"), "{beside:?}");
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

    /// Returns the path of the copy, once it is at the wanted place.
    fn given(from: &Path, to: &Path, is_exact: bool) -> PathBuf {
        copied(&told(from), to, is_exact, None).unwrap()
    }

    fn copied(
        from: &ReportedFile,
        to: &Path,
        is_exact: bool,
        inside: Option<Vec<PathBuf>>,
    ) -> Result<PathBuf, String> {
        let wanted = [WantedCopy { to: to.to_owned(), is_exact, inside }];
        let own = from.path.ancestors().map(|folder| folder.join("own"));
        let own: Vec<PathBuf> = own.filter(|own| own.is_dir()).collect();
        Ok(copy(from, &wanted, &own)?.remove(to).unwrap())
    }

    /// A file as an honest extension tells of it.
    fn told(path: &Path) -> ReportedFile {
        let size = fs::metadata(path).ok().map(|found| found.len());
        ReportedFile { path: path.to_owned(), age: Duration::from_secs(15), size }
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
            fs::canonicalize(self.0.path()).unwrap().join(name)
        }

        fn file(&self, name: &str, content: &str) -> PathBuf {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            path
        }
    }
}
