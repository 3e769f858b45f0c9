//! Installs Playwright.

use std::path::Path;
use std::process::Stdio;

use flate2::read::GzDecoder;
use rustix::io::Errno;
use rustix::process::Pid;
use semver::Version;
use tokio::process::Command;
use tokio::time::timeout;

use super::{VERSION, known};
use crate::agents::limits::INSTALL_TIMEOUT;
use crate::agents::sandbox::node::{RuntimeError, program};

/// Installs beside the place and moves it there as a whole: others may be doing the same.
pub(super) async fn install(runtime: &Path, target: &Path) -> Result<(), RuntimeError> {
    let failed = |why: String| RuntimeError::NotInstalled(why);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let npm = program("npm", &path).ok_or_else(|| failed("npm was not found".to_owned()))?;
    remove_leftovers(runtime);
    let new = runtime.join(format!("{VERSION}.{}", std::process::id()));
    std::fs::create_dir_all(&new).map_err(|error| failed(error.to_string()))?;
    tracing::info!("installing playwright-core {VERSION} into {} (once)", runtime.display());
    let fetching = Command::new(npm)
        .args(["pack", "--loglevel=error", "--ignore-scripts", "--pack-destination"])
        .arg(&new)
        .arg(format!("playwright-core@{VERSION}"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        // The folder is not a project's, because npm would take the project's settings.
        .current_dir(&new)
        .output();
    let installed = match timeout(INSTALL_TIMEOUT, fetching).await {
        Err(_) => Err(failed("npm took too long".to_owned())),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Ok(Ok(output)) if !output.status.success() => Err(failed(complaint(&output.stderr))),
        Ok(Ok(_)) => unpack(&new).map_err(failed),
    };
    if installed.is_ok() {
        // The rename fails when another process was faster; its installation is as good.
        drop(std::fs::rename(&new, target));
        tracing::info!("playwright-core {VERSION} is installed");
    }
    if new.exists() {
        drop(std::fs::remove_dir_all(&new));
    }
    installed
}

/// Unpacks the archive that npm fetched, if it is the one that the authors published.
fn unpack(target: &Path) -> Result<(), String> {
    let archive = target.join(format!("playwright-core-{VERSION}.tgz"));
    let bytes = std::fs::read(&archive).map_err(|_| "npm left nothing".to_owned())?;
    if !known::is_archive(&bytes) {
        return Err(format!(
            "what npm fetched is not playwright-core {VERSION} as its authors published it"
        ));
    }
    let modules = target.join("node_modules");
    let unpacked = std::fs::create_dir(&modules)
        .and_then(|()| tar::Archive::new(GzDecoder::new(&*bytes)).unpack(&modules))
        .and_then(|()| std::fs::rename(modules.join("package"), modules.join("playwright-core")))
        .and_then(|()| std::fs::remove_file(&archive));
    unpacked.map_err(|error| error.to_string())
}

/// Removes what processes left behind that ended while they installed.
fn remove_leftovers(runtime: &Path) {
    let Ok(entries) = std::fs::read_dir(runtime) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.rsplit_once('.')?.1.parse().ok());
        let is_unfinished = Version::parse(&name.to_string_lossy()).is_err();
        let Some(process) = process.and_then(Pid::from_raw) else { continue };
        // A folder of this process belongs to an installation that was dropped: only one installs at
        // a time.
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_archive_of_somebody_else_is_not_unpacked() {
        let target = tempfile::tempdir().unwrap();
        assert_eq!(unpack(target.path()).unwrap_err(), "npm left nothing");
        let archive = target.path().join(format!("playwright-core-{VERSION}.tgz"));
        std::fs::write(&archive, "not it").unwrap();
        assert!(unpack(target.path()).unwrap_err().contains("as its authors published it"));
        assert!(!target.path().join("node_modules").exists());
    }
}
