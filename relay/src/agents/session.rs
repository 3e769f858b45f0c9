//! A session: a worker that is started on first use and kept, and one call at a time.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::api::{Execute, NewSession, Outcome, SessionInfo, SessionName};
use super::limits::{FORGOTTEN, MAX_WAITING};
use super::outcome::{Death, Loss};
use super::sandbox::environment::Place;
use super::sandbox::process::{Broken, Worker};

const CANCELLED: &str = "the call was cancelled";

#[derive(Debug)]
pub(super) struct Session {
    name: SessionName,
    wanted: NewSession,
    place: Arc<Place>,
    slot: Mutex<Slot>,
    binding: std::sync::Mutex<Binding>,
    is_running: AtomicBool,
    /// Counts resets: a worker that runs code is told by a change.
    resets: watch::Sender<u64>,
    waiting: AtomicUsize,
    /// When its last call ended.
    last_used: watch::Sender<Instant>,
    /// The warnings that have been passed on.
    told: std::sync::Mutex<BTreeSet<String>>,
}

/// The browser that a session stays with.
#[derive(Debug, Default)]
struct Binding {
    /// As a caller named it.
    chosen: Option<String>,
    /// Its lasting name, once it has been used.
    key: Option<String>,
}

/// Code to run, and whether anybody still waits for it.
struct Call<'a> {
    request: &'a Execute,
    hung_up: &'a CancellationToken,
}

/// A session's worker, or how it was lost.
#[derive(Debug)]
struct Slot {
    worker: Option<Worker>,
    loss: Option<Loss>,
    /// Whether an earlier relay had a session of this name, which left its folder.
    has_past: bool,
}

impl Session {
    pub(super) fn new(name: SessionName, wanted: NewSession, place: Arc<Place>) -> Self {
        let has_past = place.folder_of(&name).exists();
        let binding = Binding { chosen: wanted.browser.clone(), key: None };
        Self {
            name,
            wanted,
            place,
            slot: Mutex::new(Slot { worker: None, loss: None, has_past }),
            binding: std::sync::Mutex::new(binding),
            is_running: AtomicBool::new(false),
            resets: watch::Sender::new(0),
            waiting: AtomicUsize::new(0),
            last_used: watch::Sender::new(Instant::now()),
            told: std::sync::Mutex::default(),
        }
    }

    /// The warnings that its agent has not been told.
    pub(super) fn untold(&self, mut warnings: Vec<String>) -> Vec<String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.retain(|warning| told.insert(warning.clone()));
        warnings
    }

    pub(super) fn info(&self) -> SessionInfo {
        SessionInfo {
            id: self.name.clone(),
            browser: self.browser(),
            is_running: self.is_running.load(Ordering::Relaxed),
            folder: self.folder(),
        }
    }

    /// For how long nobody has used it; `None` while somebody does.
    pub(super) fn idle(&self) -> Option<Duration> {
        let is_used = self.waiting.load(Ordering::Relaxed) > 0;
        (!is_used).then(|| self.last_used.borrow().elapsed())
    }

    /// The browser that it stays with.
    pub(super) fn browser(&self) -> Option<String> {
        let binding = self.binding();
        binding.key.clone().or_else(|| binding.chosen.clone())
    }

    /// Stays with the browser that a call names, if it has none yet.
    ///
    /// # Errors
    ///
    /// Says that it has another.
    pub(super) fn choose(&self, browser: Option<&str>) -> Result<(), String> {
        self.check_browser(browser)?;
        let mut binding = self.binding();
        if binding.key.is_none() && binding.chosen.is_none() {
            binding.chosen = browser.map(str::to_owned);
        }
        Ok(())
    }

    /// Stays with this browser from now on, whichever others come.
    pub(super) fn bind(&self, key: String) {
        self.binding().key.get_or_insert(key);
    }

    /// # Errors
    ///
    /// Says that the session has another browser.
    pub(super) fn check_browser(&self, browser: Option<&str>) -> Result<(), String> {
        let Some(wanted) = browser else { return Ok(()) };
        let Binding { chosen, key } = &*self.binding();
        let is_it = |its: &Option<String>| its.as_deref() == Some(wanted);
        let uses = match key.as_ref().or(chosen.as_ref()) {
            Some(_) if is_it(key) || is_it(chosen) => return Ok(()),
            Some(its) => format!("browser {its}"),
            None if self.is_running.load(Ordering::Relaxed) => {
                "whichever browser is connected".to_owned()
            }
            None => return Ok(()),
        };
        Err(format!(
            "session {} uses {uses}\n\nhint: use another session name for the other browser",
            self.name
        ))
    }

    fn binding(&self) -> std::sync::MutexGuard<'_, Binding> {
        self.binding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs code when those before it have run, unless whoever asked hangs up.
    pub(super) async fn execute(&self, request: Execute, hung_up: &CancellationToken) -> Outcome {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            let text =
                format!("{MAX_WAITING} calls wait for their turn in session {} already", self.name);
            return Outcome::failure(&self.name, text);
        }
        // A reset is for all that wait, too.
        let mut resets = self.resets.subscribe();
        let outcome = tokio::select! {
            biased;
            () = hung_up.cancelled() => Outcome::failure(&self.name, CANCELLED),
            _ = resets.changed() => self.dead(&Death::Closing),
            mut slot = self.slot.lock() => {
                let call = Call { request: &request, hung_up };
                let outcome = self.execute_in_turn(&mut slot, &call, &mut resets).await;
                let has_state = slot.worker.is_some();
                self.is_running.store(has_state, Ordering::Relaxed);
                Outcome { has_state, ..outcome }
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.last_used.send_replace(Instant::now());
        Outcome { folder: Some(self.folder()), ..outcome }
    }

    async fn execute_in_turn(
        &self,
        slot: &mut Slot,
        call: &Call<'_>,
        resets: &mut watch::Receiver<u64>,
    ) -> Outcome {
        if let Some(worker) = slot.worker.take_if(|_| !call.hung_up.is_cancelled()) {
            match self.call(worker, slot, call, resets).await {
                Ok(outcome) => return outcome,
                // It was lost between the calls, so the code has not been run.
                Err(Broken { had_received: false, death: Death::Blocked, .. }) => {
                    slot.loss = Some(Loss::Blocked);
                }
                Err(Broken {
                    had_received: false,
                    death: Death::Ended { .. } | Death::Nonsense(_),
                    ..
                }) => slot.loss = Some(Loss::Ended),
                Err(Broken { death, said, .. }) => {
                    // Nobody hears of it now.
                    slot.loss = (death == Death::Cancelled).then_some(Loss::Cancelled);
                    return self.dead(&death).after(&said);
                }
            }
        }
        if call.hung_up.is_cancelled() {
            return Outcome::failure(&self.name, CANCELLED);
        }
        let started = tokio::select! {
            started = self.place.start_worker(&self.name, &self.wanted, self.browser()) => started,
            _ = resets.changed() => return self.dead(&Death::Closing),
        };
        let worker = match started {
            Ok(worker) if call.hung_up.is_cancelled() => {
                slot.worker = Some(worker);
                return Outcome::failure(&self.name, CANCELLED);
            }
            Ok(worker) => worker,
            Err(text) => return Outcome::failure(&self.name, text),
        };
        let loss = slot.loss.take();
        match (self.call(worker, slot, call, resets).await, loss) {
            (Ok(outcome), Some(loss)) => outcome.begun_after(loss),
            (Ok(outcome), None) => {
                let is_resumed = std::mem::take(&mut slot.has_past);
                Outcome { is_fresh: true, is_resumed, ..outcome }
            }
            (Err(Broken { death, said, .. }), _) => {
                slot.loss = (death == Death::Cancelled).then_some(Loss::Cancelled);
                self.dead(&death).after(&said)
            }
        }
    }

    /// Keeps the worker only if it can be used again.
    async fn call(
        &self,
        mut worker: Worker,
        slot: &mut Slot,
        call: &Call<'_>,
        resets: &mut watch::Receiver<u64>,
    ) -> Result<Outcome, Broken> {
        if !worker.is_quiet() {
            worker.end().await;
            let death = Death::Nonsense("it spoke out of turn");
            return Err(Broken { death, said: String::new(), had_received: false });
        }
        let called = tokio::select! {
            called = worker.call(&call.request.code, call.request.limit(), call.hung_up) => called,
            _ = resets.changed() => {
                Err(Broken { death: Death::Closing, said: String::new(), had_received: true })
            }
        };
        match called {
            Ok(done) => {
                slot.worker = Some(worker);
                let mut outcome = Outcome::success(&self.name, done.text);
                outcome.failed = done.failed;
                outcome.notes = done.notes;
                outcome.images = done.images;
                Ok(outcome)
            }
            Err(broken) => {
                worker.end().await;
                Err(broken)
            }
        }
    }

    fn dead(&self, death: &Death) -> Outcome {
        tracing::info!(session = %self.name, ?death, "a session's worker is gone");
        Outcome::failure(&self.name, death.describe())
    }

    /// Stops what runs, and forgets the state and which browser it was.
    pub(super) async fn reset(&self) {
        // Its turn comes before that of calls that have not been told.
        let telling = async { self.resets.send_modify(|resets| *resets += 1) };
        let (mut slot, ()) = tokio::join!(biased; self.slot.lock(), telling);
        if let Some(worker) = slot.worker.take() {
            worker.end().await;
        }
        (slot.loss, slot.has_past) = (None, false);
        self.is_running.store(false, Ordering::Relaxed);
        *self.binding() = Binding { chosen: self.wanted.browser.clone(), key: None };
    }

    /// Ends a worker that nobody needs, or that something blocks: it would take a core for ever.
    pub(super) async fn look_after(&self) {
        let mut resets = self.resets.subscribe();
        // One that is called is looked after by the call.
        let Ok(mut slot) = self.slot.try_lock() else { return };
        let Some(mut worker) = slot.worker.take() else { return };
        let loss = match self.idle() {
            Some(idle) if idle >= FORGOTTEN => Some(Loss::Forgotten),
            Some(_) | None if !worker.is_quiet() => Some(Loss::Ended),
            Some(_) | None => tokio::select! {
                is_well = worker.is_well() => {
                    if is_well {
                        slot.worker = Some(worker);
                        return;
                    }
                    Some(Loss::Blocked)
                }
                // Whoever resets it need not wait until it is known to be blocked.
                _ = resets.changed() => None,
            },
        };
        tracing::info!(session = %self.name, ?loss, "ended a worker that waited");
        worker.end().await;
        slot.loss = loss;
        self.is_running.store(false, Ordering::Relaxed);
    }

    /// Resets, and removes the folder unless there are files in it.
    pub(super) async fn end(&self) {
        self.reset().await;
        drop(std::fs::remove_dir_all(self.folder().join("tmp")));
        drop(std::fs::remove_dir(self.folder()));
    }

    fn folder(&self) -> PathBuf {
        self.place.folder_of(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tempfile::TempDir;
    use tokio::time::timeout;

    use super::super::keys::Keys;
    use super::super::limits::LOOK_BACK;
    use super::super::sandbox::environment::Doors;
    use super::super::sandbox::launcher::Launcher;
    use super::super::sandbox::node::Node;
    use super::super::sandbox::process::Start;
    use super::super::{ExecutorOptions, fake_program};
    use super::*;
    use relay_core::Confinement;

    /// Says that it is there, and answers nothing from then on.
    const BLOCKED: &str = "#!/bin/sh
read -r start <&3
echo '{\"type\":\"ready\"}' >&4
while read -r request <&3; do :; done
";

    #[tokio::test]
    async fn a_reset_does_not_wait_until_a_look_at_a_blocked_worker_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (is_closing, closing) = watch::channel(false);
        let session = session(&folder, closing.clone());
        session.slot.lock().await.worker = Some(blocked(folder.path(), closing).await);
        let both = async { tokio::join!(biased; session.look_after(), session.reset()) };
        timeout(LOOK_BACK, both).await.expect("the look ends with the reset");
        let slot = session.slot.lock().await;
        assert!(slot.worker.is_none() && slot.loss.is_none(), "{slot:?}");
        drop(is_closing);
    }

    fn session(folder: &TempDir, closing: watch::Receiver<bool>) -> Session {
        let doors = Doors { workers: ([127, 0, 0, 1], 1).into(), others: 1 };
        let folder = Some(folder.path().to_owned());
        let options = ExecutorOptions { folder, ..ExecutorOptions::default() };
        let place = Place::new(&options, doors, Keys::default(), closing);
        Session::new(SessionName::default(), NewSession::default(), Arc::new(place))
    }

    async fn blocked(folder: &Path, closing: watch::Receiver<bool>) -> Worker {
        let program = fake_program(folder, "node", BLOCKED);
        let doors = Doors { workers: ([127, 0, 0, 1], 1).into(), others: 1 };
        let launcher = Launcher::new(&ExecutorOptions::default(), doors, None);
        let start = Start {
            node: &Node { program: program.clone(), version: (24, 0) },
            program: &program,
            launch: launcher.launch(None, &[], folder).unwrap(),
            launcher: &launcher,
            scripts: folder,
            playwright: folder,
            folder,
            temporary: folder,
            endpoint: String::new(),
            key: Keys::default().issue(Confinement { folders: Vec::new() }, None).unwrap(),
            closing,
        };
        Worker::start(start).await.unwrap()
    }
}
