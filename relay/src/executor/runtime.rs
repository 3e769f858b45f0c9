//! What workers need from the machine: Node.js, and a `playwright-core`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Once;

use rustix::io::Errno;
use rustix::process::Pid;
use semver::Version;
use serde::Deserialize;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::limits::{INSTALL, START};

/// The version that is installed where there is none.
const VERSION: &str = "1.65.0";

/// The oldest whose snapshots have refs that locators understand.
const OLDEST: Version = Version::new(1, 52, 0);

/// Held by whoever installs it.
static INSTALLING: Semaphore = Semaphore::const_new(1);

/// The oldest Node.js that can keep code from files.
pub const OLDEST_NODE: u32 = 20;

/// Why no code can be run.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// There is no Node.js.
    #[error(
        "Node.js was not found on the PATH that the relay was started with\n\nhint: install Node.js {OLDEST_NODE} or newer; if `node` can be run, `playwriter stop`, and then the same again from a shell that finds it"
    )]
    NoNode,
    /// There is one, but it cannot confine code.
    #[error(
        "Node.js {0} is too old to keep code away from your files\n\nhint: install Node.js {OLDEST_NODE} or newer"
    )]
    OldNode(String),
    /// The folder that the caller named holds something else.
    #[error(
        "there is no playwright-core in {}\n\nhint: give the folder that has its package.json (PLAYWRITER_PLAYWRIGHT)",
        .0.display()
    )]
    NotPlaywright(PathBuf),
    /// The one that the caller named cannot do what agents need.
    #[error(
        "playwright-core {version} in {} is too old\n\nhint: give the folder of {OLDEST} or newer, or leave PLAYWRITER_PLAYWRIGHT out",
        .folder.display()
    )]
    OldPlaywright {
        /// Where it is.
        folder: PathBuf,
        /// Which it is.
        version: Version,
    },
    /// `npm` failed.
    #[error(
        "playwright-core {VERSION} could not be installed: {0}\n\nhint: check that the npm registry can be reached, or install it yourself and set PLAYWRITER_PLAYWRIGHT to its folder"
    )]
    NotInstalled(String),
}

/// The Node.js of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) program: PathBuf,
    pub(super) version: (u32, u32),
}

impl Node {
    /// Finds it. Another may be in its place than the last time: a relay lives long.
    pub(super) async fn find() -> Result<Self, RuntimeError> {
        Self::find_in(&std::env::var_os("PATH").unwrap_or_default()).await
    }

    async fn find_in(path: &OsStr) -> Result<Self, RuntimeError> {
        let program = program("node", path).ok_or(RuntimeError::NoNode)?;
        let asked = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(Ok(said)) = timeout(START, asked).await else { return Err(RuntimeError::NoNode) };
        let said = String::from_utf8_lossy(&said.stdout);
        let version = version(&said).ok_or(RuntimeError::NoNode)?;
        if version.0 < OLDEST_NODE {
            return Err(RuntimeError::OldNode(said.trim().to_owned()));
        }
        Ok(Self { program, version })
    }

    /// The option was renamed when it was no longer an experiment, and later took the network away
    /// too, without which there is no way to the relay.
    pub(super) fn permissions(&self) -> &'static [&'static str] {
        match self.version {
            (25.., _) => &["--permission", "--allow-net"],
            (24, _) | (23, 5..) | (22, 13..) => &["--permission"],
            (_, _) => &["--experimental-permission"],
        }
    }
}

/// The release that mends holes which this Node.js is known to have in what keeps code from files
/// (CVE-2025-55130 above all), if it has them. Distributions may have mended it under its old number.
#[must_use]
pub fn mended_node(said: &str) -> Option<&'static str> {
    let found = Version::parse(said.trim().trim_start_matches('v')).ok()?;
    let mended = match found.major {
        0..=20 => "20.20.0",
        21..=22 => "22.22.0",
        23..=24 => "24.13.0",
        25 => "25.3.0",
        26.. => return None,
    };
    Version::parse(mended).is_ok_and(|mended| found < mended).then_some(mended)
}

/// A `playwright-core` that workers can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playwright {
    /// The folder of the package.
    pub folder: PathBuf,
    version: Version,
}

impl Playwright {
    /// The one that the caller named, else the one that was installed, else one that is installed
    /// now, which takes a few seconds once.
    ///
    /// # Errors
    ///
    /// Says what is in the way.
    pub async fn find_or_install(
        chosen: Option<&Path>,
        playwriter: &Path,
    ) -> Result<Self, RuntimeError> {
        if let Some(chosen) = chosen {
            let found = Self::at(chosen);
            let found = found.ok_or_else(|| RuntimeError::NotPlaywright(chosen.to_owned()))?;
            return match found.is_too_old() {
                true => {
                    let Self { folder, version } = found;
                    Err(RuntimeError::OldPlaywright { folder, version })
                }
                false => Ok(found),
            };
        }
        let runtime = playwriter.join("runtime");
        let place = runtime.join(VERSION);
        let package = place.join("node_modules/playwright-core");
        if let Some(installed) = Self::at(&package) {
            return Ok(installed);
        }
        // Whoever waited finds it installed.
        let _alone = INSTALLING.acquire().await;
        if let Some(installed) = Self::at(&package) {
            return Ok(installed);
        }
        install(&runtime, &place).await?;
        Self::at(&package).ok_or_else(|| RuntimeError::NotInstalled("npm left nothing".to_owned()))
    }

    /// Whether this process installs it in this moment.
    pub(crate) fn is_being_installed() -> bool {
        INSTALLING.available_permits() == 0
    }

    /// The one for whoever runs this program: what `PLAYWRITER_PLAYWRIGHT` names, that of the
    /// project in whose folder it is, or the one of Playwriter's own.
    ///
    /// # Errors
    ///
    /// As [`Playwright::find_or_install`].
    pub async fn of_caller() -> Result<Self, RuntimeError> {
        let named = std::env::var_os("PLAYWRITER_PLAYWRIGHT").filter(|named| !named.is_empty());
        let named = named.map(PathBuf::from);
        let project = || Some(Self::of_project(&std::env::current_dir().ok()?)?.folder);
        Self::find_or_install(named.or_else(project).as_deref(), &home_folder()).await
    }

    /// The one that programs in this folder would load, unless it is too old for agents.
    #[must_use]
    pub fn of_project(folder: &Path) -> Option<Self> {
        static SAID: Once = Once::new();
        let places = folder.ancestors().map(|folder| folder.join("node_modules/playwright-core"));
        let found = places.filter_map(|place| Self::at(&place)).next()?;
        if found.is_too_old() {
            let Self { folder, version } = found;
            SAID.call_once(|| {
                let folder = folder.display();
                tracing::info!(
                    "playwright-core {version} in {folder} is older than {OLDEST}, so another is used"
                );
            });
            return None;
        }
        Some(found)
    }

    fn is_too_old(&self) -> bool {
        // Of a version that is to come, the early ones will do.
        let Version { major, minor, .. } = self.version;
        (major, minor) < (OLDEST.major, OLDEST.minor)
    }

    fn at(folder: &Path) -> Option<Self> {
        #[derive(Deserialize)]
        struct Package {
            name: String,
            version: String,
        }

        let folder = folder.canonicalize().ok()?;
        let package = std::fs::read(folder.join("package.json")).ok()?;
        let package = serde_json::from_slice::<Package>(&package).ok()?;
        let version = Version::parse(&package.version).ok()?;
        (package.name == "playwright-core").then_some(Self { folder, version })
    }
}

/// Where Playwriter keeps its files.
pub(super) fn home_folder() -> PathBuf {
    std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(".playwriter")
}

/// Installs beside the place and moves it there as a whole: others may be doing the same.
async fn install(runtime: &Path, place: &Path) -> Result<(), RuntimeError> {
    let failed = |why: String| RuntimeError::NotInstalled(why);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let npm = program("npm", &path).ok_or_else(|| failed("npm was not found".to_owned()))?;
    remove_leftovers(runtime);
    let new = runtime.join(format!("{VERSION}.{}", std::process::id()));
    std::fs::create_dir_all(&new).map_err(|error| failed(error.to_string()))?;
    tracing::info!("installing playwright-core {VERSION} into {} (once)", runtime.display());
    let installing = Command::new(npm)
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-progress",
            "--ignore-scripts",
            "--prefix",
        ])
        .arg(&new)
        .arg(format!("playwright-core@{VERSION}"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let installed = match timeout(INSTALL, installing).await {
        Err(_) => Err(failed("npm took too long".to_owned())),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Ok(Ok(output)) if !output.status.success() => Err(failed(complaint(&output.stderr))),
        Ok(Ok(_)) => Ok(()),
    };
    if installed.is_ok() {
        // It fails when another was faster, whose work is as good.
        drop(std::fs::rename(&new, place));
        tracing::info!("playwright-core {VERSION} is installed");
    }
    if new.exists() {
        drop(std::fs::remove_dir_all(&new));
    }
    installed
}

/// Removes what processes left behind that ended while they installed.
fn remove_leftovers(runtime: &Path) {
    let Ok(entries) = std::fs::read_dir(runtime) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.rsplit_once('.')?.1.parse().ok());
        let is_unfinished = Version::parse(&name.to_string_lossy()).is_err();
        let Some(process) = process.and_then(Pid::from_raw) else { continue };
        // One of our own has been dropped: only one installs at a time.
        let is_ours = process == rustix::process::getpid();
        let is_gone = || rustix::process::test_kill_process(process) == Err(Errno::SRCH);
        if is_unfinished && (is_ours || is_gone()) {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

/// The first line in which npm says what went wrong. It says so in other words since its version 10.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let errors = text
        .lines()
        .filter_map(|line| ["npm error", "npm ERR!"].iter().find_map(|it| line.strip_prefix(it)));
    let is_code =
        |line: &str| ["code ", "errno ", "syscall "].iter().any(|it| line.starts_with(it));
    let mut telling = errors.map(str::trim).filter(|line| !line.is_empty() && !is_code(line));
    telling.next().unwrap_or("npm does not say why").to_owned()
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn program(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::super::fake_program;
    use super::*;

    #[test]
    fn node_is_asked_for_permissions_in_its_own_words() {
        for (said, options) in [
            ("v20.20.2\n", "--experimental-permission"),
            ("v22.12.0", "--experimental-permission"),
            ("v22.13.0", "--permission"),
            ("v23.4.0", "--experimental-permission"),
            ("v23.5.0", "--permission"),
            ("v24.0.0", "--permission"),
            ("v25.1.0", "--permission --allow-net"),
        ] {
            let node = Node { program: PathBuf::new(), version: version(said).unwrap() };
            assert_eq!(node.permissions().join(" "), options, "{said}");
        }
        assert_eq!(version("node"), None);
    }

    #[tokio::test]
    async fn a_node_that_was_replaced_is_asked_for_permissions_in_the_words_of_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        for (version, options) in [
            ("v22.12.0", "--experimental-permission"),
            ("v24.0.0", "--permission"),
            ("v25.1.0", "--permission --allow-net"),
        ] {
            fake_program(folder.path(), "node", &format!("#!/bin/sh\necho {version}\n"));
            let node = Node::find_in(folder.path().as_os_str()).await.unwrap();
            assert_eq!(node.permissions().join(" "), options, "{version}");
        }
    }

    #[test]
    fn an_outdated_node_is_told_what_mends_it() {
        for (said, mended) in [
            ("v20.19.2\n", Some("20.20.0")),
            ("v20.20.2", None),
            ("v21.7.3", Some("22.22.0")),
            ("v22.22.0", None),
            ("v23.11.1", Some("24.13.0")),
            ("v25.2.1", Some("25.3.0")),
            ("v26.0.0", None),
            ("what", None),
        ] {
            assert_eq!(mended_node(said), mended, "{said}");
        }
    }

    #[test]
    fn npm_says_what_went_wrong_after_warnings_and_codes() {
        let failed = "request to https://r.example failed";
        for stderr in [
            "npm error code ENOTFOUND\nnpm error request to https://r.example failed\n",
            "npm warn old lockfile\nnpm error code E1\nnpm error request to https://r.example failed",
            "npm WARN config global\nnpm ERR! code E1\nnpm ERR! syscall getaddrinfo\n\
             npm ERR! errno E1\nnpm ERR! request to https://r.example failed\nnpm ERR! A log",
        ] {
            assert_eq!(complaint(stderr.as_bytes()), failed, "{stderr}");
        }
        for stderr in ["", "npm warn old lockfile\n", "npm error code E1\n"] {
            assert_eq!(complaint(stderr.as_bytes()), "npm does not say why", "{stderr}");
        }
    }

    #[test]
    fn what_was_not_installed_to_its_end_is_removed() {
        let runtime = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let left = format!("{VERSION}.{}", ended.id());
        let dropped = format!("1.66.0.{}", std::process::id());
        let running = format!("{VERSION}.1");
        for name in [VERSION, "1.64.0", "other", &left, &dropped, &running] {
            std::fs::create_dir_all(runtime.path().join(name).join("node_modules")).unwrap();
        }
        remove_leftovers(runtime.path());
        let kept = std::fs::read_dir(runtime.path()).unwrap();
        let mut kept: Vec<_> =
            kept.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        kept.sort();
        assert_eq!(kept, ["1.64.0", VERSION, &running, "other"]);
    }

    #[test]
    fn the_project_s_playwright_is_found_from_any_folder_in_it() {
        let project = tempfile::tempdir().unwrap();
        let package = project.path().join("node_modules/playwright-core");
        std::fs::create_dir_all(&package).unwrap();
        let inner = project.path().join("src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(Playwright::of_project(&inner), None);
        let version = |version: &str| {
            let text = format!(r#"{{"name":"playwright-core","version":"{version}"}}"#);
            std::fs::write(package.join("package.json"), text).unwrap();
        };
        for new in ["1.52.0", "1.53.1", "1.52.0-beta-1", "2.0.0"] {
            version(new);
            let found = Playwright::of_project(&inner).unwrap();
            assert_eq!(found.folder, package.canonicalize().unwrap());
        }
        for old in ["1.51.9", "1.9.0", "0.60.0"] {
            version(old);
            assert_eq!(Playwright::of_project(&inner), None, "{old}");
        }
    }

    #[tokio::test]
    async fn a_playwright_that_was_named_and_is_too_old_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let package = r#"{"name":"playwright-core","version":"1.40.1"}"#;
        std::fs::write(folder.path().join("package.json"), package).unwrap();
        let found = Playwright::find_or_install(Some(folder.path()), folder.path()).await;
        let problem = found.unwrap_err().to_string();
        assert!(problem.starts_with("playwright-core 1.40.1 in "), "{problem}");
        assert!(problem.contains("give the folder of 1.52.0 or newer"), "{problem}");
    }
}
