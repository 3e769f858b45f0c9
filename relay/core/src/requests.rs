//! Commands that went to an extension, until they are answered.

pub(crate) mod complete;
pub(crate) mod data_urls;
pub(crate) mod deferred_replies;
pub(crate) mod pending;
pub(crate) mod purpose;
pub(crate) mod refusal;
pub(crate) mod rollback;
pub(crate) mod send;
