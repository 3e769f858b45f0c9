//! The commands that a whole browser would answer and a tab's debugger does not know: cookies,
//! storage, downloads, permissions and windows of the user's own profile. Each file asks the
//! extension through `requests` and limits what a client sees of the profile. State that clients
//! share on one target is in `sharing`.

pub(crate) mod cookies;
pub(crate) mod downloads;
pub(crate) mod folders;
pub(crate) mod permissions;
pub(crate) mod profile;
pub(crate) mod storage;
pub(crate) mod window_mode;
pub(crate) mod windows;
