//! Runs agents' code: in this process, or in the relay that runs in the background.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::agents::{
    Deleted, Execute, Executor, NewSession, Outcome, Playwright, RuntimeError, SessionInfo,
    SessionName, Sessions, longest,
};
use crate::background::{
    PersistentRelayOptions, RelayServerError, ensure_persistent_relay, explained,
};
use crate::client::{Client, ClientError};

/// The time for which earlier calls may keep a call waiting in its session.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug, Clone)]
pub(crate) enum Backend {
    Here(Executor),
    There(Box<Remote>),
}

impl Backend {
    pub(super) async fn execute(&self, session: &SessionName, execute: Execute) -> Outcome {
        match self {
            // Over HTTP, agents cannot be told apart, so the state that the code relies on may be
            // another agent's.
            Self::Here(executor) => match executor.execute(session, execute).await {
                outcome if outcome.is_resumed => outcome.begun_afresh(),
                outcome => outcome,
            },
            Self::There(relay) => relay
                .execute(session, execute)
                .await
                .unwrap_or_else(|error| not_run(session, &error)),
        }
    }

    pub(super) async fn reset(&self, session: &SessionName) -> Outcome {
        match self {
            Self::Here(executor) => executor.reset(session).await,
            Self::There(relay) => {
                relay.reset(session).await.unwrap_or_else(|error| not_run(session, &error))
            }
        }
    }
}

fn not_run(session: &SessionName, error: &RemoteError) -> Outcome {
    tracing::warn!(%session, "a call of an agent failed: {error}");
    Outcome::failure(session, error.to_string())
}

/// The sessions of a relay that is another process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Remote {
    client: Client,
    /// The options for starting the relay, if it is one of this machine.
    local: Option<PersistentRelayOptions>,
    /// True if the tabs of new sessions open in a window of their own; `None` leaves it to the relay.
    separate_window: Option<bool>,
    /// The sessions whose state this process knows to be there.
    known: Arc<Mutex<BTreeSet<SessionName>>>,
}

/// The reason why code was not run.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There is no relay.
    #[error(transparent)]
    Relay(#[from] RelayServerError),
    /// There is no Playwright.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

impl Remote {
    /// The relay of this machine, which is started whenever it does not run.
    #[must_use]
    pub fn local(options: PersistentRelayOptions) -> Self {
        let client = options.client();
        Self { client, local: Some(options), separate_window: None, known: Arc::default() }
    }

    /// A relay elsewhere, which is used as it is.
    #[must_use]
    pub fn elsewhere(client: Client) -> Self {
        Self { client, local: None, separate_window: None, known: Arc::default() }
    }

    /// Sessions that are made open their tabs in a window of their own, or beside the user's.
    #[must_use]
    pub fn with_window(self, separate_window: Option<bool>) -> Self {
        Self { separate_window, ..self }
    }

    /// Runs code in a session, which is made if there is none of this name.
    ///
    /// # Errors
    ///
    /// Says why there is no relay, or no Playwright.
    pub async fn execute(
        &self,
        session: &SessionName,
        mut execute: Execute,
    ) -> Result<Outcome, RemoteError> {
        execute.playwright = self.playwright().await?;
        execute.separate_window = self.separate_window;
        self.ensure().await?;
        let limit = QUEUE_TIMEOUT + longest(execute.limit());
        let client = self.client.clone().with_timeout(limit);
        let path = format!("/sessions/{session}/execute");
        let outcome = self.answered(client.post::<Outcome>(&path, &execute).await).await?;
        Ok(self.with_note(outcome))
    }

    /// Empties a session's state.
    ///
    /// # Errors
    ///
    /// Says why there is no relay.
    pub async fn reset(&self, session: &SessionName) -> Result<Outcome, RemoteError> {
        self.ensure().await?;
        self.lock().remove(session);
        let path = format!("/sessions/{session}/reset");
        self.answered(self.client.post(&path, &json!({})).await).await
    }

    /// Makes a session with a number for a name.
    ///
    /// # Errors
    ///
    /// Says why there is none.
    pub async fn create(&self, browser: Option<String>) -> Result<SessionInfo, RemoteError> {
        let playwright = self.playwright().await?;
        self.ensure().await?;
        let separate_window = self.separate_window;
        let session = NewSession { browser, playwright, separate_window };
        self.answered(self.client.post("/sessions", &session).await).await
    }

    /// All sessions; none where no relay runs.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the relay.
    pub async fn sessions(&self) -> Result<Vec<SessionInfo>, RemoteError> {
        match self.client.get::<Sessions>("/sessions").await {
            Ok(listed) => Ok(listed.sessions),
            Err(ClientError::NobodyThere(_)) if self.local.is_some() => Ok(Vec::new()),
            Err(error) => self.answered(Err(error)).await,
        }
    }

    /// Ends a session; whether there was one.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the relay.
    pub async fn delete(&self, session: &SessionName) -> Result<bool, RemoteError> {
        let answer = self.client.delete::<Deleted>(&format!("/sessions/{session}")).await;
        Ok(self.answered(answer).await?.deleted)
    }

    /// An answer, or why there is none: relays of other projects have no sessions.
    async fn answered<T>(&self, answer: Result<T, ClientError>) -> Result<T, RemoteError> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(explained(&self.client, error).await.into()),
        }
    }

    /// Works like [`Remote::delete`], for a caller that is about to end.
    pub(super) async fn forget(&self, session: &SessionName) {
        if let Err(error) = self.delete(session).await {
            tracing::debug!(%session, %error, "the session could not be ended");
        }
    }

    /// Starts the relay before it is needed, and installs Playwright if there is none.
    pub(super) async fn prepare(&self) {
        if let Err(error) = self.ensure().await {
            tracing::debug!(%error, "the relay is not there yet");
        }
        if let Err(error) = self.playwright().await {
            tracing::debug!(%error, "Playwright is not there yet");
        }
    }

    async fn ensure(&self) -> Result<(), RelayServerError> {
        match &self.local {
            Some(options) => ensure_persistent_relay(options).await.map(drop),
            None => Ok(()),
        }
    }

    /// Returns the `playwright-core` that the user named. The relay has its own, and one elsewhere,
    /// too.
    async fn playwright(&self) -> Result<Option<PathBuf>, RemoteError> {
        if self.local.is_none() {
            return Ok(None);
        }
        Ok(Playwright::of_caller().await?)
    }

    /// A relay that was started anew does not know that there was a state.
    fn with_note(&self, outcome: Outcome) -> Outcome {
        let mut known = self.lock();
        let was_known = known.contains(&outcome.session);
        match outcome.has_state {
            true => known.insert(outcome.session.clone()),
            false => known.remove(&outcome.session),
        };
        match was_known && outcome.is_fresh {
            true => outcome.begun_afresh(),
            false => outcome,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<SessionName>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
