//! Ensures that one relay runs, however many programs ask at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;
use shared_protocol::DEFAULT_PORT;
use shared_protocol::http::{self, RelayStatus, WindowModeChange};
use tokio::time::{Instant, sleep, timeout};

use super::handover::{restart_options, successor_options};
use super::lock::Lock;
use super::stop::ask_to_stop;
use super::{RelayServerError, folder_of, log_file, spawn};
use crate::client::{Client, ClientError, Endpoint, is_ours};
use crate::relay_file::RelayRecord;
use crate::start_error::StartError;
use crate::system::folders::make_folder;
use crate::trust::Token;

/// The interval at which a relay that is starting or stopping is polled.
pub(crate) const RELAY_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A relay that is just closing takes connections and drops them.
const CLOSING_RELAY_TIMEOUT: Duration = Duration::from_secs(3);

/// The wanted relay and its settings.
#[derive(Debug, Clone)]
pub struct PersistentRelayOptions {
    /// The port on this machine at which the relay listens.
    pub port: u16,
    /// The time in which the relay must answer.
    pub timeout: Duration,
    /// The window mode; whatever it has, or beside the user's tabs, when `None`.
    pub separate_window: Option<bool>,
    /// The token that programs must show to the relay, and that a running relay is shown.
    pub token: Option<Token>,
    /// More arguments for `playwriter serve`, if it has to be started. One that comes in the place of
    /// an older relay, or of one that was killed, keeps what that was told, but for these.
    pub arguments: Vec<OsString>,
    /// The `playwriter` to start; this very program, one beside it, or one on the `PATH` when
    /// `None`.
    pub program: Option<PathBuf>,
    /// The home folder in whose `.playwriter` it keeps its files; this user's when `None`.
    pub home: Option<PathBuf>,
}

impl Default for PersistentRelayOptions {
    fn default() -> Self {
        Self {
            port: DEFAULT_PORT,
            timeout: Duration::from_secs(10),
            separate_window: None,
            token: None,
            arguments: Vec::new(),
            program: None,
            home: None,
        }
    }
}

impl PersistentRelayOptions {
    /// Asks the relay that is wanted, once it runs.
    pub(crate) fn client(&self) -> Client {
        let client = Client::new(Endpoint::local(self.port), self.token.clone());
        match folder_of(self.home.as_deref(), self.port) {
            Ok(folder) => client.in_folder(folder),
            Err(_) => client,
        }
    }
}

/// A relay that runs in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistentRelay {
    /// True if this call started the relay.
    pub started: bool,
    /// The version; perhaps newer than this library's if it was there already, and older if a browser
    /// would end with it.
    pub version: String,
    /// The port on this machine at which the relay listens.
    pub port: u16,
}

/// The owner of the port.
enum Found {
    Nobody,
    Usable(String),
    Older(String),
}

/// Sees to it that a relay runs in the background: one that is there is used, an older one of ours
/// is asked to stop and replaced, and nothing else is touched. An older one of `playwriter browser
/// start`, with which its browser would end, is used. One in the place of a relay that was killed has
/// the same settings.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), relay::RelayServerError> {
/// use relay::{PersistentRelayOptions, ensure_persistent_relay};
///
/// # let server = relay::RelayServerOptions { port: 0, ..Default::default() };
/// # let server = relay::start_relay_server(server).await?;
/// # let port = server.address().port();
/// let options = PersistentRelayOptions { port, ..Default::default() };
/// let relay = ensure_persistent_relay(&options).await?;
/// println!("relay {} on port {}, started: {}", relay.version, relay.port, relay.started);
/// # assert!(!relay.started);
/// # server.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Says who has the port, or why the relay did not start.
pub async fn ensure_persistent_relay(
    options: &PersistentRelayOptions,
) -> Result<PersistentRelay, RelayServerError> {
    let ensured = timeout(options.timeout, ensure(options)).await;
    let relay = match ensured {
        Ok(relay) => relay?,
        Err(_) => {
            let why = format!("no answer within {:?}", options.timeout);
            let log = log_file(&folder_of(options.home.as_deref(), options.port)?);
            let port = options.port;
            return Err(RelayServerError::RelayStart { port, why, hint: None, log });
        }
    };
    if let Some(separate_window) = options.separate_window
        && !relay.started
    {
        let client = options.client();
        choose_window_mode(&client, separate_window).await?;
    }
    Ok(relay)
}

async fn ensure(options: &PersistentRelayOptions) -> Result<PersistentRelay, RelayServerError> {
    let port = options.port;
    // In the environment of the new process, an empty token would count as none.
    if options.token.as_ref().is_some_and(|token| !token.is_usable()) {
        return Err(RelayServerError::Start { port, source: StartError::UnusableToken });
    }
    let running = |version| PersistentRelay { started: false, version, port };
    let folder = folder_of(options.home.as_deref(), options.port)?;
    if let Found::Usable(version) = look(port, &folder).await? {
        return Ok(running(version));
    }
    let unusable = |source| RelayServerError::Folder { port, folder: folder.clone(), source };
    make_folder(&folder).map_err(unusable)?;
    let lock = Lock::take(&folder.join(format!("relay-{port}.lock"))).await.map_err(unusable)?;
    // Somebody may have been faster.
    let found = look(port, &folder).await?;
    let log = log_file(&folder);
    let (program, options) = match found {
        Found::Usable(version) => return Ok(running(version)),
        Found::Older(version) if has_browser(port, &version, &folder) => {
            return Ok(running(version));
        }
        Found::Older(version) => {
            // Everything that can fail comes before the running relay is stopped.
            let program = spawn::program(options, &log).await?;
            let options = successor_options(options, version, &folder).await?;
            ask_to_stop(port, &folder).await?;
            (program, options)
        }
        Found::Nobody => {
            let options = restart_options(options, &folder)?;
            (spawn::program(&options, &log).await?, options)
        }
    };
    let relay = start(&program, &options, &folder).await;
    drop(lock);
    relay
}

/// Returns `true` if a browser would end with the relay. A replacement must not end a browser.
fn has_browser(port: u16, version: &str, folder: &Path) -> bool {
    RelayRecord::read(folder, port)
        .is_some_and(|record| record.has_browser && record.version == version)
}

async fn start(
    program: &Path,
    options: &PersistentRelayOptions,
    folder: &Path,
) -> Result<PersistentRelay, RelayServerError> {
    let (port, log) = (options.port, log_file(folder));
    let mut child = spawn::spawn(program, options, log.clone())?;
    let (why, hint) = tokio::select! {
        ended = spawn::ended(&mut child) => ended,
        version = answering(port, folder) => {
            return Ok(PersistentRelay { started: true, version, port });
        }
    };
    // The process may have ended because a relay that was started by hand got the port.
    match look(port, folder).await? {
        Found::Usable(version) => Ok(PersistentRelay { started: false, version, port }),
        Found::Nobody | Found::Older(_) => {
            Err(RelayServerError::RelayStart { port, why, hint, log })
        }
    }
}

/// Completes when a relay answers.
async fn answering(port: u16, folder: &Path) -> String {
    loop {
        if let Ok(Found::Usable(version)) = look(port, folder).await {
            return version;
        }
        sleep(RELAY_POLL_INTERVAL).await;
    }
}

async fn look(port: u16, folder: &Path) -> Result<Found, RelayServerError> {
    let Some(found) = whose(port, folder).await? else { return Ok(Found::Nobody) };
    let http::Version { version, proof, .. } = found;
    let is_older = match (Version::parse(&version), Version::parse(crate::VERSION)) {
        (Ok(running), Ok(own)) => running < own,
        (Err(_), _) | (_, Err(_)) => false,
    };
    match (is_older, proof) {
        (true, _) => Ok(Found::Older(version)),
        (false, Some(_)) => Ok(Found::Usable(version)),
        (false, None) => Err(ClientError::Unproven(Endpoint::local(port)).into()),
    }
}

/// The relay of ours that has the port, or `None` when nobody has it. One without a proof is older than
/// proofs are, or not this user's.
pub(crate) async fn whose(
    port: u16,
    folder: &Path,
) -> Result<Option<http::Version>, RelayServerError> {
    let client = Client::new(Endpoint::local(port), None).in_folder(folder);
    let given_up = Instant::now() + CLOSING_RELAY_TIMEOUT;
    loop {
        match client.version().await {
            Ok(version) if is_ours(&version) => return Ok(Some(version)),
            Ok(http::Version { version, .. }) => {
                return Err(RelayServerError::AnotherRelay { port, version });
            }
            Err(ClientError::NobodyThere(_)) => return Ok(None),
            Err(ClientError::Unreachable { .. }) if Instant::now() < given_up => {}
            Err(ClientError::TooSlow(_)) => return Err(RelayServerError::NoAnswer { port }),
            Err(_) => return Err(RelayServerError::PortTaken { port }),
        }
        sleep(RELAY_POLL_INTERVAL).await;
    }
}

/// Changes where a running relay has clients' new tabs open, if need be.
///
/// # Errors
///
/// Says why the relay cannot be asked.
pub async fn choose_window_mode(
    client: &Client,
    separate_window: bool,
) -> Result<(), RelayServerError> {
    let status: RelayStatus = client.get("/relay/status").await?;
    if status.separate_window != separate_window {
        let change = WindowModeChange { separate_window };
        client.post::<WindowModeChange>("/relay/window-mode", &change).await?;
    }
    Ok(())
}
