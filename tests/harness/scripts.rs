//! Programs in Node and Python that tests run: scripts of users, conversations, official MCP clients,
//! the walk over Playwright.
//!
//! A script gets addresses as arguments and knows of no stage.

mod agent;
mod api_coverage;
mod conversation;
mod language;
mod playwright;

pub use agent::{Agent, Sdk, ToolAnswer, ToolImage};
pub use api_coverage::{Walk, walk_playwright};
pub use conversation::Results;
pub(crate) use conversation::converse;
pub use language::Language;
pub(crate) use language::run;
pub(crate) use playwright::run_playwright;
