//! The sessions of clients.

pub(crate) mod attach;
pub(crate) mod model;
pub(crate) mod teardown;
