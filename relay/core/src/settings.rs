//! What sessions want of a target, as plain data, and how the values of several sessions become the
//! one value that Chrome is given. Nothing here knows the relay, its clients or its extensions.

pub(crate) mod auto_attach;
pub(crate) mod interception;
pub(crate) mod overrides;
