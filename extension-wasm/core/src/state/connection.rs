//! The way to the relay: looked for, opened, lost, looked for again.

mod transitions;

use shared_protocol::{DEFAULT_PORT, ExtensionHello};

use super::problem::Problem;
use crate::interface::{Attempt, PairingKey};

/// As much as a tooltip shows.
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
    /// How often what listens was not believed, one after another.
    failed_proofs: u32,
    /// What the relay wants the user to know.
    notice: Option<String>,
}

#[derive(Debug)]
struct Settings {
    /// The user's choice.
    port: Option<u16>,
    /// What came with the key.
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
    /// No relay was found; it will be looked for again.
    #[default]
    Idle,
    /// The key is being read.
    ReadingKey,
    Probing,
    /// As [`Phase::Probing`], for an extension that has a key.
    AskingHello,
    Opening,
    Open,
    /// The relay serves another worker; we come back when that one has left.
    Displaced,
}

/// What is known of a relay. One that knows our features says the window mode before all else.
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

    /// Whether the relay is there, or known not to be.
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

    /// What keeps the extension from its relay, while it is kept from it.
    pub(crate) fn problem(&self) -> Problem {
        match (self.problem, self.phase) {
            (_, Phase::Open) => Problem::None,
            (Problem::Refused, phase) if phase != Phase::Idle => Problem::None,
            // It stays as it is while the relay is looked for again.
            (problem, _) => problem,
        }
    }

    /// Whether the relay has proven itself, and the extension to it.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_open() && self.key.is_some()
    }

    /// Where the relay is looked for, once that is known.
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

    /// What the relay wants the user to know, while it is there.
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

    /// A relay has pinged: that is long after it first spoke. Whether it turns out to be older is
    /// news once.
    pub(crate) fn mark_as_older(&mut self) -> bool {
        let news = self.relay == RelayKind::Unknown;
        if news {
            self.relay = RelayKind::Older;
        }
        news
    }
}
