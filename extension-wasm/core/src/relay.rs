//! The relay as a whole: it comes, says something, and goes.
//!
//! Files here announce everything to a new relay, hand its messages to the folders below, and undo what it
//! did when it has gone.

mod lifecycle;
mod messages;
