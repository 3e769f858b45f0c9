//! The sessions of clients.

pub(crate) mod attach;
pub(crate) mod auto_attach;
pub(crate) mod model;
pub(crate) mod teardown;
