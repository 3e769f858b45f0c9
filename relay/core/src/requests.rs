//! Commands that went to an extension, from the moment they are sent to the moment they are completed.
//! `send` holds the only ways to an extension, `pending` the requests that are not answered yet,
//! `complete` the one switch over what an answer is for ([`purpose::Purpose`]). What a client's command
//! means is decided elsewhere: a request knows only its purpose.

pub(crate) mod complete;
pub(crate) mod data_urls;
pub(crate) mod deferred_replies;
pub(crate) mod pending;
pub(crate) mod purpose;
pub(crate) mod refusal;
pub(crate) mod rollback;
pub(crate) mod send;
