//! The way to the relay: looked for, opened, lost, looked for again.

use shared_protocol::ExtensionHello;

use super::Effect;

/// Names one try to connect; what happened to an earlier one no longer matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attempt(pub u32);

#[derive(Debug, Default)]
pub(super) struct Connection {
    /// `None` until the settings have been read.
    settings: Option<Settings>,
    attempt: Attempt,
    phase: Phase,
}

#[derive(Debug)]
struct Settings {
    port: u16,
    hello: ExtensionHello,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No relay was found; it will be looked for again.
    #[default]
    Resting,
    Probing,
    Opening,
    Open,
}

impl Connection {
    pub(super) fn start<P>(
        &mut self,
        port: u16,
        hello: ExtensionHello,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.settings = Some(Settings { port, hello });
        self.begin(effects);
    }

    pub(super) fn change_port<P>(&mut self, port: u16, effects: &mut Vec<Effect<P>>) {
        let Some(settings) = &mut self.settings else { return };
        if settings.port == port {
            return;
        }
        settings.port = port;
        if matches!(self.phase, Phase::Opening | Phase::Open) {
            // The socket's end leads to the new port.
            effects.push(Effect::CloseSocket);
        } else {
            self.begin(effects);
        }
    }

    /// Looks for the relay if none is there; with an attempt, only on its behalf.
    pub(super) fn retry<P>(&mut self, attempt: Option<Attempt>, effects: &mut Vec<Effect<P>>) {
        if self.phase == Phase::Resting && attempt.is_none_or(|attempt| attempt == self.attempt) {
            self.begin(effects);
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
            let (port, hello) = (settings.port, settings.hello.clone());
            effects.push(Effect::OpenSocket { attempt, port, hello });
        } else {
            self.rest(effects);
        }
    }

    /// Whether this is news.
    pub(super) fn opened(&mut self, attempt: Attempt) -> bool {
        let news = attempt == self.attempt && self.phase == Phase::Opening;
        if news {
            self.phase = Phase::Open;
        }
        news
    }

    /// Whether this is news.
    pub(super) fn closed<P>(&mut self, attempt: Attempt, effects: &mut Vec<Effect<P>>) -> bool {
        let news = attempt == self.attempt && matches!(self.phase, Phase::Opening | Phase::Open);
        if news {
            self.rest(effects);
        }
        news
    }

    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    pub(super) fn is_open_as(&self, attempt: Attempt) -> bool {
        self.is_open() && attempt == self.attempt
    }

    /// Whether the relay is there, or known not to be.
    pub(super) fn is_settled(&self) -> bool {
        self.settings.is_some() && matches!(self.phase, Phase::Resting | Phase::Open)
    }

    pub(super) fn name(&self) -> &'static str {
        match self.phase {
            Phase::Resting => "idle",
            Phase::Probing | Phase::Opening => "connecting",
            Phase::Open => "connected",
        }
    }

    fn begin<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        let Some(settings) = &self.settings else { return };
        self.attempt = Attempt(self.attempt.0.wrapping_add(1));
        self.phase = Phase::Probing;
        effects.push(Effect::Probe { attempt: self.attempt, port: settings.port });
    }

    fn rest<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        self.phase = Phase::Resting;
        effects.push(Effect::RetryLater { attempt: self.attempt });
    }
}
