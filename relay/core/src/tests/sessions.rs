//! The ends of sessions.

mod teardown;
