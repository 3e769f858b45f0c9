//! The way to the relay: looked for, opened, lost, looked for again.

use std::time::Duration;

use shared_protocol::{CloseCode, DEFAULT_PORT, ExtensionHello};

use super::Effect;
use super::pairing::{HelloAnswer, PairingKey, Problem, ProofFailure, StoredKey};

/// Names one try to connect; what happened to an earlier one no longer matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(pub u32);

/// How long to rest after what listens was not believed; each time twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// As much as a tooltip shows.
const MAX_NOTICE: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Connection {
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
    pub(super) fn start<P>(
        &mut self,
        port: Option<u16>,
        hello: ExtensionHello,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.settings = Some(Settings { port, port_of_key: None, hello });
        self.look_for_relay(effects);
    }

    pub(super) fn change_port<P>(&mut self, port: Option<u16>, effects: &mut Vec<Effect<P>>) {
        let Some(settings) = &mut self.settings else { return };
        let last = settings.port();
        settings.port = port;
        if settings.port() != last {
            self.start_over(effects);
        }
    }

    /// There is another key than the one that was used.
    pub(super) fn key_changed<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        if self.settings.is_some() {
            self.start_over(effects);
        }
    }

    fn start_over<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        (self.problem, self.failed_proofs) = (Problem::None, 0);
        if matches!(self.phase, Phase::Opening | Phase::Open) {
            // The socket's end leads to the next attempt.
            effects.push(Effect::CloseSocket);
        } else {
            self.look_for_relay(effects);
        }
    }

    /// Looks for the relay if none is there; with an attempt, only on its behalf.
    pub(super) fn retry<P>(&mut self, attempt: Option<Attempt>, effects: &mut Vec<Effect<P>>) {
        if attempt.is_some_and(|attempt| attempt != self.attempt) {
            return;
        }
        match (self.phase, &self.settings) {
            (Phase::Idle, _) => self.look_for_relay(effects),
            // It has a timer of its own.
            (Phase::Displaced, Some(settings)) if attempt.is_some() => {
                effects.push(Effect::AskStatus { attempt: self.attempt, port: settings.port() });
            }
            (
                Phase::Displaced
                | Phase::ReadingKey
                | Phase::AskingHello
                | Phase::Probing
                | Phase::Opening
                | Phase::Open,
                _,
            ) => {}
        }
    }

    pub(super) fn probed<P>(
        &mut self,
        attempt: Attempt,
        found: bool,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(settings) = &self.settings else { return };
        if attempt != self.attempt || self.phase != Phase::Probing {
            return;
        }
        if found {
            self.phase = Phase::Opening;
            let (port, hello) = (settings.port(), settings.hello.clone());
            effects.push(Effect::OpenSocket { attempt, port, hello, key: None });
        } else {
            self.problem = Problem::None;
            self.retry_later(Phase::Idle, effects);
        }
    }

    /// What is known of a key decides how the relay is spoken to.
    pub(super) fn key_read<P>(
        &mut self,
        attempt: Attempt,
        stored: StoredKey,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(settings) = &mut self.settings else { return };
        if attempt != self.attempt || self.phase != Phase::ReadingKey {
            return;
        }
        match stored {
            StoredKey::Unpaired => {
                self.key = None;
                settings.port_of_key = None;
                self.phase = Phase::Probing;
                effects.push(Effect::Probe { attempt, port: settings.port() });
            }
            StoredKey::Unreadable => self.retry_after_problem(Problem::Unreadable, effects),
            StoredKey::Key(key) => {
                self.key = Some(key);
                settings.port_of_key = key.port;
                self.phase = Phase::AskingHello;
                effects.push(Effect::AskHello { attempt, port: settings.port() });
            }
        }
    }

    /// Who listens has said what it is, which it may not be.
    pub(super) fn hello_answered<P>(
        &mut self,
        attempt: Attempt,
        answer: &HelloAnswer,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(settings) = &self.settings else { return };
        if attempt != self.attempt {
            return;
        }
        let relay = match answer {
            HelloAnswer::Relay(hello) => Some(hello),
            HelloAnswer::NoAnswer | HelloAnswer::Other => None,
        };
        match (self.phase, self.key) {
            (Phase::AskingHello, Some(key)) if relay.is_some_and(|relay| relay.pairs()) => {
                self.phase = Phase::Opening;
                let (port, hello) = (settings.port(), settings.hello.clone());
                effects.push(Effect::OpenSocket { attempt, port, hello, key: Some(key) });
            }
            (Phase::AskingHello, Some(_)) if *answer == HelloAnswer::NoAnswer => {
                (self.problem, self.failed_proofs) = (Problem::None, 0);
                self.retry_later(Phase::Idle, effects);
            }
            (Phase::AskingHello, _) => self.retry_after_problem(Problem::NoProof, effects),
            (Phase::Idle, None) if relay.is_some_and(|relay| relay.required) => {
                self.problem = Problem::PairingRequired;
            }
            (
                Phase::Idle
                | Phase::ReadingKey
                | Phase::Probing
                | Phase::Opening
                | Phase::Open
                | Phase::Displaced,
                _,
            ) => {}
        }
    }

    /// What listens was not believed. Whether this is news.
    pub(super) fn relay_unproven<P>(
        &mut self,
        attempt: Attempt,
        why: ProofFailure,
        effects: &mut Vec<Effect<P>>,
    ) -> bool {
        let news = attempt == self.attempt && self.phase == Phase::Opening && self.key.is_some();
        if news {
            effects.push(Effect::CloseSocket);
            self.retry_after_problem(why.into(), effects);
        }
        news
    }

    /// Whether the relay has an extension is known; if not, or if it has gone, it is our turn.
    pub(super) fn status_answered<P>(
        &mut self,
        attempt: Attempt,
        is_taken: bool,
        effects: &mut Vec<Effect<P>>,
    ) {
        if attempt != self.attempt || self.phase != Phase::Displaced {
            return;
        }
        if is_taken {
            self.retry_later(Phase::Displaced, effects);
        } else {
            self.look_for_relay(effects);
        }
    }

    /// Whether this is news.
    pub(super) fn opened(&mut self, attempt: Attempt) -> bool {
        let news = attempt == self.attempt && self.phase == Phase::Opening;
        if news {
            self.phase = Phase::Open;
            self.relay = RelayKind::Unknown;
            (self.problem, self.failed_proofs) = (Problem::None, 0);
            self.notice = None;
        }
        news
    }

    pub(super) fn mark_as_ours(&mut self) {
        self.relay = RelayKind::Ours;
    }

    /// A relay has pinged: that is long after it first spoke. Whether it turns out to be older is
    /// news once.
    pub(super) fn mark_as_older(&mut self) -> bool {
        let news = self.relay == RelayKind::Unknown;
        if news {
            self.relay = RelayKind::Older;
        }
        news
    }

    pub(super) fn set_notice(&mut self, notice: Option<String>) {
        self.notice = notice.map(|mut text| {
            text.truncate(text.floor_char_boundary(MAX_NOTICE));
            text
        });
    }

    /// What the relay wants the user to know, while it is there.
    pub(super) fn notice(&self) -> Option<&str> {
        self.notice.as_deref().filter(|_| self.is_open())
    }

    pub(super) fn relay_is_ours(&self) -> bool {
        self.relay == RelayKind::Ours
    }

    pub(super) fn relay_is_older(&self) -> bool {
        self.is_open() && self.relay == RelayKind::Older
    }

    /// Whether this is news.
    pub(super) fn closed<P>(
        &mut self,
        attempt: Attempt,
        code: u16,
        effects: &mut Vec<Effect<P>>,
    ) -> bool {
        let news = attempt == self.attempt && matches!(self.phase, Phase::Opening | Phase::Open);
        if news {
            if self.phase == Phase::Opening && self.key.is_some() {
                self.retry_after_problem(Problem::NoProof, effects);
                return true;
            }
            let was_refused = self.phase == Phase::Opening;
            self.problem = if was_refused { Problem::Refused } else { Problem::None };
            let displaced = [CloseCode::ExtensionReplaced, CloseCode::ExtensionInUse]
                .iter()
                .any(|displaced| displaced.number() == code);
            self.retry_later(if displaced { Phase::Displaced } else { Phase::Idle }, effects);
            if was_refused && let Some(settings) = &self.settings {
                // It may say why.
                effects.push(Effect::AskHello { attempt, port: settings.port() });
            }
        }
        news
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    pub(super) fn is_open_for(&self, attempt: Attempt) -> bool {
        self.is_open() && attempt == self.attempt
    }

    /// Whether the relay is there, or known not to be.
    pub(super) fn is_settled(&self) -> bool {
        match self.phase {
            Phase::Idle => self.settings.is_some(),
            Phase::Open | Phase::Displaced => true,
            Phase::ReadingKey | Phase::Probing | Phase::AskingHello | Phase::Opening => false,
        }
    }

    pub(super) fn status_name(&self) -> &'static str {
        match self.phase {
            Phase::Idle => "idle",
            Phase::ReadingKey | Phase::Probing | Phase::AskingHello | Phase::Opening => {
                "connecting"
            }
            Phase::Open => "connected",
            Phase::Displaced => "extension-replaced",
        }
    }

    pub(super) fn is_displaced(&self) -> bool {
        self.phase == Phase::Displaced
    }

    /// What keeps the extension from its relay, while it is kept from it.
    pub(super) fn problem(&self) -> Problem {
        match (self.problem, self.phase) {
            (_, Phase::Open) => Problem::None,
            (Problem::Refused, phase) if phase != Phase::Idle => Problem::None,
            // It stays as it is while the relay is looked for again.
            (problem, _) => problem,
        }
    }

    /// Whether the relay has proven itself, and the extension to it.
    pub(super) fn is_proven(&self) -> bool {
        self.is_open() && self.key.is_some()
    }

    /// Where the relay is looked for, once that is known.
    pub(super) fn port(&self) -> Option<u16> {
        self.settings.as_ref().map(Settings::port)
    }

    pub(super) fn attempt(&self) -> Attempt {
        self.attempt
    }

    fn look_for_relay<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        if self.settings.is_none() {
            return;
        }
        self.attempt = Attempt(self.attempt.0.wrapping_add(1));
        self.phase = Phase::ReadingKey;
        effects.push(Effect::ReadKey { attempt: self.attempt });
    }

    /// Rests longer each time: whatever is wrong, this does not end it.
    fn retry_after_problem<P>(&mut self, problem: Problem, effects: &mut Vec<Effect<P>>) {
        self.problem = problem;
        self.phase = Phase::Idle;
        let wait = FIRST_RETRY.saturating_mul(1 << self.failed_proofs.min(5)).min(LONGEST_RETRY);
        self.failed_proofs += 1;
        effects.push(Effect::RetryAfter { attempt: self.attempt, wait });
    }

    fn retry_later<P>(&mut self, phase: Phase, effects: &mut Vec<Effect<P>>) {
        self.phase = phase;
        effects.push(Effect::RetryLater { attempt: self.attempt });
    }
}
