//! Arguments that several subcommands take: which relay is meant, where a relay listens, and what it lets
//! clients do.
//!
//! They are read and translated into the options of the library here. Nothing here is a command.

pub(crate) mod address;
pub(crate) mod listen;
pub(crate) mod settings;
