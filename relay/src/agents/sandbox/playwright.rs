//! The `playwright-core` that sandboxes load: one that the user named, or the one of Playwriter's own,
//! every byte of which is known.
//!
//! The one of the folder that an agent happens to be started in is not loaded: a repository that was
//! just cloned may bring its own, and it would have the user's browser.

mod install;
mod known;

use std::path::{Path, PathBuf};

use semver::Version;
use serde::Deserialize;
use tokio::sync::Semaphore;

use super::node::RuntimeError;
use install::install;

/// The version that is installed.
pub(crate) const VERSION: &str = "1.65.0";

/// The oldest whose snapshots have refs that locators understand.
pub(crate) const OLDEST: Version = Version::new(1, 52, 0);

/// The permit to install Playwright, for one task at a time.
static INSTALLING: Semaphore = Semaphore::const_new(1);

/// A `playwright-core` that sandboxes can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playwright {
    /// The folder of the package.
    pub folder: PathBuf,
    version: Version,
}

impl Playwright {
    /// Returns the one in a folder that the user named.
    ///
    /// # Errors
    ///
    /// Says that there is none, or that it is too old.
    pub fn named(folder: &Path) -> Result<Self, RuntimeError> {
        let found = Self::at(folder);
        let found = found.ok_or_else(|| RuntimeError::NotPlaywright(folder.to_owned()))?;
        // An early build of a coming version will do.
        let Version { major, minor, .. } = found.version;
        if (major, minor) < (OLDEST.major, OLDEST.minor) {
            let Self { folder, version } = found;
            return Err(RuntimeError::OldPlaywright { folder, version });
        }
        Ok(found)
    }

    /// Returns the one that was installed into the folder of Playwriter's files, else one that is
    /// installed now, which takes a few seconds once.
    ///
    /// # Errors
    ///
    /// Says what is in the way.
    pub async fn installed(playwriter: &Path) -> Result<Self, RuntimeError> {
        let runtime = playwriter.join("runtime");
        let target = runtime.join(VERSION);
        let package = target.join("node_modules/playwright-core");
        if let Some(installed) = Self::at(&package) {
            return Ok(installed);
        }
        // After a wait for the lock, Playwright may have been installed by the task that held it.
        let _alone = INSTALLING.acquire().await;
        if let Some(installed) = Self::at(&package) {
            return Ok(installed);
        }
        install(&runtime, &target).await?;
        Self::at(&package).ok_or_else(|| RuntimeError::NotInstalled("npm left nothing".to_owned()))
    }

    /// Works like [`Playwright::installed`], and checks every installed file once for each
    /// process.
    pub(crate) async fn known(playwriter: &Path) -> Result<Self, RuntimeError> {
        let installed = Self::installed(playwriter).await?;
        let folder = installed.folder.clone();
        let looking = tokio::task::spawn_blocking(move || known::is_known(&folder));
        match looking.await {
            Ok(true) => Ok(installed),
            Ok(false) | Err(_) => Err(RuntimeError::ChangedPlaywright(playwriter.join("runtime"))),
        }
    }

    /// Returns the folder that `PLAYWRITER_PLAYWRIGHT` names, if it names one. Otherwise sees to it
    /// that there is one of Playwriter's own.
    ///
    /// # Errors
    ///
    /// Works like [`Playwright::named`] and [`Playwright::installed`].
    pub async fn of_caller() -> Result<Option<PathBuf>, RuntimeError> {
        match std::env::var_os("PLAYWRITER_PLAYWRIGHT").filter(|named| !named.is_empty()) {
            Some(named) => Ok(Some(Self::named(Path::new(&named))?.folder)),
            None => Self::installed(&home_folder()?).await.map(|_| None),
        }
    }

    /// Returns whether this process installs it in this moment.
    pub(crate) fn is_being_installed() -> bool {
        INSTALLING.available_permits() == 0
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

/// Returns where Playwriter keeps its files. Never a folder that others can prepare.
pub(crate) fn home_folder() -> Result<PathBuf, RuntimeError> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    Ok(home.ok_or(RuntimeError::NoHome)?.join(".playwriter"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_playwright_that_was_named_is_found_or_said_to_be_too_old() {
        let folder = tempfile::tempdir().unwrap();
        let named = |version: &str| {
            let package = format!(r#"{{"name":"playwright-core","version":"{version}"}}"#);
            std::fs::write(folder.path().join("package.json"), package).unwrap();
            Playwright::named(folder.path())
        };
        for new in ["1.52.0", "1.53.1", "1.52.0-beta-1", "2.0.0"] {
            assert_eq!(named(new).unwrap().folder, folder.path().canonicalize().unwrap());
        }
        for old in ["1.51.9", "1.9.0", "0.60.0"] {
            let problem = named(old).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("playwright-core {old} in ")), "{problem}");
            assert!(problem.contains("give the folder of 1.52.0 or newer"), "{problem}");
        }
    }

    #[tokio::test]
    async fn an_installed_playwright_that_somebody_changed_is_not_loaded() {
        let playwriter = tempfile::tempdir().unwrap();
        let package = playwriter.path().join("runtime").join(VERSION);
        let package = package.join("node_modules/playwright-core");
        std::fs::create_dir_all(&package).unwrap();
        let text = format!(r#"{{"name":"playwright-core","version":"{VERSION}"}}"#);
        std::fs::write(package.join("package.json"), text).unwrap();
        assert!(Playwright::installed(playwriter.path()).await.is_ok());
        let problem = Playwright::known(playwriter.path()).await.unwrap_err().to_string();
        assert!(problem.contains("is not what its authors published"), "{problem}");
    }
}
