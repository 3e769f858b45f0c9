//! The pairs of an extension and a relay that must work together.

use super::Scene;
use crate::scripts::{Results, converse};

/// The scenarios that `tests/conformance/generations.mjs` tries with every pair, in this order.
pub const SCENARIOS: [&str; 9] = [
    "a first tab for who finds none",
    "connect",
    "see a toggled tab, evaluate",
    "navigate",
    "newPage",
    "iframe of another site",
    "close",
    "two clients",
    "relay restart",
];

/// The maker of an extension or a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// This repository.
    Ours,
    /// The release of this version.
    Released(&'static str),
}

/// An extension and a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Pair {
    pub extension: Maker,
    pub relay: Maker,
}

/// Whether the two sides of a pair prove themselves to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The extension has no key, and the relay wants none.
    Unpaired,
    /// An extension of ours has a key.
    Paired,
    /// As [`Trust::Paired`], and the relay takes no others.
    Required,
    /// The relay takes none without a key, and an extension of ours has none either.
    Missing,
}

impl Maker {
    /// Returns the name in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Ours => format!("{} (ours)", env!("CARGO_PKG_VERSION")),
            Self::Released(version) => version.to_owned(),
        }
    }
}

impl Pair {
    /// All pairs that must work together.
    pub const ALL: [Self; 5] = [
        Self { extension: Maker::Released("0.4"), relay: Maker::Ours },
        Self { extension: Maker::Released("0.7"), relay: Maker::Ours },
        Self { extension: Maker::Ours, relay: Maker::Released("0.4") },
        Self { extension: Maker::Ours, relay: Maker::Released("0.7") },
        Self { extension: Maker::Ours, relay: Maker::Ours },
    ];

    /// Runs the scenarios in a browser of their own. Without words, all of them.
    pub async fn run(self, words: &[String]) -> Results {
        self.run_with(Trust::Unpaired, words).await
    }

    /// As [`Pair::run`], for two sides that may have proven themselves.
    pub async fn run_with(self, trust: Trust, words: &[String]) -> Results {
        let mut scene = Scene::set_up_with(self, trust).await;
        let (url, site) = (scene.url(), scene.site.url());
        let mut arguments = vec![url.as_str(), site.as_str()];
        arguments.extend(words.iter().map(String::as_str));
        let results = converse("generations.mjs", &arguments, &[], async |question| {
            scene.answer(&question).await
        });
        let results = results.await;
        scene.end().await;
        results
    }
}
