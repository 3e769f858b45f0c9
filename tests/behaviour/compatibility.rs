//! Extensions, relays and clients of different ages: each works with each, and says so when it
//! cannot.
//!
//! Tests here have one side that is older or newer than this repository. What both sides say today
//! is in the other folders.

mod compatibility_page;
mod future_peers;
mod generations;
mod older_relays;
mod transcripts;
mod update_warnings;
