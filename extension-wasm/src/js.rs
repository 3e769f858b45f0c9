//! The parts of JavaScript itself that the worker needs: values, errors, timers and signatures.
//!
//! Nothing here calls `chrome.*` or knows the relay. Payloads stay in the JS heap wherever that is
//! possible.

pub(crate) mod crypto;
pub(crate) mod error;
pub(crate) mod pairing_json;
pub(crate) mod payload;
pub(crate) mod time;
