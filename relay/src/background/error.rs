//! The errors between starting a relay and reaching a browser.

use std::io;
use std::path::PathBuf;

use crate::client::{ClientError, Endpoint};
use crate::start_error::StartError;

/// The reason why there is no relay, or no tab to drive. Each has a port, and a text that begins with
/// what happened, as `[Playwriter] … (port 19988)`; what to do about it comes after that.
#[derive(Debug, thiserror::Error)]
pub enum RelayServerError {
    /// No tab was clicked yet, or no browser with the extension runs.
    #[error(
        "[Playwriter] Extension not connected. Please click the Playwriter extension icon on a Chrome tab. (port {})\n\nhint: the relay at {relay} has no extension. If none is installed: `playwriter extension install`, or `playwriter browser start` for a browser that has it", relay.port()
    )]
    ExtensionNotConnected {
        /// The relay to which no extension connected.
        relay: Endpoint,
    },
    /// The extension is there, and controls nothing.
    #[error(
        "[Playwriter] The extension controls no tab. Please click the Playwriter extension icon on a Chrome tab. (port {})\n\nhint: the extension is connected to {relay}; the tab whose icon is green is controlled", relay.port()
    )]
    NoTab {
        /// The relay to which the browser is connected.
        relay: Endpoint,
    },
    /// Several browsers are connected, or none by this name.
    #[error(
        "[Playwriter] It is not clear which browser is meant. (port {port})\n\nhint: choose one with --browser, one of: {choices}"
    )]
    WhichBrowser {
        /// The port of the relay to which they are connected.
        port: u16,
        /// The browsers to choose from.
        choices: String,
    },
    /// The process was started and did not become a relay.
    #[error("[Playwriter] Failed to start relay server. Check logs at: {} (port {port})\n\n{why}\n\nhint: {}", .log.display(), .hint.clone().unwrap_or_else(|| format!("`playwriter serve --port {port}` shows what is in the way")))]
    RelayStart {
        /// The port at which the relay should have listened.
        port: u16,
        /// The relay's message, or the step that failed.
        why: String,
        /// The relay's own hint.
        hint: Option<String>,
        /// The log in which there may be more.
        log: PathBuf,
    },
    /// The program `playwriter` is missing.
    #[error(
        "[Playwriter] The program `playwriter` was not found beside this program or on the PATH. (port {port})\n\nhint: install it with `make install` in its source folder, or name it in the options"
    )]
    NoProgram {
        /// The port at which the relay should have listened.
        port: u16,
    },
    /// The `playwriter` that would be started is older than this library, which would not use it.
    #[error(
        "[Playwriter] {} is version {version}, older than the library that wants to start it, {wanted}; nothing was stopped or started. (port {port})\n\nhint: install the newer program with `make install` in its source folder, or name another in the options", program.display()
    )]
    OlderProgram {
        /// The port at which the relay should have listened.
        port: u16,
        /// The program.
        program: PathBuf,
        /// The version that it reports.
        version: String,
        /// The library's own.
        wanted: &'static str,
    },
    /// Another program has the port.
    #[error(
        "[Playwriter] The port is used by another program, which is no playwriter relay. (port {port})\n\nhint: stop that program, or choose another port with --port (or PLAYWRITER_PORT) and in the extension"
    )]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The program that has the port does not answer.
    #[error(
        "[Playwriter] The program on the port does not answer: a relay that hangs or is very busy, or another program. (port {port})\n\nhint: try again; if that does not help, end the process that `lsof -i :{port}` shows, or choose another port with --port (or PLAYWRITER_PORT) and in the extension"
    )]
    NoAnswer {
        /// The port.
        port: u16,
    },
    /// A relay of another project has the port. It is not ours to stop.
    #[error(
        "[Playwriter] The port is used by another playwriter relay, version {version}, which this one does not replace. (port {port})\n\nhint: stop it (the process that `lsof -i :{port}` shows), or choose another port with --port (or PLAYWRITER_PORT) and in the extension"
    )]
    AnotherRelay {
        /// The port.
        port: u16,
        /// The version that it reports.
        version: String,
    },
    /// A relay of ours that this user did not start, or not with this home folder.
    #[error(
        "[Playwriter] The relay {version} cannot be stopped from here: it was started by another user, or with another home folder. (port {port})\n\nhint: stop it where it was started, with `playwriter stop` or Ctrl-C"
    )]
    NotYours {
        /// The port.
        port: u16,
        /// The version that it reports.
        version: String,
    },
    /// An older relay whose token the caller does not have. One without would let others in.
    #[error(
        "[Playwriter] The relay {version} is older than this program, and is not replaced without its token. (port {port})\n\nhint: set PLAYWRITER_TOKEN to the token that it was started with, or stop it with `playwriter stop`"
    )]
    WantsToken {
        /// The port.
        port: u16,
        /// The version that it reports.
        version: String,
    },
    /// A relay that wanted a token was killed. One without would let others in.
    #[error(
        "[Playwriter] The relay wanted a token, and was killed; it is not started again without one. (port {port})\n\nhint: set PLAYWRITER_TOKEN to a secret, or forget that relay and its settings with `playwriter stop`"
    )]
    WantedToken {
        /// The port that it had.
        port: u16,
    },
    /// The relay said that it would stop, and still has the port.
    #[error(
        "[Playwriter] The relay does not stop. (port {port})\n\nhint: see its log with `playwriter logfile`"
    )]
    DoesNotStop {
        /// The port.
        port: u16,
    },
    /// The relay cannot be reached.
    #[error("[Playwriter] {0} (port {port})\n\nhint: {hint}", port = .0.endpoint().port(), hint = hint_for(.0))]
    Relay(ClientError),
    /// A relay in this process did not start.
    #[error("{}", framed(&source.to_string(), *port))]
    Start {
        /// The port at which the relay should have listened.
        port: u16,
        /// The cause.
        source: StartError,
    },
    /// The folder for the lock and the logs.
    #[error("[Playwriter] The folder {} cannot be used: {source} (port {port})", folder.display())]
    Folder {
        /// The relay that needs it.
        port: u16,
        /// The folder.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no home folder.
    #[error(
        "[Playwriter] There is no home folder for the relay's files. (port {port})\n\nhint: set HOME"
    )]
    NoHome {
        /// The relay that needs it.
        port: u16,
    },
}

// The error is not kept as a source: its text is part of this one's.
impl From<ClientError> for RelayServerError {
    fn from(error: ClientError) -> Self {
        Self::Relay(error)
    }
}

impl RelayServerError {
    /// The port of the relay that is missing, or in the way.
    #[must_use]
    pub fn port(&self) -> u16 {
        match self {
            Self::ExtensionNotConnected { relay } | Self::NoTab { relay } => relay.port(),
            Self::Relay(error) => error.endpoint().port(),
            Self::WhichBrowser { port, .. }
            | Self::RelayStart { port, .. }
            | Self::NoProgram { port }
            | Self::OlderProgram { port, .. }
            | Self::PortTaken { port }
            | Self::NoAnswer { port }
            | Self::AnotherRelay { port, .. }
            | Self::NotYours { port, .. }
            | Self::WantsToken { port, .. }
            | Self::WantedToken { port }
            | Self::DoesNotStop { port }
            | Self::Start { port, .. }
            | Self::Folder { port, .. }
            | Self::NoHome { port } => *port,
        }
    }
}

/// Puts the port behind what happened, before what to do about it.
fn framed(text: &str, port: u16) -> String {
    match text.split_once("\n\n") {
        Some((what, hint)) => format!("[Playwriter] {what} (port {port})\n\n{hint}"),
        None => format!("[Playwriter] {text} (port {port})"),
    }
}

/// The hint for a relay or program that has the port and does not have the user's secret.
pub const UNPROVEN: &str = "an older relay of yours is replaced by `playwriter ensure`; one that was started \
    with another home folder is stopped there; if it is neither, another program has the port: stop \
    that program, or choose another port with --port (or PLAYWRITER_PORT) and in the extension";

/// Returns the hint for a machine on which no relay runs.
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
        ClientError::Unproven(_) => UNPROVEN,
        ClientError::Unreachable { .. }
        | ClientError::TooSlow(_)
        | ClientError::Refused { .. }
        | ClientError::NotARelay(_) => "`playwriter doctor` may know more",
    }
}
