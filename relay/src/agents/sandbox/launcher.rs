//! How sandboxes are started inside of the boundary, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError};

use shared_protocol::DEFAULT_PORT;
use shared_protocol::http::SandboxStatus;

use super::environment::RelayPorts;
use crate::agents::ExecutorOptions;
use crate::boundary::{AgentsNetwork, Boundary, NodeFiles, Policy, Ports, SandboxMode};
use crate::relay_file;

const NO_LAUNCHER: &str =
    "the relay runs as a library without a launcher (ExecutorOptions::launcher)";

/// Starts sandboxes inside of the boundary.
#[derive(Debug)]
pub(crate) struct Launcher {
    /// The program that applies the boundary, opened when the relay started: what is installed in
    /// its place later is another version.
    program: Option<File>,
    mode: SandboxMode,
    network: AgentsNetwork,
    newest_landlock: Option<u8>,
    relay_ports: RelayPorts,
    /// Where the relays of this user leave their notes.
    folder: Option<PathBuf>,
    /// What was enforced the last time.
    found: Mutex<Option<Boundary>>,
    said: Once,
    running: Running,
}

/// What stands before Node.js on the command line of a sandbox.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) words: Vec<OsString>,
    /// For descriptor 6.
    pub(crate) program: Option<File>,
    /// What is in force without a report.
    pub(crate) boundary: Boundary,
}

/// The sandboxes that run, by their process, and whether the system keeps them from the relay's ports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Mutex<BTreeMap<u32, bool>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    process: u32,
    running: Running,
}

impl Launcher {
    pub(crate) fn new(
        options: &ExecutorOptions,
        relay_ports: RelayPorts,
        folder: Option<PathBuf>,
    ) -> Self {
        let program = options.launcher.as_deref().and_then(|path| match File::open(path) {
            Ok(program) => Some(program),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the launcher cannot be opened");
                None
            }
        });
        Self {
            program,
            mode: options.sandbox,
            network: options.network.clone(),
            newest_landlock: options.newest_landlock,
            relay_ports,
            folder,
            found: Mutex::default(),
            said: Once::new(),
            running: Running::default(),
        }
    }

    /// Returns whether anything but JavaScript keeps code in.
    pub(crate) fn has_program(&self) -> bool {
        self.program.is_some()
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// Returns the ports that code may connect to: that of sandboxes, and those of the network that the
    /// user chose, but for the ports of relays.
    pub(crate) fn ports(&self) -> Vec<Ports> {
        let sandboxes = self.relay_ports.sandboxes.port();
        let mut closed = BTreeSet::from([DEFAULT_PORT, self.relay_ports.others]);
        closed.extend(self.folder.as_deref().map(relay_file::ports).unwrap_or_default());
        // It is bound by this relay, so a note that names it is older.
        closed.remove(&sandboxes);
        let mut ports = self.network.ports(&closed);
        ports.push(Ports(sandboxes, sandboxes));
        ports
    }

    pub(crate) fn has_datagrams(&self) -> bool {
        self.network.has_datagrams()
    }

    /// Returns how a sandbox is started.
    ///
    /// # Errors
    ///
    /// Says why it cannot be.
    pub(crate) fn launch(
        &self,
        node: Option<&NodeFiles>,
        code: &[&Path],
        own: &Path,
    ) -> Result<Launch, String> {
        let (Some(program), Some(node)) = (&self.program, node) else {
            let boundary = Boundary::none(NO_LAUNCHER);
            return Ok(Launch { words: Vec::new(), program: None, boundary });
        };
        let policy = Policy {
            datagrams: self.has_datagrams(),
            newest_landlock: self.newest_landlock,
            ..Policy::new(node, code, own, self.ports())
        };
        self.launch_with(&policy, program)
    }

    #[cfg(target_os = "macos")]
    fn launch_with(&self, policy: &Policy, _program: &File) -> Result<Launch, String> {
        if !crate::boundary::is_available() {
            let boundary = Boundary::none("sandbox-exec does not work here");
            return Ok(Launch { words: Vec::new(), program: None, boundary });
        }
        let mut relays = self.folder.as_deref().map(relay_file::ports).unwrap_or_default();
        relays.extend([DEFAULT_PORT, self.relay_ports.others]);
        let words = crate::boundary::launch(policy, self.relay_ports.sandboxes.port(), &relays);
        let boundary = Boundary { seatbelt: true, ..Boundary::default() };
        Ok(Launch { words, program: None, boundary })
    }

    #[cfg(not(target_os = "macos"))]
    #[expect(clippy::unused_self, reason = "macOS needs it")]
    fn launch_with(&self, policy: &Policy, program: &File) -> Result<Launch, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot start the launcher: {error}");
        let policy = serde_json::to_string(policy).map_err(|error| failed(&error))?;
        let program = program.try_clone().map_err(|error| failed(&error))?;
        Ok(Launch {
            words: vec!["worker-exec".into(), policy.into()],
            program: Some(program),
            boundary: Boundary::default(),
        })
    }

    /// Decides whether code may be run in a sandbox, before it has any.
    ///
    /// # Errors
    ///
    /// Says what is missing.
    pub(crate) fn accept(&self, boundary: &Boundary) -> Result<(), String> {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(boundary.clone());
        if boundary.is_whole(&self.network) {
            return Ok(());
        }
        self.said.call_once(|| {
            let missing = self.status_of(boundary).missing.join("; ");
            tracing::warn!("the system does not keep agents' code from everything: {missing}");
        });
        match self.mode {
            SandboxMode::Auto => Ok(()),
            SandboxMode::Required => Err(boundary.refusal()),
        }
    }

    /// Returns what is enforced, as the last sandbox told, or as a process tells that is started for it.
    pub(crate) async fn status(&self) -> SandboxStatus {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let boundary = match found {
            Some(boundary) => boundary,
            None => {
                let tried = self.tried().await;
                let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                found.get_or_insert(tried).clone()
            }
        };
        self.status_of(&boundary)
    }

    fn status_of(&self, boundary: &Boundary) -> SandboxStatus {
        boundary.status(self.mode, &self.network)
    }

    #[cfg(target_os = "macos")]
    async fn tried(&self) -> Boundary {
        match self.program.is_some() && crate::boundary::is_available() {
            true => Boundary { seatbelt: true, ..Boundary::default() },
            false => Boundary::none(NO_LAUNCHER),
        }
    }

    #[cfg(not(target_os = "macos"))]
    async fn tried(&self) -> Boundary {
        let Some(program) = &self.program else { return Boundary::none(NO_LAUNCHER) };
        let newest_landlock = self.newest_landlock;
        let policy = Policy {
            protocol: crate::boundary::PROTOCOL,
            newest_landlock,
            datagrams: true,
            ..Policy::default()
        };
        match trial::of(program, &policy).await {
            Ok(boundary) => boundary,
            Err(error) => Boundary::none(&format!("the launcher cannot be run: {error}")),
        }
    }
}

impl Running {
    pub(crate) fn register(&self, process: u32, has_ports: bool) -> Registered {
        self.lock().insert(process, has_ports);
        Registered { process, running: self.clone() }
    }

    /// Returns whether sandboxes run that the system does not keep from the relay's ports.
    pub(crate) fn reach_the_relay(&self) -> bool {
        self.lock().values().any(|has_ports| !has_ports)
    }

    /// Returns whether a sandbox that the system does not keep from the relay's ports holds a socket.
    pub(crate) fn holds_socket(&self, inode: u64) -> bool {
        let name = format!("socket:[{inode}]");
        let holds = |process: &u32| {
            let open = fs::read_dir(format!("/proc/{process}/fd"));
            let mut open = open.into_iter().flatten().flatten();
            open.any(|entry| fs::read_link(entry.path()).is_ok_and(|it| it == Path::new(&name)))
        };
        let open: Vec<u32> =
            self.lock().iter().filter(|(_, has_ports)| !**has_ports).map(|(it, _)| *it).collect();
        open.iter().any(holds)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u32, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.running.lock().remove(&self.process);
    }
}

#[cfg(not(target_os = "macos"))]
mod trial {
    //! The launcher on its own: it enters the boundary and says what that is.

    use std::fs::File;
    use std::io;
    use std::process::Stdio;

    use command_fds::FdMapping;
    use serde::Deserialize;
    use tokio::process::Command;
    use tokio::time::timeout;

    use crate::agents::limits::START_TIMEOUT;
    use crate::boundary::{Boundary, Policy};
    use crate::system::descriptors::spawn_with;

    #[derive(Deserialize)]
    struct Told {
        boundary: Boundary,
    }

    pub(crate) async fn of(program: &File, policy: &Policy) -> io::Result<Boundary> {
        let mut command = Command::new("/proc/self/fd/6");
        command
            .arg("worker-exec")
            .arg(serde_json::to_string(policy)?)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let given = vec![FdMapping { parent_fd: program.try_clone()?.into(), child_fd: 6 }];
        let output = spawn_with(command, given)?.wait_with_output();
        let output =
            timeout(START_TIMEOUT, output).await.map_err(|_| io::ErrorKind::TimedOut)??;
        let told: Told = serde_json::from_slice(&output.stdout)?;
        Ok(told.boundary)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_socket_of_a_worker_that_the_system_does_not_confine_is_known() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap();
        let link = link.to_str().unwrap().to_owned();
        let inode = link.trim_start_matches("socket:[").trim_end_matches(']').parse().unwrap();
        let running = Running::default();
        assert!(!running.holds_socket(inode));
        let confined = running.register(std::process::id(), true);
        assert!(!running.holds_socket(inode), "Landlock keeps it from the port");
        drop(confined);
        let open = running.register(std::process::id(), false);
        assert!(running.holds_socket(inode) && !running.holds_socket(0));
        drop(open);
        assert!(!running.holds_socket(inode));
    }

    #[test]
    fn the_ports_of_all_relays_of_this_user_are_closed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("relay-8123.json"), "{}").unwrap();
        let relay_ports = RelayPorts { sandboxes: ([127, 0, 0, 1], 40000).into(), others: 3000 };
        let options = ExecutorOptions::default();
        let launcher = Launcher::new(&options, relay_ports, Some(folder.path().to_owned()));
        let ports = launcher.ports();
        let is_open = |port| ports.iter().any(|it| it.0 <= port && port <= it.1);
        for (port, open) in
            [(3000, false), (8123, false), (DEFAULT_PORT, false), (3001, true), (40000, true)]
        {
            assert_eq!(is_open(port), open, "{port}");
        }
        let refused = Launcher { mode: SandboxMode::Required, ..launcher };
        let launch = refused.launch(None, &[], folder.path()).unwrap();
        let problem = refused.accept(&launch.boundary).unwrap_err();
        assert!(problem.contains("without a launcher"), "{problem}");
    }
}
