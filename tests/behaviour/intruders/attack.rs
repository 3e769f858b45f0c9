//! A row of `docs/attacks.md`.

/// An attack that a test plays.
pub(super) struct Attack {
    /// The attacker.
    pub(super) threat: Threat,
    /// The attempt, as a sentence without its subject: "opens ...".
    pub(super) attack: &'static str,
    /// The outcome, and its reason.
    pub(super) outcome: &'static str,
    /// The name of the test.
    pub(super) name: &'static str,
    /// The test itself: a row without one does not compile.
    #[expect(dead_code, reason = "its existence is the point")]
    pub(super) test: fn(),
}

/// Attackers, as SECURITY.md names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Threat {
    WebPage,
    OtherExtension,
    OtherUser,
    SameUser,
    OtherMachine,
    Agent,
    StolenLog,
}

impl Threat {
    pub(super) const ALL: [Self; 7] = [
        Self::WebPage,
        Self::OtherExtension,
        Self::OtherUser,
        Self::SameUser,
        Self::OtherMachine,
        Self::Agent,
        Self::StolenLog,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::WebPage => "A web page",
            Self::OtherExtension => "Another extension",
            Self::OtherUser => "Another user of this machine",
            Self::SameUser => "A confined program of the same user",
            Self::OtherMachine => "Another machine",
            Self::Agent => "An agent that a page has talked into something",
            Self::StolenLog => "Whoever gets hold of a log",
        }
    }
}

/// A row for the test of this name.
macro_rules! attack {
    ($threat:ident, $attack:literal, $outcome:literal, $test:ident) => {
        $crate::behaviour::intruders::attack::Attack {
            threat: $crate::behaviour::intruders::attack::Threat::$threat,
            attack: $attack,
            outcome: $outcome,
            name: stringify!($test),
            test: $test,
        }
    };
}

pub(super) use attack;
