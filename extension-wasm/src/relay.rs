//! The network: the relay's HTTP routes, the handshake and the socket.
//!
//! Files here carry out what an effect asks for and report the outcome. They decide nothing and
//! call no `chrome.*`.

pub(crate) mod handshake;
pub(crate) mod probe;
pub(crate) mod socket;
