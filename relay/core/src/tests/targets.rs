//! Targets that come, change and go, and who is told of them.

mod announce;
mod children;
mod confined;
mod restricted;
