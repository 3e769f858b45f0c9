//! The network: looking for the relay, proving ourselves to each other, and the socket.
//!
//! Files here decide nothing: they do what an effect says and tell what came of it. They call no `chrome.*`.

pub(crate) mod handshake;
pub(crate) mod probe;
pub(crate) mod socket;
