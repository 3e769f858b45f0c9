//! The program with a home folder and a port of its own.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpSocket;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_playwriter");

/// A free port and a home folder. The relay that is left there is killed.
pub(crate) struct Place {
    pub(crate) port: u16,
    pub(crate) home: TempDir,
    /// Binds the port without listening, so that nobody gets it who does not ask for it.
    _held: TcpSocket,
}

impl Place {
    pub(crate) fn new() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        held.set_reuseaddr(true).unwrap();
        held.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let port = held.local_addr().unwrap().port();
        Self { port, home: tempfile::tempdir().unwrap(), _held: held }
    }

    /// Returns the program's command, without the home and the settings of the person who runs the
    /// tests.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments, self.home.path());
        command.env("PLAYWRITER_PORT", self.port.to_string());
        command
    }

    /// Another program with the environment of [`Place::command`].
    pub(crate) fn with_environment(&self, mut other: Command) -> Command {
        for (name, value) in self.command(&[]).get_envs() {
            match value {
                Some(value) => other.env(name, value),
                None => other.env_remove(name),
            };
        }
        other
    }

    /// The folder of a Playwright that is found, and never run.
    pub(crate) fn playwright(&self) -> PathBuf {
        let package = self.home.path().join("playwright-core");
        std::fs::create_dir(&package).unwrap();
        let described = r#"{"name":"playwright-core","version":"1.65.0"}"#;
        std::fs::write(package.join("package.json"), described).unwrap();
        package
    }

    /// Returns the path of the relay file.
    pub(crate) fn relay_file(&self) -> PathBuf {
        self.home.path().join(format!(".playwriter/relay-{}.json", self.port))
    }

    /// The number of the process of the relay that runs here.
    pub(crate) fn relay_process(&self) -> String {
        let relay_file: serde_json::Value =
            serde_json::from_slice(&std::fs::read(self.relay_file()).unwrap()).unwrap();
        relay_file["pid"].to_string()
    }

    /// Kills the relay that runs here, if it is a process of its own, and waits until its port is free.
    pub(crate) fn kill(&self) {
        if !self.relay_file().exists() {
            return;
        }
        let pid = self.relay_process();
        // The number of a process that is gone may be another's.
        let program = std::fs::read_link(format!("/proc/{pid}/exe"));
        if program.is_ok_and(|program| program == Path::new(PROGRAM)) {
            // The process may have ended by itself.
            drop(Command::new("kill").args(["-9", &pid]).status());
            // The system tells nobody but its parent, which is gone.
            let is_there = || TcpStream::connect(("127.0.0.1", self.port)).is_ok();
            let looks = (0..1000).take_while(|_| is_there());
            looks.for_each(|_| std::thread::sleep(Duration::from_millis(10)));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn command(arguments: &[&str], home: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env("HOME", home).env("RUST_LOG", "warn").stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PLAYWRITER_") {
            command.env_remove(name);
        }
    }
    command
}
