//! What workers are started with, and where.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::sync::watch;

use super::api::{NewSession, SessionName};
use super::keys::Keys;
use super::runtime::{self, Node, Playwright};
use super::worker::{Start, Worker};
use super::{ExecutorOptions, scripts};
use crate::state::Confinement;

/// What all sessions of a relay have in common.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    playwright: Option<PathBuf>,
    doors: Doors,
    keys: Keys,
    closing: watch::Receiver<bool>,
}

/// Where the relay listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doors {
    /// For workers.
    pub(crate) workers: SocketAddr,
    /// For everybody else.
    pub(crate) others: u16,
}

impl Place {
    pub(super) fn new(
        options: &ExecutorOptions,
        doors: Doors,
        keys: Keys,
        closing: watch::Receiver<bool>,
    ) -> Self {
        let folder = options.folder.clone().unwrap_or_else(runtime::home_folder);
        let playwright = options.playwright.clone();
        Self { folder, playwright, doors, keys, closing }
    }

    pub(super) fn folder_of(&self, session: &SessionName) -> PathBuf {
        self.folder.join("sessions").join(session.as_str())
    }

    /// Starts a worker for a session.
    ///
    /// # Errors
    ///
    /// Says in a sentence why there is none.
    pub(super) async fn start_worker(
        &self,
        session: &SessionName,
        wanted: &NewSession,
        browser: Option<String>,
    ) -> Result<Worker, String> {
        let chosen = wanted.playwright.as_deref().or(self.playwright.as_deref());
        let node = Node::find().await.map_err(|error| error.to_string())?;
        let playwright = Playwright::find_or_install(chosen, &self.folder)
            .await
            .map_err(|error| error.to_string())?;
        let unwritable =
            |error: std::io::Error| format!("cannot write to {}: {error}", self.folder.display());
        let folder = self.folder_of(session);
        std::fs::create_dir_all(&folder).map_err(unwritable)?;
        let (folder, temporary) = (real(&folder), real(&std::env::temp_dir()));
        let scripts = real(&scripts::write(&self.folder).map_err(unwritable)?);
        let folders = vec![folder.clone(), temporary.clone()];
        let key = self.keys.issue(Confinement { folders }).map_err(unwritable)?;
        let start = Start {
            node: &node,
            scripts: &scripts,
            playwright: &playwright.folder,
            folder: &folder,
            temporary: &temporary,
            endpoint: self.endpoint(session, wanted, browser),
            relay_port: self.doors.others,
            key,
            closing: self.closing.clone(),
        };
        Worker::start(start).await
    }

    fn endpoint(
        &self,
        session: &SessionName,
        wanted: &NewSession,
        browser: Option<String>,
    ) -> String {
        // A name that code of other sessions cannot take before.
        let worker = getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id()));
        let address = self.doors.workers;
        let browser = browser.map(|browser| {
            format!("extensionId={}", utf8_percent_encode(&browser, NON_ALPHANUMERIC))
        });
        let window = wanted.separate_window.map(|wanted| format!("separateWindow={wanted}"));
        let query: Vec<String> = browser.into_iter().chain(window).collect();
        format!("ws://{address}/cdp/session-{session}-{worker:x}?{}", query.join("&"))
    }
}

/// A folder by its real name, which is what Node's permissions go by.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
