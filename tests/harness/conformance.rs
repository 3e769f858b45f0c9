//! Real clients, feature by feature: which there are, and how the script of each is run.
//!
//! The scripts are in `tests/conformance`; `features.mjs` there says how they are talked to.

mod chromiumoxide;
mod client;

pub use client::{CLIENTS, Client};
