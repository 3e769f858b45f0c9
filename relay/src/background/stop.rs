//! Stops a relay that this user started, by a request to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Method;
use shared_protocol::DEFAULT_PORT;
use tokio::time::{sleep, timeout};

use super::ensure::{RELAY_POLL_INTERVAL, whose};
use super::{RelayServerError, folder_of};
use crate::client::{Client, ClientError, Endpoint};
use crate::relay_file::RelayRecord;

/// The time that a relay may take to close its sockets and write its logs.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);

/// The options that name the relay to stop.
#[derive(Debug, Clone)]
pub struct StopOptions {
    /// The port on this machine at which the relay listens.
    pub port: u16,
    /// The home folder in whose `.playwriter` it keeps its files; this user's when `None`.
    pub home: Option<PathBuf>,
}

impl Default for StopOptions {
    fn default() -> Self {
        Self { port: DEFAULT_PORT, home: None }
    }
}

/// Asks the relay to stop and waits until it has. Gives its version; `None` when none was there.
///
/// # Errors
///
/// Says whose the port is when it is not a relay of this user.
pub async fn stop_relay(options: &StopOptions) -> Result<Option<String>, RelayServerError> {
    let (port, folder) = (options.port, folder_of(options.home.as_deref(), options.port)?);
    match whose(port, &folder).await? {
        Some(version) => {
            ask_to_stop(port, &folder).await?;
            Ok(Some(version.version))
        }
        None => {
            // A relay that was killed could not remove its file.
            if let Some(record) = RelayRecord::read(&folder, port) {
                record.remove(&folder);
            }
            Ok(None)
        }
    }
}

/// Shows the key that only this user can read, and waits for the port. Others may be doing the same.
pub(crate) async fn ask_to_stop(port: u16, folder: &Path) -> Result<(), RelayServerError> {
    let endpoint = Endpoint::local(port);
    let not_yours = |version: String| RelayServerError::NotYours { port, version };
    let Some(record) = RelayRecord::read(folder, port) else {
        // A relay that has just stopped removed its file.
        return match whose(port, folder).await? {
            Some(version) => Err(not_yours(version.version)),
            None => Ok(()),
        };
    };
    // Nobody but that relay takes the key, so the relay need not prove anything before it is shown.
    let owner = Client::new(endpoint.clone(), Some(record.key())).trusting_anybody();
    match owner.send(Method::POST, "/shutdown", None).await {
        Ok(answer) if !answer.status.is_success() => return Err(not_yours(record.version)),
        // A relay that is already stopping closes the connection.
        Ok(_) | Err(ClientError::NobodyThere(_) | ClientError::Unreachable { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let stopped = async {
        let anybody = Client::new(endpoint, None).trusting_anybody();
        // Its last act is to remove its file; another relay may have the port by then.
        while record.is_kept(folder)
            && !matches!(anybody.version().await, Err(ClientError::NobodyThere(_)))
        {
            sleep(RELAY_POLL_INTERVAL).await;
        }
    };
    timeout(STOP_TIMEOUT, stopped).await.map_err(|_| RelayServerError::DoesNotStop { port })?;
    // The relay ends on request, so nobody is to start another like it.
    record.remove(folder);
    Ok(())
}
