//! The relay as a program: how it is started and stopped, whom it lets in, what it writes down.
//!
//! Tests here run the `playwriter` program or ask it over HTTP. Attacks on it are in
//! [`super::intruders`].

mod background_relay;
mod guards;
mod logs;
mod relay_exit;
mod remote;
mod tokens;
