//! The relay as a program of its own, without a browser.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use super::command::{command, program, without_settings};
use crate::machine::{Home, LONG_TIMEOUT, TIMEOUT, memory, own_user, playwright_core};
use crate::raw_peers::{RawClient, RawTab};

/// A relay with a HOME of its own. It is killed when it is dropped.
#[derive(Debug)]
pub struct RelayProgram {
    child: Child,
    said: Lines<BufReader<ChildStderr>>,
    port: u16,
    home: PathBuf,
    _folder: Home,
}

impl RelayProgram {
    /// Starts it on a free port.
    pub async fn start() -> Self {
        Self::start_with(&[], &[]).await
    }

    /// Works like [`RelayProgram::start`], with arguments and an environment of the test's own.
    pub async fn start_with(arguments: &[&str], environment: &[(&str, &OsStr)]) -> Self {
        let home = Home::new();
        let mut command = command(&[&["serve", "--port", "0"], arguments].concat(), home.path());
        command.envs(environment.iter().copied());
        Self::started_at(command, home).await
    }

    /// Works like [`RelayProgram::start`], with a HOME of this name in a temporary folder.
    pub async fn start_in(name: &str) -> Self {
        let folder = Home::new();
        let home = folder.path().join(name);
        std::fs::create_dir_all(&home).expect("a folder can be made");
        Self::started(command(&["serve", "--port", "0"], &home), folder, home).await
    }

    /// Starts it through a program that gets its command line, such as `setpriv`, and for a user to
    /// whom its HOME belongs.
    pub async fn start_through(through: &[&str], user: u32, arguments: &[&str]) -> Self {
        let home = Home::new();
        // Other users may have no access to the folder in which it is built.
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

    async fn started_at(command: Command, home: Home) -> Self {
        let path = home.path().to_owned();
        Self::started(command, home, path).await
    }

    async fn started(mut command: Command, folder: Home, home: PathBuf) -> Self {
        let (child, said) = spawned(&mut command);
        let mut relay = Self { child, said, port: 0, home, _folder: folder };
        let line = relay.said("relay is running at ").await;
        let port = line.rsplit(':').next().and_then(|port| port.parse().ok());
        relay.port = port.expect("it says its port");
        relay
    }

    /// Waits until it has said something on standard error, and gives the line.
    pub async fn said(&mut self, text: &str) -> String {
        let mut before = Vec::new();
        let said = async {
            loop {
                let line = self.said.next_line().await.expect("it writes text")?;
                if line.contains(text) {
                    return Some(line);
                }
                before.push(line);
            }
        };
        match timeout(LONG_TIMEOUT, said).await {
            Ok(Some(line)) => line,
            Ok(None) => panic!("it ended without saying {text:?}; it said {before:#?}"),
            Err(_) => panic!("waited in vain for it to say {text:?}; it said {before:#?}"),
        }
    }

    /// Stops or continues the process.
    pub async fn signal(&self, signal: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args([signal, &id]).status().await;
        assert!(sent.expect("there is `kill`").success());
    }

    /// Runs `playwriter` as its user would, and gives its exit code, standard output and error.
    pub async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.playwriter(arguments);
        let ended =
            timeout(LONG_TIMEOUT, command.output()).await.expect("it ends").expect("it runs");
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

    /// Returns the number of the process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Returns the port on which the relay listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the folder of the logs.
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
        timeout(TIMEOUT, self.child.wait()).await.expect("it ends").expect("it was there");
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
