//! A browser of our own with the extension loaded: for people who try Playwriter, and for tests.
//!
//! It is driven over a private pipe, so that no debugging port is open to anybody else. The pipe
//! is used only to reach the extension's worker; tabs are driven through the relay like any other.

mod pipe;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use command_fds::FdMapping;
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use pipe::Pipe;

use crate::system::descriptors::spawn_with;

/// Programs that are a Chromium, best first.
const PROGRAMS: [&str; 9] = [
    "chromium",
    "chromium-browser",
    "brave-browser",
    "brave-browser-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "google-chrome-for-testing",
    "google-chrome",
    "google-chrome-stable",
];

/// The time that the browser may take to start and to load the extension.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The first version that tells when a worker's script has loaded.
const TELLS_OF_LOADED_SCRIPTS: u32 = 143;

/// The time that the script may take to load in an older extension.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(3);

/// The time that the worker may take for a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// The time that the browser may take to end before it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The options for starting a browser.
#[derive(Debug, Clone)]
pub struct BrowserOptions {
    /// The browser's program.
    pub program: PathBuf,
    /// The folder with the extension's manifest.
    pub extension: PathBuf,
    /// The id that Chrome gives it, by the key in its manifest.
    pub extension_id: String,
    /// The folder for the profile; a browser that already uses it must not run.
    pub profile: PathBuf,
    /// True to run the browser without a window.
    pub headless: bool,
    /// More switches.
    pub arguments: Vec<OsString>,
    /// Environment variables on top of ours.
    pub environment: Vec<(OsString, OsString)>,
}

/// A browser that this process started. Dropping it kills the browser.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    pipe: Pipe,
    /// The address of everything in the extension.
    origin: String,
}

/// The reason why a browser is of no use.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The extension was not built, or is elsewhere.
    #[error("there is no extension in {}\n\nhint: run `make extension`", .0.display())]
    NoExtension(PathBuf),
    /// The profile's folder cannot be written.
    #[error("cannot write to the profile {}", profile.display())]
    Profile {
        /// The profile.
        profile: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("cannot start {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The browser ended or stopped answering.
    #[error(
        "the browser ended while it was being set up\n\nhint: close any other browser that uses the profile {}, or start the browser by hand to see why",
        .0.display()
    )]
    Ended(PathBuf),
    /// The browser runs, but something in it took too long.
    #[error(
        "the browser did not {0} in time\n\nhint: try again; if that does not help, start the browser by hand to see why"
    )]
    TooSlow(&'static str),
    /// The worker threw, or could not be reached.
    #[error("the extension's worker failed: {0}")]
    Worker(String),
}

/// Finds an installed browser on the `PATH`.
#[must_use]
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    PROGRAMS.iter().find_map(|program| {
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
    })
}

impl Browser {
    /// Starts the browser and waits until it has loaded the extension.
    ///
    /// # Errors
    ///
    /// Says what is missing, or that the browser ended or hung.
    pub async fn start(options: &BrowserOptions) -> Result<Self, BrowserError> {
        if !options.extension.join("manifest.json").is_file() {
            return Err(BrowserError::NoExtension(options.extension.clone()));
        }
        pin_icon(&options.profile, &options.extension_id)
            .map_err(|source| BrowserError::Profile { profile: options.profile.clone(), source })?;
        let failed = |source| BrowserError::Start { program: options.program.clone(), source };
        let (for_browser, from_us) = io::pipe().map_err(failed)?;
        let (from_browser, for_us) = io::pipe().map_err(failed)?;
        let mut command = Command::new(&options.program);
        command
            .args(switches(options))
            .args(&options.arguments)
            .arg("about:blank")
            .envs(options.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let given = vec![
            FdMapping { parent_fd: for_browser.into(), child_fd: 3 },
            FdMapping { parent_fd: for_us.into(), child_fd: 4 },
        ];
        let child = spawn_with(command, given).map_err(failed)?;
        let pipe = Pipe::new(from_us.into(), from_browser.into()).map_err(failed)?;
        let origin = format!("chrome-extension://{}/", options.extension_id);
        let browser = Self { child, pipe, origin };
        let loaded = async {
            if loads_by_devtools(&options.program) {
                let path = json!({ "path": options.extension });
                browser.call(None, "Extensions.loadUnpacked", path).await?;
            }
            Ok(browser.worker().await)
        };
        timeout(START_TIMEOUT, loaded)
            .await
            .map_err(|_| BrowserError::TooSlow("load the extension"))??
            .ok_or_else(|| BrowserError::Ended(options.profile.clone()))?;
        Ok(browser)
    }

    /// Tells the extension where its relay listens, as the options page would.
    ///
    /// # Errors
    ///
    /// Works like [`Browser::evaluate_in_worker`].
    pub async fn use_relay_port(&self, port: u16) -> Result<(), BrowserError> {
        let expression = format!("chrome.storage.local.set({{ relayPort: {port} }})");
        self.evaluate_in_worker(&expression).await.map(drop)
    }

    /// Does the same as a click on the extension's icon, on the tab in front.
    ///
    /// # Errors
    ///
    /// Fails as [`Browser::evaluate_in_worker`] does.
    pub async fn click_icon(&self) -> Result<Value, BrowserError> {
        // A map has no JSON.
        self.evaluate_in_worker(
            "toggleExtensionForActiveTab().then(({ isConnected, state }) =>
                ({ isConnected, state: { ...state, tabs: [...state.tabs.values()] } }))",
        )
        .await
    }

    /// Evaluates an expression in the extension's worker, and awaits it if it is a promise.
    ///
    /// # Errors
    ///
    /// Gives what the expression threw, or says why there was no answer.
    pub async fn evaluate_in_worker(&self, expression: &str) -> Result<Value, BrowserError> {
        let evaluation = async {
            let Some(worker) = self.worker().await else { return Err(gone()) };
            let attach = json!({ "targetId": worker, "flatten": true });
            let attached = self.call(None, "Target.attachToTarget", attach).await?;
            let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
            self.script_loaded(&session).await?;
            let parameters = json!({
                "expression": expression, "awaitPromise": true, "returnByValue": true,
            });
            let answer = self.call(Some(&session), "Runtime.evaluate", parameters).await;
            // An attached worker never sleeps, and its life would not be that of a user's.
            let detach = json!({ "sessionId": session });
            self.call(None, "Target.detachFromTarget", detach).await?;
            answer
        };
        let answer = timeout(COMMAND_TIMEOUT, evaluation)
            .await
            .map_err(|_| BrowserError::TooSlow("answer for its extension"))??;
        let details = &answer["exceptionDetails"];
        if details.is_null() {
            return Ok(answer["result"]["value"].clone());
        }
        let thrown = details["exception"]["description"].as_str();
        Err(BrowserError::Worker(thrown.unwrap_or("an unknown exception").to_owned()))
    }

    async fn script_loaded(&self, session: &str) -> Result<(), BrowserError> {
        let version = self.call(None, "Browser.getVersion", json!({})).await?;
        let product = version["product"].as_str().unwrap_or_default();
        let major = product.split(['/', '.']).nth(1).and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major >= TELLS_OF_LOADED_SCRIPTS) {
            return self.pipe.script_loaded(session).await.ok_or_else(gone);
        }
        // The script has loaded by then, or never will.
        tokio::time::sleep(SCRIPT_TIMEOUT).await;
        Ok(())
    }

    /// Runs a DevTools command on the browser itself.
    ///
    /// # Errors
    ///
    /// Says what was wrong with it, or that there was no answer.
    pub async fn devtools(&self, method: &str, params: Value) -> Result<Value, BrowserError> {
        let answer = timeout(COMMAND_TIMEOUT, self.call(None, method, params)).await;
        answer.map_err(|_| BrowserError::TooSlow("answer"))?
    }

    async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, BrowserError> {
        match self.pipe.call(session, method, params).await {
            Some(outcome) => {
                outcome.map_err(|why| BrowserError::Worker(format!("{method}: {why}")))
            }
            None => Err(gone()),
        }
    }

    /// Waits for the browser's end.
    pub async fn ended(&mut self) {
        // Whatever the exit status: the browser is gone.
        drop(self.child.wait().await);
    }

    /// Asks the browser to end, and ends it if it does not.
    pub async fn stop(mut self) {
        let closing = async {
            // However it answers, what counts is that it ends.
            drop(self.pipe.call(None, "Browser.close", json!({})).await);
            self.child.wait().await
        };
        if timeout(EXIT_TIMEOUT, closing).await.is_err() {
            // The process may have ended in this very moment.
            drop(self.child.kill().await);
        }
    }

    /// The target id of the extension's service worker, as soon as there is one; `None` when the
    /// browser has gone.
    pub async fn worker(&self) -> Option<String> {
        self.pipe.target("service_worker", &self.origin).await
    }

    /// Waits until a worker has ended that [`Browser::worker`] has given.
    pub async fn worker_ended(&self, worker: &str) {
        self.pipe.target_gone(worker).await;
    }
}

/// Makes a fresh profile show the extension's icon, which Chrome hides in a menu.
fn pin_icon(profile: &Path, extension: &str) -> io::Result<()> {
    let folder = profile.join("Default");
    let preferences = folder.join("Preferences");
    if preferences.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    // An unpacked extension needs developer mode.
    let ui = json!({ "developer_mode": true });
    let pinned = json!({ "extensions": { "pinned_extensions": [extension], "ui": ui } });
    std::fs::write(preferences, pinned.to_string())
}

/// Google Chrome does not heed `--load-extension`, but takes an extension from who started it with a
/// pipe and says that this is meant.
fn loads_by_devtools(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.contains("chrome") && !name.contains("testing")
}

fn gone() -> BrowserError {
    BrowserError::Worker("the browser has gone".to_owned())
}

fn switches(options: &BrowserOptions) -> Vec<OsString> {
    let with_path = |switch: &str, path: &Path| {
        let mut argument = OsString::from(switch);
        argument.push(path);
        argument
    };
    let mut switches: Vec<OsString> = [
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    .map(OsString::from)
    .into();
    switches.push(with_path("--user-data-dir=", &options.profile));
    if loads_by_devtools(&options.program) {
        switches.push("--enable-unsafe-extension-debugging".into());
    } else {
        switches.push(with_path("--disable-extensions-except=", &options.extension));
        switches.push(with_path("--load-extension=", &options.extension));
    }
    if options.headless {
        switches.extend(["--headless=new", "--disable-gpu"].map(OsString::from));
    }
    if has_no_sandbox() {
        switches.push("--no-sandbox".into());
    }
    switches
}

/// Returns whether a browser that is started has no sandbox around its pages: Chromium refuses to sandbox
/// itself for root.
#[must_use]
pub fn has_no_sandbox() -> bool {
    rustix::process::geteuid().is_root()
}
