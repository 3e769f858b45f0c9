//! The environment in which sandboxes are started.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tokio::sync::watch;

use super::launcher::Launcher;
use super::node::{Node, RuntimeError};
use super::playwright::{Playwright, home_folder};
use super::process::{Sandbox, Start};
use super::scripts;
use crate::agents::ExecutorOptions;
use crate::agents::api::{NewSession, SessionName};
use crate::agents::keys::Keys;
use relay_core::Confinement;

/// The environment that all sessions of a relay have in common.
#[derive(Debug)]
pub(crate) struct SandboxEnvironment {
    /// `None` where the user has no home.
    folder: Option<PathBuf>,
    playwright: Option<PathBuf>,
    relay_ports: RelayPorts,
    launcher: Launcher,
    keys: Keys,
    closing: watch::Receiver<bool>,
}

/// The ports of the relay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelayPorts {
    /// The address for sandboxes.
    pub(crate) sandboxes: SocketAddr,
    /// The port for all other programs.
    pub(crate) others: u16,
}

impl SandboxEnvironment {
    pub(crate) fn new(
        options: &ExecutorOptions,
        relay_ports: RelayPorts,
        keys: Keys,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let folder = options.folder.clone().or_else(|| home_folder().ok());
        let playwright = options.playwright.clone();
        let launcher = Launcher::new(options, relay_ports, folder.clone());
        Self { folder, playwright, relay_ports, launcher, keys, closing }
    }

    pub(crate) fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// # Errors
    ///
    /// Says that there is no place for sessions' files.
    pub(crate) fn check_folder(&self) -> Result<&Path, String> {
        self.folder.as_deref().ok_or_else(|| RuntimeError::NoHome.to_string())
    }

    pub(crate) fn folder_of(&self, session: &SessionName) -> PathBuf {
        // No file can be made below a device.
        let folder = self.folder.as_deref().unwrap_or(Path::new("/dev/null"));
        folder.join("sessions").join(session.as_str())
    }

    /// Starts a sandbox for a session.
    ///
    /// # Errors
    ///
    /// Says in a sentence why there is none.
    pub(crate) async fn start_sandbox(
        &self,
        session: &SessionName,
        wanted: &NewSession,
        browser: Option<String>,
    ) -> Result<Sandbox, String> {
        let all = self.check_folder()?;
        let chosen = wanted.playwright.as_deref().or(self.playwright.as_deref());
        let failed = |error: RuntimeError| error.to_string();
        let node = Node::find().await.map_err(failed)?;
        let playwright = match chosen {
            Some(named) => Playwright::named(named).map_err(failed)?,
            None => Playwright::known(all).await.map_err(failed)?,
        };
        let files = match self.launcher.has_program() {
            true => Some(node.files().await.map_err(failed)?),
            false => None,
        };
        let unwritable =
            |error: std::io::Error| format!("cannot write to {}: {error}", all.display());
        let folder = self.folder_of(session);
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let folder = real(&folder);
        let temporary = empty(folder.join("tmp")).map_err(unwritable)?;
        let scripts = real(&scripts::write(all).map_err(unwritable)?);
        let folders = vec![folder.clone()];
        let key = self.keys.issue(Confinement { folders }, browser).map_err(unwritable)?;
        let code = [&*scripts, &*playwright.folder];
        let start = Start {
            node: &node,
            program: files.as_ref().map_or(&node.program, |files| &files.program),
            launch: self.launcher.launch(files.as_ref(), &code, &folder)?,
            launcher: &self.launcher,
            scripts: &scripts,
            playwright: &playwright.folder,
            folder: &folder,
            temporary: &temporary,
            endpoint: self.endpoint(session, wanted),
            key,
            closing: self.closing.clone(),
        };
        Sandbox::start(start).await
    }

    fn endpoint(&self, session: &SessionName, wanted: &NewSession) -> String {
        // A name that code of other sessions cannot take before.
        let sandbox = getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()));
        let address = self.relay_ports.sandboxes;
        let window = wanted.separate_window.map(|wanted| format!("?separateWindow={wanted}"));
        let window = window.unwrap_or_default();
        format!("ws://{address}/cdp/session-{session}-{sandbox:x}{window}")
    }
}

/// Returns a folder for temporary files, without those that a sandbox left which was killed.
fn empty(folder: PathBuf) -> std::io::Result<PathBuf> {
    match std::fs::symlink_metadata(&folder) {
        Ok(there) if there.is_dir() => std::fs::remove_dir_all(&folder)?,
        Ok(_) => std::fs::remove_file(&folder)?,
        Err(_) => {}
    }
    std::fs::create_dir(&folder)?;
    Ok(folder)
}

/// A folder by its real name, which is what Node's permissions go by.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
