//! A session: a sandbox that is started on first use and kept, and one call at a time.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::api::{Execute, NewSession, Outcome, SessionInfo, SessionName};
use super::limits::{IDLE_LIMIT, MAX_WAITING};
use super::outcome::{ExitReason, LostReason};
use super::sandbox::environment::SandboxEnvironment;
use super::sandbox::process::{CallAborted, Sandbox};

const CANCELLED: &str = "the call was cancelled";

#[derive(Debug)]
pub(super) struct Session {
    name: SessionName,
    wanted: NewSession,
    environment: Arc<SandboxEnvironment>,
    slot: Mutex<Slot>,
    binding: std::sync::Mutex<Binding>,
    is_running: AtomicBool,
    /// Counts resets: a sandbox that runs code is told by a change.
    resets: watch::Sender<u64>,
    waiting: AtomicUsize,
    /// The time at which the last call ended.
    last_used: watch::Sender<Instant>,
    /// The warnings that have been passed on.
    told: std::sync::Mutex<BTreeSet<String>>,
}

/// The browser that a session stays with.
#[derive(Debug, Default)]
struct Binding {
    /// The browser, as a caller named it.
    chosen: Option<String>,
    /// The browser's stable key, once the browser has been used.
    key: Option<String>,
}

/// Code to run, and whether anybody still waits for it.
struct Call<'a> {
    request: &'a Execute,
    hung_up: &'a CancellationToken,
}

/// A session's sandbox, or how it was lost.
#[derive(Debug)]
struct Slot {
    sandbox: Option<Sandbox>,
    lost: Option<LostReason>,
    /// True if an earlier relay had a session of this name, which left its folder.
    has_past: bool,
}

impl Session {
    pub(super) fn new(
        name: SessionName,
        wanted: NewSession,
        environment: Arc<SandboxEnvironment>,
    ) -> Self {
        let has_past = environment.folder_of(&name).exists();
        let binding = Binding { chosen: wanted.browser.clone(), key: None };
        Self {
            name,
            wanted,
            environment,
            slot: Mutex::new(Slot { sandbox: None, lost: None, has_past }),
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

    /// Returns the time for which nobody has used the session; `None` while somebody does.
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

    /// Runs code after the calls before it, unless the caller hangs up.
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
            _ = resets.changed() => self.lost_call(&ExitReason::Closing),
            mut slot = self.slot.lock() => {
                let call = Call { request: &request, hung_up };
                let outcome = self.execute_in_turn(&mut slot, &call, &mut resets).await;
                let has_state = slot.sandbox.is_some();
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
        if let Some(sandbox) = slot.sandbox.take_if(|_| !call.hung_up.is_cancelled()) {
            match self.call(sandbox, slot, call, resets).await {
                Ok(outcome) => return outcome,
                // The sandbox was lost between the calls, so the code has not been run.
                Err(CallAborted { had_received: false, reason: ExitReason::Blocked, .. }) => {
                    slot.lost = Some(LostReason::Blocked);
                }
                Err(CallAborted {
                    had_received: false,
                    reason: ExitReason::Ended { .. } | ExitReason::Nonsense(_),
                    ..
                }) => slot.lost = Some(LostReason::Ended),
                Err(CallAborted { reason, said, .. }) => {
                    // A cancelled call has no reader any more, so the next call is told.
                    slot.lost = (reason == ExitReason::Cancelled).then_some(LostReason::Cancelled);
                    return self.lost_call(&reason).after(&said);
                }
            }
        }
        if call.hung_up.is_cancelled() {
            return Outcome::failure(&self.name, CANCELLED);
        }
        let started = tokio::select! {
            started = self.environment.start_sandbox(&self.name, &self.wanted, self.browser()) => started,
            _ = resets.changed() => return self.lost_call(&ExitReason::Closing),
        };
        let sandbox = match started {
            Ok(sandbox) if call.hung_up.is_cancelled() => {
                slot.sandbox = Some(sandbox);
                return Outcome::failure(&self.name, CANCELLED);
            }
            Ok(sandbox) => sandbox,
            Err(text) => return Outcome::failure(&self.name, text),
        };
        let lost = slot.lost.take();
        match (self.call(sandbox, slot, call, resets).await, lost) {
            (Ok(outcome), Some(lost)) => outcome.begun_after(lost),
            (Ok(outcome), None) => {
                let is_resumed = std::mem::take(&mut slot.has_past);
                Outcome { is_fresh: true, is_resumed, ..outcome }
            }
            (Err(CallAborted { reason, said, .. }), _) => {
                slot.lost = (reason == ExitReason::Cancelled).then_some(LostReason::Cancelled);
                self.lost_call(&reason).after(&said)
            }
        }
    }

    /// Keeps the sandbox only if it can be used again.
    async fn call(
        &self,
        mut sandbox: Sandbox,
        slot: &mut Slot,
        call: &Call<'_>,
        resets: &mut watch::Receiver<u64>,
    ) -> Result<Outcome, CallAborted> {
        if !sandbox.is_quiet() {
            sandbox.end().await;
            let reason = ExitReason::Nonsense("it spoke out of turn");
            return Err(CallAborted { reason, said: String::new(), had_received: false });
        }
        let called = tokio::select! {
            called = sandbox.call(&call.request.code, call.request.limit(), call.hung_up) => called,
            _ = resets.changed() => {
                Err(CallAborted { reason: ExitReason::Closing, said: String::new(), had_received: true })
            }
        };
        match called {
            Ok(done) => {
                slot.sandbox = Some(sandbox);
                let mut outcome = Outcome::success(&self.name, done.text);
                outcome.failed = done.failed;
                outcome.notes = done.notes;
                outcome.images = done.images;
                Ok(outcome)
            }
            Err(broken) => {
                sandbox.end().await;
                Err(broken)
            }
        }
    }

    fn lost_call(&self, reason: &ExitReason) -> Outcome {
        tracing::info!(session = %self.name, ?reason, "the sandbox of a session is gone");
        Outcome::failure(&self.name, reason.describe())
    }

    /// Stops what runs, and forgets the state and which browser it was.
    pub(super) async fn reset(&self) {
        // Its turn comes before that of calls that have not been told.
        let telling = async { self.resets.send_modify(|resets| *resets += 1) };
        let (mut slot, ()) = tokio::join!(biased; self.slot.lock(), telling);
        if let Some(sandbox) = slot.sandbox.take() {
            sandbox.end().await;
        }
        (slot.lost, slot.has_past) = (None, false);
        self.is_running.store(false, Ordering::Relaxed);
        *self.binding() = Binding { chosen: self.wanted.browser.clone(), key: None };
    }

    /// Ends a sandbox that nobody needs, or that something blocks: it would take a core for ever.
    pub(super) async fn look_after(&self) {
        let mut resets = self.resets.subscribe();
        // A session that runs a call is checked by that call.
        let Ok(mut slot) = self.slot.try_lock() else { return };
        let Some(mut sandbox) = slot.sandbox.take() else { return };
        let lost = match self.idle() {
            Some(idle) if idle >= IDLE_LIMIT => Some(LostReason::Forgotten),
            Some(_) | None if !sandbox.is_quiet() => Some(LostReason::Ended),
            Some(_) | None => tokio::select! {
                is_well = sandbox.is_well() => {
                    if is_well {
                        slot.sandbox = Some(sandbox);
                        return;
                    }
                    Some(LostReason::Blocked)
                }
                // A caller that resets the session need not wait until it is known to be blocked.
                _ = resets.changed() => None,
            },
        };
        tracing::info!(session = %self.name, ?lost, "ended an idle sandbox");
        sandbox.end().await;
        slot.lost = lost;
        self.is_running.store(false, Ordering::Relaxed);
    }

    /// Resets, and removes the folder unless there are files in it.
    pub(super) async fn end(&self) {
        self.reset().await;
        drop(std::fs::remove_dir_all(self.folder().join("tmp")));
        drop(std::fs::remove_dir(self.folder()));
    }

    fn folder(&self) -> PathBuf {
        self.environment.folder_of(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tempfile::TempDir;
    use tokio::time::timeout;

    use super::super::keys::Keys;
    use super::super::limits::PING_TIMEOUT;
    use super::super::sandbox::environment::RelayPorts;
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
        session.slot.lock().await.sandbox = Some(blocked(folder.path(), closing).await);
        let both = async { tokio::join!(biased; session.look_after(), session.reset()) };
        timeout(PING_TIMEOUT, both).await.expect("the look ends with the reset");
        let slot = session.slot.lock().await;
        assert!(slot.sandbox.is_none() && slot.lost.is_none(), "{slot:?}");
        drop(is_closing);
    }

    fn session(folder: &TempDir, closing: watch::Receiver<bool>) -> Session {
        let relay_ports = RelayPorts { sandboxes: ([127, 0, 0, 1], 1).into(), others: 1 };
        let folder = Some(folder.path().to_owned());
        let options = ExecutorOptions { folder, ..ExecutorOptions::default() };
        let environment = SandboxEnvironment::new(&options, relay_ports, Keys::default(), closing);
        Session::new(SessionName::default(), NewSession::default(), Arc::new(environment))
    }

    async fn blocked(folder: &Path, closing: watch::Receiver<bool>) -> Sandbox {
        let program = fake_program(folder, "node", BLOCKED);
        let relay_ports = RelayPorts { sandboxes: ([127, 0, 0, 1], 1).into(), others: 1 };
        let launcher = Launcher::new(&ExecutorOptions::default(), relay_ports, None);
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
        Sandbox::start(start).await.unwrap()
    }
}
