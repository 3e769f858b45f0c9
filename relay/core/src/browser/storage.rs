//! The storage of sites. A client reaches that of the sites that are open in controlled tabs; of the
//! rest, even the amount would tell where the user has been.

use serde::Deserialize;

use crate::Relay;
use crate::browser::cookies::key::origin;
use crate::cdp::method::StorageCommand;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;

/// The sites that a command names. A command with several is about all of them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Sites {
    origin: Option<String>,
    owner_origin: Option<String>,
    issuer_origin: Option<String>,
    owner: Option<String>,
    storage_key: Option<String>,
    bucket: Option<Bucket>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bucket {
    storage_key: String,
}

impl Relay {
    /// Returns the error for a command of the `Storage` domain that a client may not send.
    pub(crate) fn storage_refusal(
        &self,
        session_ref: &SessionRef,
        action: StorageCommand,
        command: &Command,
    ) -> Option<Error> {
        if self.policy.whole_profile || action == StorageCommand::Harmless {
            return None;
        }
        let sites = match command.read_params::<Sites>() {
            Ok(sites) => sites.all(),
            Err(error) => return Some(error),
        };
        let is_allowed =
            !sites.is_empty() && sites.iter().all(|site| self.is_site_open(session_ref, site));
        (!is_allowed).then(|| needs_profile(&command.method))
    }

    /// Returns whether a site is open in a controlled tab, as far as the client knows.
    pub(crate) fn is_site_open(&self, session_ref: &SessionRef, site: &str) -> bool {
        let site = site.trim_end_matches('/');
        self.extension_of(session_ref).is_some_and(|extension| {
            let mut targets =
                extension.targets.iter().filter(|it| self.is_visible_to(session_ref, it));
            targets.any(|target| origin(&target.info.url) == Some(site))
        })
    }
}

impl Sites {
    fn all(self) -> Vec<String> {
        let Self { origin, owner_origin, issuer_origin, owner, storage_key, bucket } = self;
        let bucket = bucket.map(|bucket| bucket.storage_key);
        let all = [origin, owner_origin, issuer_origin, owner, storage_key, bucket];
        all.into_iter().flatten().collect()
    }
}

/// Returns the error for a command that is not about the open tabs alone.
pub(crate) fn needs_profile(method: &str) -> Error {
    Error::server(format!(
        "{method} would reach into the user's whole profile: start the relay with \
         `playwriter serve --cookies=profile` to allow it"
    ))
}
