//! Why a relay does not start.

use std::io;
use std::net::SocketAddr;

use crate::trust::secret::SecretError;

/// The reason why a relay did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Other machines could reach it, and nothing would keep them out.
    #[error(
        "the relay cannot listen on {0} without a token: other machines can reach it there\n\nhint: set PLAYWRITER_TOKEN to a secret, for example one from `openssl rand -hex 16`"
    )]
    TokenNeeded(String),
    /// The name may be one for a proxy, through which other machines come.
    #[error(
        "the relay cannot be called {0} without a token: a proxy of that name lets other machines in\n\nhint: set PLAYWRITER_TOKEN to a secret, for example one from `openssl rand -hex 16`"
    )]
    TokenNeededFor(String),
    /// The token is one that no program could send.
    #[error(
        "the token is empty, or has other characters than letters, digits and signs\n\nhint: use a secret like one from `openssl rand -hex 16`"
    )]
    UnusableToken,
    /// Other machines could find it out.
    #[error(
        "the token is too short for a relay that other machines can reach: 16 characters are needed\n\nhint: use a secret like one from `openssl rand -hex 16`"
    )]
    ShortToken,
    /// The name has no address.
    #[error(
        "the address of {0} cannot be found\n\nhint: use an address of this machine, or leave --host out"
    )]
    UnknownHost(String),
    /// Another program listens there.
    #[error("port {0} is already in use")]
    PortTaken(u16),
    /// Paired programs need a secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The system refused for another reason.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
}
