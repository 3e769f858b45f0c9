//! Controls tabs: takes them, gives them back, takes them again, and shows their state in the
//! toolbar.
//!
//! Files here change tabs and their sessions, and tell the relay of it. The relay's commands for tabs
//! are in `commands/`.

mod attach;
mod groups;
mod popups;
mod reattach;
mod release;
mod target_info;
mod toolbar;
mod unresponsive;

pub use attach::is_restricted_page;
