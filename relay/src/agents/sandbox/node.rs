//! The Node.js that sandboxes run in.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use semver::Version;
use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

use super::playwright::{OLDEST, VERSION};
use crate::agents::limits::START_TIMEOUT;
use crate::boundary::NodeFiles;

/// The oldest Node.js that can keep code from files.
pub const OLDEST_NODE: u32 = 20;

/// The reason why no code can be run.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Node.js is missing.
    #[error(
        "Node.js was not found on the PATH that the relay was started with\n\nhint: install Node.js {OLDEST_NODE} or newer; if `node` can be run, `playwriter stop`, and then the same again from a shell that finds it"
    )]
    NoNode,
    /// Node.js is there, but too old to confine code.
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
        /// The folder in which it is installed.
        folder: PathBuf,
        /// The version of Node.js.
        version: Version,
    },
    /// `npm` failed.
    #[error(
        "playwright-core {VERSION} could not be installed: {0}\n\nhint: check that the npm registry can be reached, or install it yourself and set PLAYWRITER_PLAYWRIGHT to its folder"
    )]
    NotInstalled(String),
    /// Somebody changed what `npm` had installed.
    #[error(
        "playwright-core in {} is not what its authors published as {VERSION}\n\nhint: remove that folder, and it is installed anew",
        .0.display()
    )]
    ChangedPlaywright(PathBuf),
    /// There is no folder for files.
    #[error("there is no home folder\n\nhint: set HOME")]
    NoHome,
    /// Node.js cannot be confined to its own files without knowing them.
    #[error(
        "Node.js does not tell which files it needs\n\nhint: check what `node` on the PATH of the relay is"
    )]
    UnknownFiles,
}

/// The Node.js of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) program: PathBuf,
    pub(crate) version: (u32, u32),
}

impl Node {
    /// Finds it. Another may be in its place than the last time: a relay lives long.
    pub(crate) async fn find() -> Result<Self, RuntimeError> {
        Self::find_in(&std::env::var_os("PATH").unwrap_or_default()).await
    }

    async fn find_in(path: &OsStr) -> Result<Self, RuntimeError> {
        let program = program("node", path).ok_or(RuntimeError::NoNode)?;
        let asked = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(Ok(said)) = timeout(START_TIMEOUT, asked).await else {
            return Err(RuntimeError::NoNode);
        };
        let said = String::from_utf8_lossy(&said.stdout);
        let version = version(&said).ok_or(RuntimeError::NoNode)?;
        if version.0 < OLDEST_NODE {
            return Err(RuntimeError::OldNode(said.trim().to_owned()));
        }
        Ok(Self { program, version })
    }

    /// The option was renamed when it was no longer an experiment, and later took the network away
    /// too, without which there is no way to the relay.
    pub(crate) fn permissions(&self) -> &'static [&'static str] {
        match self.version {
            (25.., _) => &["--permission", "--allow-net"],
            (24, _) | (23, 5..) | (22, 13..) => &["--permission"],
            (_, _) => &["--experimental-permission"],
        }
    }
}

/// The script that asks a Node.js once for the files that it uses.
const FILES: &str = "process.report.excludeNetwork = true; console.log(JSON.stringify({ \
    program: process.execPath, objects: process.report.getReport().sharedObjects }))";

/// The files of the last Node.js that was asked, and which it was.
static ASKED: Mutex<Option<(Asked, NodeFiles)>> = Mutex::new(None);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    node: Node,
    changed: Option<SystemTime>,
}

impl Node {
    /// Returns the files that it needs, as it tells them itself.
    pub(crate) async fn files(&self) -> Result<NodeFiles, RuntimeError> {
        #[derive(Deserialize)]
        struct Told {
            program: PathBuf,
            objects: Vec<PathBuf>,
        }

        let changed = std::fs::metadata(&self.program).and_then(|it| it.modified()).ok();
        let asked = Asked { node: self.clone(), changed };
        if let Some((last, files)) = &*ASKED.lock().unwrap_or_else(PoisonError::into_inner)
            && *last == asked
        {
            return Ok(files.clone());
        }
        let asking = Command::new(&self.program)
            .args(["-e", FILES])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(Ok(said)) = timeout(START_TIMEOUT, asking).await else {
            return Err(RuntimeError::UnknownFiles);
        };
        let told: Told =
            serde_json::from_slice(&said.stdout).map_err(|_| RuntimeError::UnknownFiles)?;
        let files = NodeFiles { program: told.program, objects: told.objects };
        let mut last = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((asked, files.clone()));
        Ok(files)
    }
}

/// Returns the release that fixes the known holes of this Node.js through which code reaches files
/// (CVE-2025-55130 above all), if it has them. A distribution may have fixed it under its old number.
#[must_use]
pub fn fixed_node(said: &str) -> Option<&'static str> {
    let found = Version::parse(said.trim().trim_start_matches('v')).ok()?;
    let fixed = match found.major {
        0..=20 => "20.20.0",
        21..=22 => "22.22.0",
        23..=24 => "24.13.0",
        25 => "25.3.0",
        26.. => return None,
    };
    Version::parse(fixed).is_ok_and(|fixed| found < fixed).then_some(fixed)
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Returns the program of a name that is first on a PATH.
pub(crate) fn program(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::fake_program;

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
    fn an_outdated_node_is_reported_with_the_release_to_install() {
        for (said, fixed) in [
            ("v20.19.2\n", Some("20.20.0")),
            ("v20.20.2", None),
            ("v21.7.3", Some("22.22.0")),
            ("v22.22.0", None),
            ("v23.11.1", Some("24.13.0")),
            ("v25.2.1", Some("25.3.0")),
            ("v26.0.0", None),
            ("what", None),
        ] {
            assert_eq!(fixed_node(said), fixed, "{said}");
        }
    }
}
