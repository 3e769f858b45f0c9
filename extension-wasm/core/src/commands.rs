//! CDP: commands that the relay sends to tabs, and the answers and events of Chrome.
//!
//! Files here speak CDP with `chrome.debugger`. They take no tab under control and give none back.

mod answers;
mod cleanup;
mod create;
mod events;
mod run;

const CRASHED: &str = "Target crashed";
