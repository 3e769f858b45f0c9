//! What sessions want of a target, as plain data, and how the wishes of several become the one value
//! that Chrome is given.

pub(crate) mod auto_attach;
pub(crate) mod interception;
pub(crate) mod overrides;
