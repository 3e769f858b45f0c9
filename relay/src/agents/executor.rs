//! All sessions of a relay, and the calls that run in them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::future::join_all;
use shared_protocol::http::SandboxStatus;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::api::{Execute, NewSession, Outcome, SessionInfo, SessionName};
use super::browsers::Browsers;
use super::keys::Keys;
use super::limits::{IDLE_LIMIT, MAX_SESSIONS, PING_INTERVAL};
use super::sandbox::environment::{RelayPorts, SandboxEnvironment};
use super::session::Session;
use crate::boundary::{AgentsNetwork, SandboxMode};

/// The folders and programs of an executor.
#[derive(Debug, Clone, Default)]
pub struct ExecutorOptions {
    /// The folder for sessions' folders and the installed Playwright; `~/.playwriter` by default.
    pub folder: Option<PathBuf>,
    /// The `playwright-core` to use, when the caller names none.
    pub playwright: Option<PathBuf>,
    /// A `playwriter` program of this version, which puts code behind a boundary that the system keeps.
    /// It is opened when the relay starts. Without one, JavaScript alone keeps code in.
    pub launcher: Option<PathBuf>,
    /// The rule for running code where the system cannot enforce the boundary.
    pub sandbox: SandboxMode,
    /// The servers that code may connect to by itself.
    pub network: AgentsNetwork,
    /// The newest version of Landlock to use, to see what an older kernel would do.
    pub newest_landlock: Option<u8>,
}

/// All sessions of a relay. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Executor(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    sessions: Mutex<BTreeMap<SessionName, Arc<Session>>>,
    environment: Arc<SandboxEnvironment>,
    browsers: Browsers,
    is_closing: watch::Sender<bool>,
}

impl Executor {
    pub(crate) fn new(
        options: &ExecutorOptions,
        relay_ports: RelayPorts,
        browsers: Browsers,
        keys: Keys,
    ) -> Self {
        let (is_closing, closing) = watch::channel(false);
        let environment = SandboxEnvironment::new(options, relay_ports, keys, closing);
        let sessions = Mutex::default();
        let shared =
            Arc::new(Shared { sessions, environment: Arc::new(environment), browsers, is_closing });
        tokio::spawn(look_after(Arc::downgrade(&shared)));
        Self(shared)
    }

    pub(crate) fn sessions(&self) -> Vec<SessionInfo> {
        self.lock().values().map(|session| session.info()).collect()
    }

    /// Makes a session with the next free number.
    ///
    /// # Errors
    ///
    /// Says that there are too many.
    pub(crate) fn create(&self, wanted: NewSession) -> Result<SessionInfo, String> {
        let mut sessions = self.lock();
        let mut numbers = 1_u64..;
        let free = |number: &u64| !sessions.contains_key(&SessionName::numbered(*number));
        let number = numbers.find(free).unwrap_or_default();
        let name = SessionName::numbered(number);
        Ok(self.insert(&mut sessions, name, wanted)?.info())
    }

    /// Runs code in a session, which is made if there is none of this name.
    ///
    /// Runs in a task of its own: the caller may hang up, by dropping this, and the sandbox's answer
    /// must be read all the same.
    pub(crate) async fn execute(&self, name: &SessionName, request: Execute) -> Outcome {
        let executor = self.clone();
        let session = name.clone();
        let hung_up = CancellationToken::new();
        let _waiting = hung_up.clone().drop_guard();
        let running = tokio::spawn(async move {
            let begun = Instant::now();
            let outcome = executor.run(session.clone(), request, &hung_up).await;
            let (took, how) = (begun.elapsed(), if outcome.failed { "failed" } else { "done" });
            tracing::info!(%session, ?took, "a call of an agent's code: {how}");
            outcome
        });
        let stopped = |_| Outcome::failure(name, "the relay failed, or is shutting down");
        running.await.unwrap_or_else(stopped)
    }

    /// Ends a session's sandbox, so that its state is empty.
    pub(crate) async fn reset(&self, name: &SessionName) -> Outcome {
        let session = self.lock().get(name).cloned();
        let text = match session {
            Some(session) => {
                session.reset().await;
                format!(
                    "session {name} was reset: the connection to the browser was reset and is made \
                     anew by the next call, its state is empty, the tabs are untouched"
                )
            }
            None => format!("there is no session {name} yet, so its state is empty"),
        };
        Outcome::success(name, text)
    }

    /// Forgets a session; whether there was one.
    pub(crate) async fn delete(&self, name: &SessionName) -> bool {
        let session = self.lock().remove(name);
        if let Some(session) = &session {
            session.end().await;
        }
        session.is_some()
    }

    /// Returns what the system keeps code from.
    pub(crate) async fn sandbox(&self) -> SandboxStatus {
        self.0.environment.launcher().status().await
    }

    /// Returns whether sandboxes run that the system does not keep from the relay's port.
    pub(crate) fn reach_the_relay(&self) -> bool {
        self.0.environment.launcher().running().reach_the_relay()
    }

    /// Returns whether a sandbox holds the other end of a connection by its inode. Only sandboxes that
    /// the system does not keep from the relay's port are looked at.
    pub(crate) fn holds_socket(&self, inode: u64) -> bool {
        self.0.environment.launcher().running().holds_socket(inode)
    }

    /// Ends all sandboxes, those too that run code.
    pub(crate) fn close(&self) {
        self.0.is_closing.send_replace(true);
        self.lock().clear();
    }

    async fn run(
        &self,
        name: SessionName,
        request: Execute,
        hung_up: &CancellationToken,
    ) -> Outcome {
        let problem = |text: String| Outcome::failure(&name, text);
        if let Err(text) = request.check() {
            return problem(text);
        }
        let session = match self.session_with_browser(&name, &request).await {
            Ok(session) => session,
            Err(text) => return problem(text),
        };
        if let Some(key) = self.0.browsers.lasting_key(session.browser().as_deref()).await {
            session.bind(key);
        }
        let outcome = session.execute(request, hung_up).await;
        let warnings = self.0.browsers.warnings(session.browser().as_deref()).await;
        outcome.with_notes(session.untold(warnings))
    }

    /// The session of a call, when its browser is there: a call that named none, or the wrong one, of
    /// several leaves no session behind that could not be given another.
    async fn session_with_browser(
        &self,
        name: &SessionName,
        request: &Execute,
    ) -> Result<Arc<Session>, String> {
        let existing = self.lock().get(name).cloned();
        let mut browser = request.browser.clone();
        if let Some(session) = existing {
            session.check_browser(browser.as_deref())?;
            browser = session.browser().or(browser);
        }
        self.0.browsers.ready(browser.as_deref()).await?;
        self.session(name, request)
    }

    fn session(&self, name: &SessionName, request: &Execute) -> Result<Arc<Session>, String> {
        let mut sessions = self.lock();
        match sessions.get(name) {
            Some(session) => {
                session.choose(request.browser.as_deref())?;
                Ok(Arc::clone(session))
            }
            None => {
                let Execute { browser, playwright, separate_window, .. } = request.clone();
                let wanted = NewSession { browser, playwright, separate_window };
                self.insert(&mut sessions, name.clone(), wanted)
            }
        }
    }

    fn insert(
        &self,
        sessions: &mut BTreeMap<SessionName, Arc<Session>>,
        name: SessionName,
        wanted: NewSession,
    ) -> Result<Arc<Session>, String> {
        if sessions.len() >= MAX_SESSIONS {
            self.end_forgotten(sessions);
        }
        if sessions.len() >= MAX_SESSIONS {
            return Err(format!(
                "{MAX_SESSIONS} sessions are open already\n\n\
                 hint: delete one that is not needed: `playwriter session list`, then \
                 `playwriter session delete <id>`"
            ));
        }
        self.0.environment.check_folder()?;
        let session = Arc::new(Session::new(name.clone(), wanted, Arc::clone(&self.0.environment)));
        sessions.insert(name, Arc::clone(&session));
        Ok(session)
    }

    /// Makes room: agents that were killed leave their sessions behind.
    fn end_forgotten(&self, sessions: &mut BTreeMap<SessionName, Arc<Session>>) {
        let idle = sessions.iter().filter_map(|(name, it)| Some((it.idle()?, name.clone())));
        let Some((idle, name)) = idle.max() else { return };
        if idle < IDLE_LIMIT {
            return;
        }
        if let Some(session) = sessions.remove(&name) {
            tracing::info!(session = %name, ?idle, "ended a session that nobody has used for long");
            tokio::spawn(async move { session.end().await });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<SessionName, Arc<Session>>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at sandboxes that wait, as long as there is an executor.
async fn look_after(shared: Weak<Shared>) {
    let mut looks = interval(PING_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        let executor = Executor(shared);
        let sessions: Vec<Arc<Session>> = executor.lock().values().cloned().collect();
        drop(executor);
        join_all(sessions.iter().map(|session| session.look_after())).await;
    }
}
