//! Arguments that several subcommands take: the address of the relay, the addresses at which a relay
//! listens, and the rights of clients.
//!
//! They are read and translated into the options of the library here. Nothing here is a command.

pub(crate) mod address;
pub(crate) mod listen;
pub(crate) mod settings;
