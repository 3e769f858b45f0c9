//! What can go wrong on the way from nothing to a connected browser.

use std::io;
use std::path::{Path, PathBuf};

use crate::client::{ClientError, Endpoint};
use crate::server::StartError;

/// Why there is no relay, or no tab to drive.
#[derive(Debug, thiserror::Error)]
pub enum RelayServerError {
    /// Nobody clicked yet, or no browser with the extension runs.
    #[error(
        "extension not connected to {relay}\n\nhint: Please click the Playwriter extension icon on a Chrome tab. Without the extension: `playwriter extension install`, or `playwriter browser start` for a browser that has it"
    )]
    ExtensionNotConnected {
        /// Where it did not come.
        relay: Endpoint,
    },
    /// The extension is there, and controls nothing.
    #[error(
        "the extension is connected to {relay}, but controls no tab\n\nhint: Please click the Playwriter extension icon on a Chrome tab."
    )]
    NoTab {
        /// Where it is connected.
        relay: Endpoint,
    },
    /// Several browsers are connected, or none by this name.
    #[error(
        "it is not clear which browser is meant\n\nhint: choose one with --browser, one of: {choices}"
    )]
    WhichBrowser {
        /// What there is.
        choices: String,
    },
    /// The process was started and did not become a relay.
    #[error("failed to start relay server on port {port}: {why}\n\nhint: {}", .hint.clone().unwrap_or_else(|| where_to_look(.log, *.port)))]
    RelayStart {
        /// Where it should have listened.
        port: u16,
        /// What it said, or what it failed to do.
        why: String,
        /// What it said that helps.
        hint: Option<String>,
        /// Where it may have said more.
        log: PathBuf,
    },
    /// There is no `playwriter` to start.
    #[error(
        "the program `playwriter` was not found beside this program or on the PATH\n\nhint: install it with `make install` in its source folder, or name it in the options"
    )]
    NoProgram,
    /// The `playwriter` that would be started is older than this library, which would not use it.
    #[error(
        "{} is version {version}, older than the library that wants to start it, {wanted}; nothing was stopped or started\n\nhint: install the newer program with `make install` in its source folder, or name another in the options", program.display()
    )]
    OlderProgram {
        /// Which.
        program: PathBuf,
        /// What it says.
        version: String,
        /// The library's own.
        wanted: &'static str,
    },
    /// Another program has the port.
    #[error(
        "port {port} is used by another program, which is no playwriter relay\n\nhint: stop that program, or choose another port with --port (or PLAYWRITER_PORT) and in the extension"
    )]
    PortTaken {
        /// Which.
        port: u16,
    },
    /// Whoever has the port says nothing.
    #[error(
        "what listens on port {port} does not answer: a relay that hangs or is very busy, or another program\n\nhint: try again; if it stays so, end the process that `lsof -i :{port}` shows, or choose another port with --port (or PLAYWRITER_PORT) and in the extension"
    )]
    NoAnswer {
        /// Which.
        port: u16,
    },
    /// A relay of another project has the port. It is not ours to stop.
    #[error(
        "port {port} is used by another playwriter relay, version {version}, which this one does not replace\n\nhint: stop it (the process that `lsof -i :{port}` shows), or choose another port with --port (or PLAYWRITER_PORT) and in the extension"
    )]
    AnotherRelay {
        /// Where.
        port: u16,
        /// What it says.
        version: String,
    },
    /// A relay of ours that this user did not start, or not with this home folder.
    #[error(
        "the relay {version} on port {port} cannot be stopped from here: it was started by another user, or with another home folder\n\nhint: stop it where it was started, with `playwriter stop` or Ctrl-C"
    )]
    NotYours {
        /// Where.
        port: u16,
        /// What it says.
        version: String,
    },
    /// An older relay whose token the caller does not have. One without would let others in.
    #[error(
        "the relay {version} on port {port} is older than this program, and is not replaced without its token\n\nhint: set PLAYWRITER_TOKEN to the token that it was started with, or stop it with `playwriter stop`"
    )]
    WantsToken {
        /// Where.
        port: u16,
        /// What it says.
        version: String,
    },
    /// A relay that wanted a token was killed. One without would let others in.
    #[error(
        "the relay on port {port} wanted a token, and was killed; it is not started again without one\n\nhint: set PLAYWRITER_TOKEN to a secret, or forget that relay and its settings with `playwriter stop`"
    )]
    WantedToken {
        /// Where it was.
        port: u16,
    },
    /// It said that it would stop, and still has the port.
    #[error(
        "the relay on port {port} does not stop\n\nhint: see its log with `playwriter logfile`"
    )]
    DoesNotStop {
        /// Where.
        port: u16,
    },
    /// Nobody to talk to.
    #[error("{0}\n\nhint: {hint}", hint = hint_for(.0))]
    Relay(ClientError),
    /// A relay in this process did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The folder for the lock and the logs.
    #[error("cannot use the folder {}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no home folder.
    #[error("there is no home folder for the relay's files\n\nhint: set HOME")]
    NoHome,
}

// Not as a source: its text is part of this one's.
impl From<ClientError> for RelayServerError {
    fn from(error: ClientError) -> Self {
        Self::Relay(error)
    }
}

fn where_to_look(log: &Path, port: u16) -> String {
    match log.exists() {
        true => format!("check the logs at {}", log.display()),
        false => format!("`playwriter serve --port {port}` shows what is in the way"),
    }
}

/// What to do where no relay is.
#[must_use]
pub fn how_to_start(relay: &Endpoint) -> &'static str {
    match relay.is_here() {
        true => "start one with `playwriter ensure`",
        false => {
            "run `playwriter ensure` on the machine where it should be, or unset PLAYWRITER_HOST if a relay on this one is meant"
        }
    }
}

fn hint_for(error: &ClientError) -> &'static str {
    match error {
        ClientError::Refused { status, .. } if status.as_u16() == 401 => {
            "set PLAYWRITER_TOKEN to the token that the relay was started with"
        }
        ClientError::NobodyThere(relay) => how_to_start(relay),
        ClientError::Unreachable { .. }
        | ClientError::TooSlow(_)
        | ClientError::Refused { .. }
        | ClientError::NotARelay(_) => "`playwriter doctor` may know more",
    }
}
