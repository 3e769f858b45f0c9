//! The transitions of the connection from one phase to the next.

use std::time::Duration;

use shared_protocol::{CloseCode, ExtensionHello};

use super::{Connection, Phase, RelayKind, Settings};
use crate::interface::{Attempt, Effect, HelloAnswer, ProofFailure, StoredKey};
use crate::state::problem::Problem;

/// The wait after a problem. Each later wait is twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

impl Connection {
    pub(crate) fn start<P>(
        &mut self,
        port: Option<u16>,
        hello: ExtensionHello,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.settings = Some(Settings { port, port_of_key: None, hello });
        self.look_for_relay(effects);
    }

    pub(crate) fn change_port<P>(&mut self, port: Option<u16>, effects: &mut Vec<Effect<P>>) {
        let Some(settings) = &mut self.settings else { return };
        let last = settings.port();
        settings.port = port;
        if settings.port() != last {
            self.start_over(effects);
        }
    }

    /// Connects again, since there is another key.
    pub(crate) fn key_changed<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        if self.settings.is_some() {
            self.start_over(effects);
        }
    }

    fn start_over<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        (self.problem, self.failed_proofs) = (Problem::None, 0);
        if matches!(self.phase, Phase::Opening | Phase::Open) {
            // The next attempt begins when the socket has closed.
            effects.push(Effect::CloseSocket);
        } else {
            self.look_for_relay(effects);
        }
    }

    /// Looks for the relay if none is connected; with an attempt, only if that is the latest.
    pub(crate) fn retry<P>(&mut self, attempt: Option<Attempt>, effects: &mut Vec<Effect<P>>) {
        if attempt.is_some_and(|attempt| attempt != self.attempt) {
            return;
        }
        match (self.phase, &self.settings) {
            (Phase::Idle, _) => self.look_for_relay(effects),
            // A displaced worker has a timer of its own.
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

    pub(crate) fn probed<P>(
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

    /// Begins to connect, in the way that depends on the key.
    pub(crate) fn key_read<P>(
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

    /// Opens the socket if a relay with pairing has answered. That the answer is true is proven
    /// later.
    pub(crate) fn hello_answered<P>(
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

    /// Ends an attempt whose relay is unproven. Returns false if the attempt is not the latest.
    pub(crate) fn relay_unproven<P>(
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

    /// Connects if the relay serves no other extension; waits if it does.
    pub(crate) fn status_answered<P>(
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

    /// Notes that the socket is open. Returns false if the attempt is not the latest.
    pub(crate) fn opened(&mut self, attempt: Attempt) -> bool {
        let news = attempt == self.attempt && self.phase == Phase::Opening;
        if news {
            self.phase = Phase::Open;
            self.relay = RelayKind::Unknown;
            (self.problem, self.failed_proofs) = (Problem::None, 0);
            self.notice = None;
        }
        news
    }

    /// Notes that the socket has closed. Returns false if the attempt is not the latest.
    pub(crate) fn closed<P>(
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
                // The relay may say why it refused.
                effects.push(Effect::AskHello { attempt, port: settings.port() });
            }
        }
        news
    }

    fn look_for_relay<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        if self.settings.is_none() {
            return;
        }
        self.attempt = Attempt(self.attempt.0.wrapping_add(1));
        self.phase = Phase::ReadingKey;
        effects.push(Effect::ReadKey { attempt: self.attempt });
    }

    /// Looks for the relay again after a wait, which is longer each time.
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
