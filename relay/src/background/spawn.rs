//! The relay as a process of its own.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use semver::Version;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use super::{PersistentRelayOptions, RelayServerError};
use crate::system::descriptors::spawn_with;

const PROGRAM: &str = "playwriter";

/// The most that is repeated of what a failed relay said.
const LAST_WORDS: u64 = 4096;

/// The `playwriter` to start. One that is older than this library is none: what it starts would be
/// replaced by the next call.
pub(crate) async fn program(
    options: &PersistentRelayOptions,
    log: &Path,
) -> Result<PathBuf, RelayServerError> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => find().ok_or(RelayServerError::NoProgram { port: options.port })?,
    };
    let failed = |why: String| {
        let (port, log) = (options.port, log.to_owned());
        RelayServerError::RelayStart { port, why, hint: None, log }
    };
    let cannot_run = |error| failed(format!("cannot run {}: {error}", program.display()));
    let program = std::path::absolute(&program).map_err(cannot_run)?;
    if std::env::current_exe().is_ok_and(|own| own == program) {
        return Ok(program);
    }
    let asked = Command::new(&program)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let said = String::from_utf8_lossy(&asked.await.map_err(cannot_run)?.stdout).into_owned();
    let version = said.split_whitespace().last().and_then(|word| Version::parse(word).ok());
    let Some(version) = version else {
        return Err(failed(format!("{} does not tell its version", program.display())));
    };
    if Version::parse(crate::VERSION).is_ok_and(|wanted| version < wanted) {
        let (version, wanted) = (version.to_string(), crate::VERSION);
        return Err(RelayServerError::OlderProgram {
            port: options.port,
            program,
            version,
            wanted,
        });
    }
    Ok(program)
}

/// Starts `playwriter serve --detached`. The token goes through the environment, which other users
/// cannot see.
pub(crate) fn spawn(
    program: &Path,
    options: &PersistentRelayOptions,
    log: PathBuf,
) -> Result<Child, RelayServerError> {
    let failed = |error: io::Error| {
        let why = format!("cannot run {}: {error}", program.display());
        RelayServerError::RelayStart { port: options.port, why, hint: None, log }
    };
    let mut command = Command::new(program);
    command
        .args(["serve", "--detached", "--port", &options.port.to_string()])
        .args(&options.arguments)
        // The relay outlives the folder in which its caller happens to run.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // Standard error is read in case the relay cannot start.
        .stderr(Stdio::piped());
    for name in ["PLAYWRITER_PORT", "PLAYWRITER_HOST", "PLAYWRITER_SEPARATE_WINDOW"] {
        command.env_remove(name);
    }
    if options.separate_window == Some(true) {
        command.arg("--separate-window");
    }
    match &options.token {
        Some(token) => command.env("PLAYWRITER_TOKEN", token.secret()),
        None => command.env_remove("PLAYWRITER_TOKEN"),
    };
    if let Some(home) = &options.home {
        command.env("HOME", home);
    }
    // A lock that our parent holds would be held for as long as the relay lives.
    spawn_with(command, Vec::new()).map_err(failed)
}

/// Waits until it ends, and says why it did and what helps, as far as it knows.
pub(crate) async fn ended(child: &mut Child) -> (String, Option<String>) {
    let status = child.wait().await;
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        // An unreadable message counts as none.
        drop(stderr.take(LAST_WORDS).read_to_end(&mut said).await);
    }
    let said = String::from_utf8_lossy(&said);
    let said = said.trim().trim_start_matches("error: ");
    let (said, hint) = match said.split_once("\n\nhint: ") {
        Some((said, hint)) => (said, Some(hint.to_owned())),
        None => (said, None),
    };
    let why = match (said, status) {
        ("", Ok(status)) => format!("it ended at once ({status})"),
        ("", Err(error)) => error.to_string(),
        (said, _) => said.to_owned(),
    };
    (why, hint)
}

/// This very program, if it is the right one; one beside it; or one on the `PATH`.
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    if let Some(own) = own.as_deref().filter(|own| own.file_stem() == Some(OsStr::new(PROGRAM))) {
        return Some(own.to_owned());
    }
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(PROGRAM)).find(|file| file.is_file())
}
