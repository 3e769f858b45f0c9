//! The way to the relay: looked for, opened, lost, looked for again.

use shared_protocol::{CloseCode, ExtensionHello};

use super::Effect;

/// Names one try to connect; what happened to an earlier one no longer matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt(pub u32);

/// As much as a tooltip shows.
const MAX_NOTICE: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Connection {
    /// `None` until the settings have been read.
    settings: Option<Settings>,
    attempt: Attempt,
    phase: Phase,
    relay: Relay,
    /// A relay was found, and closed its door.
    refused: bool,
    /// What the relay wants the user to know.
    notice: Option<String>,
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
    /// The relay serves another worker; we come back when that one has left.
    Displaced,
}

/// What is known of a relay. One that knows our features says the window mode before all else.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Relay {
    #[default]
    Unknown,
    KnowsUs,
    Older,
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
        if attempt.is_some_and(|attempt| attempt != self.attempt) {
            return;
        }
        match (self.phase, &self.settings) {
            (Phase::Resting, _) => self.begin(effects),
            // It has a timer of its own.
            (Phase::Displaced, Some(settings)) if attempt.is_some() => {
                effects.push(Effect::AskStatus { attempt: self.attempt, port: settings.port });
            }
            (Phase::Displaced | Phase::Probing | Phase::Opening | Phase::Open, _) => {}
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
            self.refused = false;
            self.rest(Phase::Resting, effects);
        }
    }

    /// Whether the relay has an extension is known; if not, or if it has gone, it is our turn.
    pub(super) fn status_seen<P>(
        &mut self,
        attempt: Attempt,
        taken: bool,
        effects: &mut Vec<Effect<P>>,
    ) {
        if attempt != self.attempt || self.phase != Phase::Displaced {
            return;
        }
        if taken {
            self.rest(Phase::Displaced, effects);
        } else {
            self.begin(effects);
        }
    }

    /// Whether this is news.
    pub(super) fn opened(&mut self, attempt: Attempt) -> bool {
        let news = attempt == self.attempt && self.phase == Phase::Opening;
        if news {
            self.phase = Phase::Open;
            self.relay = Relay::Unknown;
            self.refused = false;
            self.notice = None;
        }
        news
    }

    pub(super) fn relay_knows_us(&mut self) {
        self.relay = Relay::KnowsUs;
    }

    /// A relay has pinged: that is long after it first spoke. Whether it turns out to be older is
    /// news once.
    pub(super) fn turns_out_older(&mut self) -> bool {
        let news = self.relay == Relay::Unknown;
        if news {
            self.relay = Relay::Older;
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

    pub(super) fn is_with_our_relay(&self) -> bool {
        self.relay == Relay::KnowsUs
    }

    pub(super) fn is_with_older_relay(&self) -> bool {
        self.is_open() && self.relay == Relay::Older
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
            self.refused = self.phase == Phase::Opening;
            let displaced = [CloseCode::ExtensionReplaced, CloseCode::ExtensionInUse]
                .iter()
                .any(|displaced| displaced.number() == code);
            self.rest(if displaced { Phase::Displaced } else { Phase::Resting }, effects);
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
        match self.phase {
            Phase::Resting => self.settings.is_some(),
            Phase::Open | Phase::Displaced => true,
            Phase::Probing | Phase::Opening => false,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.phase {
            Phase::Resting => "idle",
            Phase::Probing | Phase::Opening => "connecting",
            Phase::Open => "connected",
            Phase::Displaced => "extension-replaced",
        }
    }

    pub(super) fn is_displaced(&self) -> bool {
        self.phase == Phase::Displaced
    }

    pub(super) fn is_refused(&self) -> bool {
        self.phase == Phase::Resting && self.refused
    }

    /// Where the relay is looked for, once that is known.
    pub(super) fn port(&self) -> Option<u16> {
        self.settings.as_ref().map(|settings| settings.port)
    }

    pub(super) fn attempt(&self) -> Attempt {
        self.attempt
    }

    fn begin<P>(&mut self, effects: &mut Vec<Effect<P>>) {
        let Some(settings) = &self.settings else { return };
        self.attempt = Attempt(self.attempt.0.wrapping_add(1));
        self.phase = Phase::Probing;
        effects.push(Effect::Probe { attempt: self.attempt, port: settings.port });
    }

    fn rest<P>(&mut self, phase: Phase, effects: &mut Vec<Effect<P>>) {
        self.phase = phase;
        effects.push(Effect::RetryLater { attempt: self.attempt });
    }
}
