//! What a browser would answer.

pub(crate) mod cookies;
pub(crate) mod downloads;
pub(crate) mod folders;
pub(crate) mod permissions;
pub(crate) mod profile;
pub(crate) mod storage;
pub(crate) mod window_mode;
pub(crate) mod windows;
