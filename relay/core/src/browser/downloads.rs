//! Downloads go to the user's own folder; extensions cannot change that. Clients are told of them as
//! a browser would tell, and get a copy where they want their files.

mod copies;
mod events;
mod naming;
mod search;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Relay;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::{ConnectionId, SessionRef};
use crate::sessions::model::{DownloadBehavior, Session};
use naming::UnnamedDownloads;

/// The largest number of downloads that are known of one browser at once; the oldest are forgotten
/// first.
const MAX_KNOWN: usize = 256;

/// The longest time between the begin of a download and the event that reports it. The user may have
/// downloaded from the same address before that, which is no client's business. The extension may
/// take a while to find the download.
const REPORT_DELAY: Duration = Duration::from_secs(15);

const PROGRESSED: &str = "Browser.downloadProgress";

/// The downloads of one browser that began in controlled tabs.
#[derive(Debug, Default)]
pub(crate) struct Downloads(VecDeque<Download>, Vec<UnnamedDownloads>);

#[derive(Debug)]
struct Download {
    guid: String,
    url: String,
    suggested_filename: String,
    began: Instant,
    /// Chrome's id for the download, which is not the one in CDP.
    chrome_id: Option<i64>,
    /// True if a client wants the download's file, which must then not be taken for another
    /// download's.
    is_wanted: bool,
    /// Chrome's ids of other downloads that were found in place of this one.
    other_ids: Vec<i64>,
    /// The event to send when the file has been copied.
    completed: Option<Map<String, Value>>,
    /// True if the download is denied and must leave no file behind.
    is_denied: bool,
    /// True if the download came from the web into a page of the web, so that confined clients may
    /// know of it.
    is_web: bool,
}

impl Relay {
    pub(crate) fn set_download_behavior(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
    ) -> Result<Payload, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct SetDownloadBehavior {
            behavior: String,
            download_path: Option<PathBuf>,
            #[serde(default)]
            events_enabled: bool,
        }

        let wanted: SetDownloadBehavior = command.read_params()?;
        let folder = match wanted.behavior.as_str() {
            "deny" | "default" => None,
            "allow" | "allowAndName" => {
                let missing = || Error::new(-32602, "downloadPath not provided");
                Some(wanted.download_path.ok_or_else(missing)?)
            }
            other => return Err(Error::invalid_params(format!("behavior: {other}"))),
        };
        let session = self.clients.session_mut(session_ref).ok_or_else(Error::unknown_session)?;
        session.downloads = Some(DownloadBehavior {
            folder,
            named_by_guid: wanted.behavior == "allowAndName",
            deny: wanted.behavior == "deny",
            events: wanted.events_enabled,
        });
        Ok(Payload::empty_object())
    }

    /// Returns the sessions for which `wanted` holds, of clients that may know of a download.
    fn download_sessions(
        &self,
        connection: ConnectionId,
        is_web: bool,
        wanted: impl Fn(&Session) -> bool,
    ) -> Vec<SessionRef> {
        let mut sessions = self.clients.sessions(connection, wanted);
        sessions.retain(|session_ref| is_web || !self.is_confined(session_ref.client));
        sessions
    }
}

impl Downloads {
    fn find(&mut self, guid: &str) -> Option<&mut Download> {
        self.0.iter_mut().find(|download| download.guid == guid)
    }
}

/// Returns whether text is an id as Chrome makes them: 32 hexadecimal digits with four dashes between.
fn is_guid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    let is_known = |c: char| c.is_ascii_hexdigit() || c == '-';
    text.chars().all(is_known) && lengths.eq([8, 4, 4, 4, 12])
}

fn wants_file(session: &Session) -> bool {
    session.downloads.as_ref().is_some_and(|wanted| wanted.folder.is_some())
}

fn wants_events(session: &Session) -> bool {
    session.downloads.as_ref().is_some_and(|wanted| wanted.events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_id_as_chrome_makes_them_is_one() {
        assert!(is_guid("0b8d5e4c-3f0a-4c8e-9a54-0123456789AB"));
        for text in [
            "",
            ".bashrc",
            "G",
            "0b8d5e4c-3f0a-4c8e-9a54-0123456789A/",
            "------------------------------------",
            "0b8d5e4c3f0a4c8e9a540123456789AB0000",
            "../d5e4c-3f0a-4c8e-9a54-0123456789AB",
        ] {
            assert!(!is_guid(text), "{text}");
        }
    }
}
