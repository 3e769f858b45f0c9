//! The sessions of clients: what each has asked for, how they are opened on a parent session and how
//! they end. Ending a session calls `release_x` of each file of `sharing`. Targets are known here by
//! their ids alone.

pub(crate) mod attach;
pub(crate) mod auto_attach;
pub(crate) mod model;
pub(crate) mod teardown;
