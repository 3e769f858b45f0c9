//! The relay as a program of its own, without a browser.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::{LONG, PATIENCE, RawClient, RawTab, own_user, playwright_core};

/// A relay with a HOME of its own. It is killed when it is dropped.
#[derive(Debug)]
pub struct RelayProgram {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    port: u16,
    home: PathBuf,
    _folder: TempDir,
}

impl RelayProgram {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        Self::start_with(&[], &[]).await
    }

    /// As [`RelayProgram::start`], with arguments and an environment of the test's own.
    pub async fn start_with(arguments: &[&str], environment: &[(&str, &OsStr)]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let mut command = command(&[&["serve", "--port", "0"], arguments].concat(), home.path());
        command.envs(environment.iter().copied());
        Self::started_at(command, home).await
    }

    /// As [`RelayProgram::start`], with a HOME of this name in a temporary folder.
    pub async fn start_in(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let home = folder.path().join(name);
        std::fs::create_dir_all(&home).expect("a folder can be made");
        Self::started(command(&["serve", "--port", "0"], &home), folder, home).await
    }

    /// Starts it through a program that gets its command line, such as `setpriv`, and for a user to
    /// whom its HOME belongs.
    pub async fn start_through(through: &[&str], user: u32, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        // Where it is built, others may have no business.
        let own = home.path().join("playwriter");
        if std::fs::hard_link(program(), &own).is_err() {
            std::fs::copy(program(), &own).expect("a program can be copied");
        }
        if user != own_user() {
            std::os::unix::fs::chown(home.path(), Some(user), Some(user)).expect("root may give");
        }
        let (first, rest) = through.split_first().expect("there is a program");
        let mut command = without_settings(Command::new(first));
        command.args(rest).arg(own).args(["serve", "--port", "0"]).args(arguments);
        command.env("HOME", home.path()).stdin(Stdio::null()).kill_on_drop(true);
        Self::started_at(command, home).await
    }

    /// Starts it again after it was killed, where it was.
    pub async fn start_again(&mut self) {
        let port = self.port.to_string();
        let mut command = command(&["serve", "--port", &port], &self.home);
        let (child, said) = spawned(&mut command);
        (self.child, self.said) = (child, said);
        self.said("relay is running at ").await;
    }

    async fn started_at(command: Command, home: TempDir) -> Self {
        let path = home.path().to_owned();
        Self::started(command, home, path).await
    }

    async fn started(mut command: Command, folder: TempDir, home: PathBuf) -> Self {
        let (child, said) = spawned(&mut command);
        let mut relay = Self { child, said, port: 0, home, _folder: folder };
        let line = relay.said("relay is running at ").await;
        let port = line.rsplit(':').next().and_then(|port| port.parse().ok());
        relay.port = port.expect("it says its port");
        relay
    }

    /// Waits until it has said something on standard error, and gives the line.
    pub async fn said(&mut self, text: &str) -> String {
        let said = async {
            loop {
                let line = self.said.next_line().await.expect("it writes text").expect("it runs");
                if line.contains(text) {
                    return line;
                }
            }
        };
        match timeout(LONG, said).await {
            Ok(line) => line,
            Err(_) => panic!("waited in vain for it to say {text:?}"),
        }
    }

    /// Has it stand still, or go on.
    pub async fn signal(&self, signal: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args([signal, &id]).status().await;
        assert!(sent.expect("there is `kill`").success());
    }

    /// Runs `playwriter` as its user would, and gives its exit code, standard output and error.
    pub async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.playwriter(arguments);
        let ended = timeout(LONG, command.output()).await.expect("it ends").expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
    }

    /// `playwriter` with arguments, as its user would run it.
    #[must_use]
    pub fn playwriter(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments, &self.home);
        command
            .env("PLAYWRITER_PORT", self.port.to_string())
            .env("PLAYWRITER_PLAYWRIGHT", playwright_core())
            .current_dir(&self.home);
        command
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it leaves its logs.
    #[must_use]
    pub fn log_folder(&self) -> PathBuf {
        self.home.join(".playwriter")
    }

    /// An extension with one tab.
    pub async fn raw_tab(&self) -> RawTab {
        RawTab::start(self.port).await
    }

    /// An extension that speaks for itself.
    pub async fn raw_extension(&self, query: &str) -> RawClient {
        RawClient::connect_as_extension(self.port, query).await
    }

    /// A client that speaks for itself.
    pub async fn raw_client(&self, path: &str) -> RawClient {
        RawClient::connect(&format!("ws://127.0.0.1:{}{path}", self.port)).await
    }

    /// A client that hears the log entries of [`RelayProgram::raw_tab`].
    pub async fn listener(&self) -> RawClient {
        let mut client = self.raw_client("/cdp").await;
        let session = client.attach(RawTab::TARGET).await;
        let enable = json!({ "id": 2, "method": "Log.enable", "sessionId": session });
        client.answer_to(2, &enable.to_string()).await;
        client
    }

    /// The most memory that it ever had, in MiB.
    #[must_use]
    pub fn peak_memory(&self) -> u64 {
        let id = self.child.id().expect("it runs");
        memory(id, "VmHWM:") / 1024
    }

    /// Kills it, as the system does when it needs the memory.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("it was there");
    }

    /// Asks it to end, and waits until it has.
    pub async fn stop(&mut self) {
        let id = self.child.id().expect("it runs").to_string();
        let asked = Command::new("kill").arg(id).status().await.expect("there is `kill`");
        assert!(asked.success());
        timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("it was there");
    }
}

fn spawned(command: &mut Command) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the relay is built; `cargo test --workspace` does that");
    let stderr = child.stderr.take().expect("standard error is a pipe");
    (child, BufReader::new(stderr).lines())
}

/// The memory that a process has, in MiB.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nobody has that much memory")]
pub fn resident_memory(process: u32) -> f64 {
    memory(process, "VmRSS:") as f64 / 1024.0
}

/// What the system tells of a process's memory, in KiB.
fn memory(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("the system tells about processes");
    let told = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes = told.and_then(|told| told.trim().strip_suffix(" kB"));
    kilobytes.and_then(|number| number.parse().ok()).expect("it has memory")
}

/// The built `playwriter` with arguments and a HOME.
pub(crate) fn command(arguments: &[&str], home: &Path) -> Command {
    let mut command = without_settings(Command::new(program()));
    command.args(arguments).env("HOME", home).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// A command that knows nothing of the settings of whoever runs the tests.
pub(crate) fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PLAYWRITER_") {
            command.env_remove(name);
        }
    }
    command
}

/// The built `playwriter`.
#[must_use]
pub fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("the tests are a program");
    let folder = tests.ancestors().nth(2).expect("the tests are built into a folder");
    folder.join("playwriter")
}

/// A `PATH` on which `playwriter` is found first.
pub(crate) fn path() -> OsString {
    let program = program();
    let mut path = program.parent().expect("a program is in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}
