//! The commands that a browser would answer.

mod cookies_without_tab;
mod profile;
mod window_mode;
