//! The process of one sandbox, as the relay talks to it.

use std::path::Path;
use std::time::Duration;

use command_fds::FdMapping;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::command::{command, listen};
use super::launcher::{Launch, Launcher, Registered};
use super::node::Node;
use super::pipe::{Pipe, PipeError};
use super::protocol::{Answer, Done, Request};
use crate::agents::keys::Key;
use crate::agents::limits::{
    CANCEL_TIMEOUT, CONNECT_TIMEOUT, EXIT_TIMEOUT, PING_TIMEOUT, RECEIVE_TIMEOUT, START_TIMEOUT,
};
use crate::agents::outcome::ExitReason;
use crate::boundary::Boundary;
use crate::system::descriptors::spawn_with;

/// The number of bytes that are kept of the output of running code: sandboxes pass on no more than 10
/// 000 characters.
const MAX_SAID: usize = 64 * 1024;

/// The arguments with which a sandbox is started.
pub(crate) struct Start<'a> {
    pub(crate) node: &'a Node,
    /// The program to run; a program on the PATH may only lead to it.
    pub(crate) program: &'a Path,
    pub(crate) launch: Launch,
    pub(crate) launcher: &'a Launcher,
    pub(crate) scripts: &'a Path,
    pub(crate) playwright: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) temporary: &'a Path,
    pub(crate) endpoint: String,
    pub(crate) key: Key,
    pub(crate) closing: watch::Receiver<bool>,
}

/// A process that runs code. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    supervisor: Child,
    lifeline: Option<std::io::PipeWriter>,
    last_words: Option<tokio::task::JoinHandle<String>>,
    pipe: Pipe,
    last_id: u64,
    /// The output of the running call so far.
    said: String,
    closing: watch::Receiver<bool>,
    _key: Key,
    _registered: Option<Registered>,
}

/// The reason for which a call ended early, and the output until then.
pub(crate) struct CallAborted {
    pub(crate) reason: ExitReason,
    /// The code's output until then.
    pub(crate) said: String,
    /// True if the sandbox had taken the code by then.
    pub(crate) had_received: bool,
}

/// The result of starting a sandbox.
enum Greeting {
    Answer(Answer),
    /// The boundary is weaker than required, so no code is run.
    Refused(String),
}

impl Sandbox {
    /// Starts the process and waits until it has loaded Playwright.
    ///
    /// # Errors
    ///
    /// Says in a sentence why there is none.
    pub(crate) async fn start(mut start: Start<'_>) -> Result<Self, String> {
        let is_launched = start.launch.program.is_some();
        let spawned = spawn(&mut start).map_err(|error| format!("cannot start Node.js: {error}"));
        let Spawned { supervisor, lifeline, last_words, mut pipe } = spawned?;
        let greeted = timeout(START_TIMEOUT, greet(&mut pipe, &start, is_launched)).await;
        let Start { launcher, playwright, key, closing, .. } = start;
        let mut sandbox = Self {
            supervisor,
            lifeline: Some(lifeline),
            last_words: Some(last_words),
            pipe,
            last_id: 0,
            said: String::new(),
            closing,
            _key: key,
            _registered: None,
        };
        match greeted {
            Ok(Ok((Greeting::Answer(Answer::Ready { pid }), boundary))) => {
                let register = |pid| launcher.running().register(pid, boundary.has_ports());
                sandbox._registered = pid.map(register);
                Ok(sandbox)
            }
            Ok(Ok((Greeting::Answer(Answer::Broken { message }), _))) => {
                Err(format!("cannot load playwright-core from {}: {message}", playwright.display()))
            }
            Ok(Ok((Greeting::Refused(message), _))) => Err(message),
            Ok(Ok((Greeting::Answer(_), _)) | Err(PipeError::Nonsense(_))) => {
                Err("the worker does not make sense".into())
            }
            Ok(Err(PipeError::Closed)) => {
                let (code, last_words) = sandbox.end().await;
                Err(format!("the worker ended at once (exit code {code:?}): {}", last_words.trim()))
            }
            Err(_) => Err(ExitReason::TooSlow("start").describe()),
        }
    }

    /// Runs code.
    ///
    /// # Errors
    ///
    /// After one, the sandbox is of no use any more.
    pub(crate) async fn call(
        &mut self,
        code: &str,
        limit: Duration,
        hung_up: &CancellationToken,
    ) -> Result<Done, CallAborted> {
        self.last_id += 1;
        self.said.clear();
        let mut had_received = false;
        let mut closing = self.closing.clone();
        let called = tokio::select! {
            called = self.call_unless_closing(code, limit, &mut had_received, hung_up) => called,
            // The sender cannot be dropped before the executor that it stands for.
            _ = closing.wait_for(|is_closing| *is_closing) => Err(ExitReason::Closing),
        };
        let said = std::mem::take(&mut self.said);
        called.map_err(|reason| CallAborted { reason, said, had_received })
    }

    async fn call_unless_closing(
        &mut self,
        code: &str,
        limit: Duration,
        had_received: &mut bool,
        hung_up: &CancellationToken,
    ) -> Result<Done, ExitReason> {
        let id = self.last_id;
        let request = Request::Execute { id, code, timeout: limit.as_millis() };
        let receiving = async {
            self.pipe.send(&request).await?;
            self.pipe.receive::<Answer>().await
        };
        // An earlier call may still block the loop, or keep the browser busy.
        let connects = match timeout(RECEIVE_TIMEOUT, receiving).await {
            Err(_) => return Err(ExitReason::Blocked),
            Ok(Err(error)) => return Err(self.exit_reason(error).await),
            Ok(Ok(Answer::Received { id: its, connects })) if its == id => connects,
            Ok(Ok(_)) => return Err(out_of_turn()),
        };
        *had_received = true;
        let (patience, overdue) = match connects {
            true => (CONNECT_TIMEOUT, ExitReason::TooSlow("connect to the browser")),
            false => (limit, ExitReason::Overran(limit)),
        };
        let mut deadline = Instant::now() + patience;
        match timeout_at(deadline, self.next()).await {
            Err(_) => return Err(overdue),
            Ok(Err(error)) => return Err(self.exit_reason(error).await),
            Ok(Ok(Answer::Begun { id: its })) if its == id => {}
            Ok(Ok(Answer::Done { id: its, done })) if its == id => return Ok(done),
            Ok(Ok(_)) => return Err(out_of_turn()),
        }
        if connects {
            deadline = Instant::now() + limit;
        }
        let done = tokio::select! {
            done = timeout_at(deadline, self.next()) => {
                done.map_err(|_| ExitReason::Overran(limit))?
            }
            () = hung_up.cancelled() => self.cancelled().await?,
        };
        match done {
            Err(error) => Err(self.exit_reason(error).await),
            Ok(Answer::Done { id: its, done }) if its == id => Ok(done),
            Ok(_) => Err(out_of_turn()),
        }
    }

    /// The next answer to the call that runs. What its code says is kept.
    async fn next(&mut self) -> Result<Answer, PipeError> {
        loop {
            let answer = self.pipe.receive::<Answer>().await?;
            let Answer::Said { id, text } = &answer else { return Ok(answer) };
            if *id != self.last_id || self.said.len() + text.len() > MAX_SAID {
                return Err(PipeError::Nonsense("it said too much"));
            }
            self.said.push_str(text);
            self.said.push('\n');
        }
    }

    /// Takes the browser away from the code that runs, so that it ends by itself.
    async fn cancelled(&mut self) -> Result<Result<Answer, PipeError>, ExitReason> {
        let ending = async {
            self.pipe.send(&Request::Cancel {}).await?;
            self.next().await
        };
        timeout(CANCEL_TIMEOUT, ending).await.map_err(|_| ExitReason::Cancelled)
    }

    /// Returns `true` if the idle sandbox answers.
    pub(crate) async fn is_well(&mut self) -> bool {
        if !self.is_quiet() {
            return false;
        }
        self.last_id += 1;
        let id = self.last_id;
        let asking = async {
            self.pipe.send(&Request::Ping { id }).await?;
            self.pipe.receive::<Answer>().await
        };
        let answered = timeout(PING_TIMEOUT, asking).await;
        matches!(answered, Ok(Ok(Answer::Alive { id: its })) if its == id)
    }

    /// Returns `true` if the sandbox waits for the next call, as far as can be told.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.pipe.is_quiet()
    }

    /// Ends the process and gives its exit code and last words.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        self.wait_for_exit().await
    }

    async fn exit_reason(&mut self, error: PipeError) -> ExitReason {
        match error {
            PipeError::Nonsense(what) => ExitReason::Nonsense(what),
            PipeError::Closed => {
                let (code, last_words) = self.wait_for_exit().await;
                ExitReason::Ended { code, last_words }
            }
        }
    }

    async fn wait_for_exit(&mut self) -> (Option<i32>, String) {
        self.lifeline = None;
        let status = timeout(EXIT_TIMEOUT, self.supervisor.wait()).await;
        let code = status.ok().and_then(Result::ok).and_then(|status| status.code());
        let Some(last_words) = self.last_words.take() else { return (code, String::new()) };
        let said = timeout(EXIT_TIMEOUT, last_words).await;
        (code, said.ok().and_then(Result::ok).unwrap_or_default())
    }
}

fn out_of_turn() -> ExitReason {
    ExitReason::Nonsense("it spoke out of turn")
}

/// A process that was started and has not answered yet.
struct Spawned {
    supervisor: Child,
    lifeline: std::io::PipeWriter,
    last_words: tokio::task::JoinHandle<String>,
    pipe: Pipe,
}

fn spawn(start: &mut Start<'_>) -> std::io::Result<Spawned> {
    let (for_sandbox, from_us) = std::io::pipe()?;
    let (from_sandbox, for_us) = std::io::pipe()?;
    let (held, lifeline) = std::io::pipe()?;
    let mut given = vec![
        FdMapping { parent_fd: for_sandbox.into(), child_fd: 3 },
        FdMapping { parent_fd: for_us.into(), child_fd: 4 },
        FdMapping { parent_fd: held.into(), child_fd: 5 },
    ];
    let launcher = start.launch.program.take();
    given.extend(launcher.map(|file| FdMapping { parent_fd: file.into(), child_fd: 6 }));
    let mut supervisor = spawn_with(command(start), given)?;
    let last_words = tokio::spawn(listen(supervisor.stderr.take()));
    let pipe = Pipe::new(from_us.into(), from_sandbox.into())?;
    Ok(Spawned { supervisor, lifeline, last_words, pipe })
}

/// Waits for the report of the boundary if a launcher makes one, and for Playwright to be loaded.
async fn greet(
    pipe: &mut Pipe,
    start: &Start<'_>,
    is_launched: bool,
) -> Result<(Greeting, Boundary), PipeError> {
    let Start { launch, launcher, endpoint, playwright, key, .. } = start;
    let boundary = match is_launched {
        true => match pipe.receive::<Answer>().await? {
            Answer::Confined { boundary } => boundary,
            Answer::Ready { .. }
            | Answer::Broken { .. }
            | Answer::Alive { .. }
            | Answer::Received { .. }
            | Answer::Said { .. }
            | Answer::Begun { .. }
            | Answer::Done { .. } => {
                return Err(PipeError::Nonsense("it does not tell its boundary"));
            }
        },
        false => launch.boundary.clone(),
    };
    if let Err(message) = launcher.accept(&boundary) {
        return Ok((Greeting::Refused(message), boundary));
    }
    let request = Request::Start {
        endpoint,
        key: key.secret(),
        playwright,
        ports: launcher.ports(),
        datagrams: launcher.has_datagrams(),
    };
    pipe.send(&request).await?;
    Ok((Greeting::Answer(pipe.receive::<Answer>().await?), boundary))
}
