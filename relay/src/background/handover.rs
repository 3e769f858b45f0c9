//! A relay in the place of an older one, or of one that was killed, is like it, but for what its
//! caller says.

use std::ffi::OsString;
use std::path::Path;

use shared_protocol::http::RelayStatus;
use warp::http::StatusCode;

use super::{PersistentRelayOptions, RelayServerError};
use crate::client::{Client, ClientError, Endpoint};
use crate::relay_file::RelayRecord;

/// Returns the options for the successor of the relay that has the port. The token is the caller's: a
/// relay that wants a token is not replaced by one that anybody may use.
pub(crate) async fn successor_options(
    options: &PersistentRelayOptions,
    version: String,
    folder: &Path,
) -> Result<PersistentRelayOptions, RelayServerError> {
    let port = options.port;
    let record = RelayRecord::read(folder, port);
    if options.token.is_none() && record.as_ref().is_some_and(|record| record.wants_token) {
        return Err(RelayServerError::WantsToken { port, version });
    }
    let client = Client::new(Endpoint::local(port), options.token.clone()).in_folder(folder);
    let separate_window = match client.get::<RelayStatus>("/relay/status").await {
        Ok(status) => Some(status.separate_window),
        Err(ClientError::Refused { status, .. }) if status == StatusCode::UNAUTHORIZED => {
            return Err(RelayServerError::WantsToken { port, version });
        }
        // The relay does not tell, or cannot prove that it is ours and is not asked. Its file may
        // tell.
        Err(_) => record.as_ref().map(|record| record.separate_window),
    };
    let kept = record.map(|record| record.arguments).unwrap_or_default();
    Ok(like(separate_window, kept, options))
}

/// Returns the options for starting a relay where none runs. They are those of a killed relay, if
/// there was one. A relay that was told to stop removed its file, or is about to.
pub(crate) fn restart_options(
    options: &PersistentRelayOptions,
    folder: &Path,
) -> Result<PersistentRelayOptions, RelayServerError> {
    match RelayRecord::read(folder, options.port) {
        Some(killed) if !killed.is_stopping => {
            if killed.wants_token && options.token.is_none() {
                return Err(RelayServerError::WantedToken { port: options.port });
            }
            Ok(like(Some(killed.separate_window), killed.arguments, options))
        }
        Some(_) | None => Ok(options.clone()),
    }
}

fn like(
    separate_window: Option<bool>,
    kept: Vec<String>,
    options: &PersistentRelayOptions,
) -> PersistentRelayOptions {
    PersistentRelayOptions {
        separate_window: options.separate_window.or(separate_window),
        arguments: combined(kept, &options.arguments),
        ..options.clone()
    }
}

/// Returns the caller's arguments, preceded by the kept ones that the caller did not give. A kept
/// argument has its value in the same word.
fn combined(kept: Vec<String>, said: &[OsString]) -> Vec<OsString> {
    let said_names: Vec<String> =
        said.iter().map(|word| name(&word.to_string_lossy()).to_owned()).collect();
    let remaining = kept.into_iter().filter(|word| !said_names.iter().any(|it| it == name(word)));
    remaining.map(OsString::from).chain(said.iter().cloned()).collect()
}

fn name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_the_caller_precede_kept_ones() {
        let kept = ["--host=0.0.0.0", "--allow-host=a", "--allow-host=b", "--allow-focus"];
        for (said, expected) in [
            (vec![], kept.to_vec()),
            (vec!["--host", "::1"], vec![kept[1], kept[2], kept[3], "--host", "::1"]),
            (vec!["--allow-host=c"], vec![kept[0], kept[3], "--allow-host=c"]),
        ] {
            let said: Vec<OsString> = said.into_iter().map(OsString::from).collect();
            assert_eq!(combined(kept.map(str::to_owned).to_vec(), &said), expected);
        }
    }
}
