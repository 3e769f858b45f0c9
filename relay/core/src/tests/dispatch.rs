//! Commands and events find their handlers and receivers.

mod routing;
