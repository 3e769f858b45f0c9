//! The program as a person meets it. One test program for all of it: it links once.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod background;
mod cli;
mod commands_page;
mod documents;
mod extension;
mod persistent;
mod place;
mod remote;
mod requests;
mod running;
mod snapshots;
