//! The harness of the end-to-end tests: it sets up every part for a test, all of them real.
//!
//! Each [`Stage`] has a relay on a free port, a web site on another, and a Chromium with the built
//! extension in a profile and a HOME of its own. So tests run side by side and touch nothing of the
//! person's who runs them.
//!
//! The rooms, each of which imports only those above it: `machine`, `network`, `raw_peers`, `browser`,
//! `scripts`, `relay_program`, `evidence`, `generations`, `transcripts`, `stage`, `conformance`.

#![expect(clippy::expect_used, clippy::panic, reason = "what goes wrong here fails the test")]

mod browser;
mod conformance;
mod evidence;
mod generations;
mod machine;
mod network;
mod raw_peers;
mod relay_program;
mod scripts;
mod stage;
mod transcripts;

pub use browser::{Colour, DirectBrowser, Screen, built_extension};
pub use conformance::{CLIENTS, Client};
pub use generations::{Maker, Pair, SCENARIOS, Scene, Trust};
pub use machine::{
    Home, TIMEOUT, as_user, compile, may_be_another_user, own_user, playwright_core,
    resident_memory, show_figure,
};
pub use network::{Answer, Site, http, http_until, tls_proxy};
pub use raw_peers::{FalseRelay, HeldSocket, RawClient, RawKey, RawRelay, RawTab, Squat, Squatter};
pub use relay_program::{
    Flood, RelayProgram, flood_beside_a_stalled_client, may_make_networks, on_two_machines, program,
};
pub use scripts::{Agent, Language, Results, Sdk, ToolAnswer, ToolImage, Walk, walk_playwright};
pub use stage::Stage;
pub use transcripts::{Recorded, generations, record, replay};
