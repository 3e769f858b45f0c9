//! The background relay, which outlives the program that started it, and the clients that find it.
//!
//! A relay inside a script races with the extension: the script connects before the extension has
//! come, and takes the relay away when it ends. So the relay runs as a process of its own, which
//! any number of callers may start at once and only one does.

mod connect;
mod ensure;
mod error;
mod handover;
mod lock;
mod poll;
mod spawn;
mod stop;
mod wait;

use std::path::{Path, PathBuf};

use shared_protocol::http::Version;

pub use connect::{ConnectOptions, Connection, cdp_url, connect_to_playwriter};
pub use ensure::{
    PersistentRelay, PersistentRelayOptions, choose_window_mode, ensure_persistent_relay,
};
pub use error::{RelayServerError, UNPROVEN, how_to_start};
pub use stop::{StopOptions, stop_relay};
pub use wait::{ConnectedExtension, WaitOptions, wait_for_extension};

use crate::client::{Client, ClientError, is_ours};
use crate::system::folders::folder_in;

/// Returns the version of the relay that has the port, if it is one of this project.
///
/// # Errors
///
/// The error says who has the port, or why the relay does not answer.
pub async fn version_of_ours(client: &Client) -> Result<Version, RelayServerError> {
    let version = client.version().await?;
    let port = client.endpoint().port();
    if !is_ours(&version) {
        return Err(RelayServerError::AnotherRelay { port, version: version.version });
    }
    match version.proof.is_some() || !client.wants_proof() {
        true => Ok(version),
        false => Err(ClientError::Unproven(client.endpoint().clone()).into()),
    }
}

/// Returns the reason why a relay did not answer as ours do: a relay of another project does not know
/// the request.
pub(crate) async fn explained(client: &Client, error: ClientError) -> RelayServerError {
    let may_be_another = matches!(
        error,
        ClientError::Refused { .. } | ClientError::NotARelay(_) | ClientError::Unproven(_)
    );
    if !may_be_another {
        return error.into();
    }
    match version_of_ours(client).await {
        Err(another @ RelayServerError::AnotherRelay { .. }) => another,
        Ok(_) | Err(_) => error.into(),
    }
}

/// Returns `.playwriter` in a home folder, by default in this user's.
pub(crate) fn folder_of(home: Option<&Path>, port: u16) -> Result<PathBuf, RelayServerError> {
    folder_in(home).ok_or(RelayServerError::NoHome { port })
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("relay-server.log")
}
