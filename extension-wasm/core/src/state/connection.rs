//! The connection to the relay: its phase, its relay and its problem.

mod transitions;

use shared_protocol::{DEFAULT_PORT, ExtensionHello};

use super::problem::Problem;
use crate::interface::{Attempt, PairingKey};

/// The greatest length of a notice, in bytes. A tooltip shows no more.
const MAX_NOTICE: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// `None` until the settings have been read.
    settings: Option<Settings>,
    attempt: Attempt,
    phase: Phase,
    relay: RelayKind,
    /// The key of this attempt.
    key: Option<PairingKey>,
    problem: Problem,
    /// The number of attempts in a row that ended with a problem.
    failed_proofs: u32,
    /// A text from the relay for the user.
    notice: Option<String>,
}

#[derive(Debug)]
struct Settings {
    /// The port that the user has set.
    port: Option<u16>,
    /// The port that is stored with the key.
    port_of_key: Option<u16>,
    hello: ExtensionHello,
}

impl Settings {
    fn port(&self) -> u16 {
        self.port.or(self.port_of_key).unwrap_or(DEFAULT_PORT)
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No relay was found. The worker looks for it again.
    #[default]
    Idle,
    /// The key is being read.
    ReadingKey,
    Probing,
    /// The relay is asked for its hello. An extension with a key does this and not
    /// [`Phase::Probing`].
    AskingHello,
    Opening,
    Open,
    /// The relay serves another worker. This one connects again when that one has left.
    Displaced,
}

/// The age of a relay, as far as it is known. A relay that knows our features sends the window mode
/// first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum RelayKind {
    #[default]
    Unknown,
    Ours,
    Older,
}

impl Connection {
    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    pub(crate) fn is_open_for(&self, attempt: Attempt) -> bool {
        self.is_open() && attempt == self.attempt
    }

    /// Returns true if the relay is connected, or known to be absent.
    pub(crate) fn is_settled(&self) -> bool {
        match self.phase {
            Phase::Idle => self.settings.is_some(),
            Phase::Open | Phase::Displaced => true,
            Phase::ReadingKey | Phase::Probing | Phase::AskingHello | Phase::Opening => false,
        }
    }

    pub(crate) fn status_name(&self) -> &'static str {
        match self.phase {
            Phase::Idle => "idle",
            Phase::ReadingKey | Phase::Probing | Phase::AskingHello | Phase::Opening => {
                "connecting"
            }
            Phase::Open => "connected",
            Phase::Displaced => "extension-replaced",
        }
    }

    pub(crate) fn is_displaced(&self) -> bool {
        self.phase == Phase::Displaced
    }

    /// Returns the problem that keeps the extension from its relay.
    pub(crate) fn problem(&self) -> Problem {
        match (self.problem, self.phase) {
            (_, Phase::Open) => Problem::None,
            (Problem::Refused, phase) if phase != Phase::Idle => Problem::None,
            // The problem stays while the worker looks for the relay again.
            (problem, _) => problem,
        }
    }

    /// Returns true if the relay and the extension have proven themselves to each other.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_open() && self.key.is_some()
    }

    /// Returns the relay's port, once the settings have been read.
    pub(crate) fn port(&self) -> Option<u16> {
        self.settings.as_ref().map(Settings::port)
    }

    pub(crate) fn attempt(&self) -> Attempt {
        self.attempt
    }

    pub(crate) fn set_notice(&mut self, notice: Option<String>) {
        self.notice = notice.map(|mut text| {
            text.truncate(text.floor_char_boundary(MAX_NOTICE));
            text
        });
    }

    /// Returns the relay's text for the user, while the relay is connected.
    pub(crate) fn notice(&self) -> Option<&str> {
        self.notice.as_deref().filter(|_| self.is_open())
    }

    pub(crate) fn relay_is_ours(&self) -> bool {
        self.relay == RelayKind::Ours
    }

    pub(crate) fn relay_is_older(&self) -> bool {
        self.is_open() && self.relay == RelayKind::Older
    }

    pub(crate) fn mark_as_ours(&mut self) {
        self.relay = RelayKind::Ours;
    }

    /// Takes a relay for an older one if it has sent no window mode before its first ping. Returns
    /// true the first time.
    pub(crate) fn mark_as_older(&mut self) -> bool {
        let news = self.relay == RelayKind::Unknown;
        if news {
            self.relay = RelayKind::Older;
        }
        news
    }
}
