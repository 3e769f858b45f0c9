//! Targets as Chrome has them: tabs, and the children of tabs. They come, change and go here, clients
//! that asked are told of them in Chrome's order, and confined clients see only those that show the web.
//! Commands are answered elsewhere.

pub(crate) mod announce;
pub(crate) mod auto_attach;
pub(crate) mod children;
pub(crate) mod closing;
pub(crate) mod discovery;
pub(crate) mod first_tab;
pub(crate) mod lifecycle;
pub(crate) mod lookup;
pub(crate) mod model;
pub(crate) mod restricted;
pub(crate) mod visibility;
pub(crate) mod waiting;
