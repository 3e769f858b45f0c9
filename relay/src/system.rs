//! The operating system as the relay uses it: folders and users, inherited file descriptors, and the
//! socket in the user's folder.
//!
//! This is the lowest folder: it knows nothing of relays, browsers and CDP, and imports no other
//! folder of this crate.

pub mod descriptors;
pub(crate) mod folders;
pub(crate) mod own_socket;
pub(crate) mod users;
