//! Which tabs are controlled: taken, given back, taken back, and shown as such in the toolbar.
//!
//! Files here change tabs and their sessions, and tell the relay of it. What the relay asks of a tab is in
//! `commands/`.

mod attach;
mod groups;
mod popups;
mod reattach;
mod release;
mod target_info;
mod toolbar;
mod unresponsive;

pub use attach::is_restricted_page;
