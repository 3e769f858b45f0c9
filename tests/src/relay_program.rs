//! The relay as a program of its own, without a browser.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use crate::{LONG, PATIENCE, RawClient, RawTab};

/// A relay with a HOME of its own. It is killed when it is dropped.
#[derive(Debug)]
pub struct RelayProgram {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    port: u16,
    home: TempDir,
}

impl RelayProgram {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let mut child = command(&["serve", "--port", "0"], home.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the relay is built; `cargo test --workspace` does that");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        let said = BufReader::new(stderr).lines();
        let mut relay = Self { child, said, port: 0, home };
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

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it leaves its logs.
    #[must_use]
    pub fn log_folder(&self) -> PathBuf {
        self.home.path().join(".playwriter")
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

    /// The most memory that it ever had, in MiB.
    #[must_use]
    pub fn peak_memory(&self) -> u64 {
        let id = self.child.id().expect("it runs");
        memory(id, "VmHWM:") / 1024
    }

    /// Asks it to end, and waits until it has.
    pub async fn stop(&mut self) {
        let id = self.child.id().expect("it runs").to_string();
        let asked = Command::new("kill").arg(id).status().await.expect("there is `kill`");
        assert!(asked.success());
        timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("it was there");
    }
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
