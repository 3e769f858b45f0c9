//! The extension is asked for a download: to copy its file, to cancel it or to remove it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shared_protocol::{DownloadId, DownloadQuery, Extra, Feature, FoundDownload, Payload as _};

use super::REPORT_DELAY;
use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::{Command, Error};
use crate::effect::{Effect, ReportedFile};
use crate::ids::{ConnectionId, SessionRef};
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::{DownloadSearch, Purpose, SearchReason};
use crate::turn::Turn;

#[derive(Deserialize, Serialize)]
struct OneDownload {
    guid: String,
}

impl Relay {
    /// `Browser.cancelDownload`, which in Chrome never fails.
    pub(crate) fn cancel_download(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) {
        let asker = Asker::new(session_ref, command);
        let Some(connection) = self.connection_of(session_ref) else { return };
        match command.read_params::<OneDownload>() {
            Ok(OneDownload { guid }) => {
                let search = DownloadSearch { guid, reason: SearchReason::Cancel };
                if !self.search_download(connection, Some(asker.clone()), search, turn) {
                    turn.ok(&asker);
                }
            }
            Err(error) => turn.fail(&asker, error),
        }
    }

    /// Asks for a download; tells whether it is known and the extension can be asked.
    pub(super) fn search_download(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        search: DownloadSearch,
        turn: &mut Turn,
    ) -> bool {
        let Some(proof) = self.proof(connection, turn) else { return false };
        let Some(extension) = self.extensions.get(connection) else { return false };
        if search.reason == SearchReason::Copy && self.requires_pairing && !extension.proven {
            // Anybody could tell where the file is, and have any file of the user's copied.
            self.report_missing(connection, Feature::Downloads, turn);
            return false;
        }
        let Some(extension) = self.extensions.get_mut(connection) else { return false };
        if extension.downloads.waits_for_name(&search) {
            return true;
        }
        let exclude = extension.downloads.others(&search.guid);
        let Some(download) = extension.downloads.find(&search.guid) else { return false };
        let at_once = search.reason != SearchReason::Copy;
        let (url, extra) = (download.url.clone(), Extra::default());
        let age = turn.now.saturating_duration_since(download.began) + REPORT_DELAY;
        let max_age = u64::try_from(age.as_millis()).ok();
        let query = DownloadQuery { url, exclude, at_once, max_age, extra };
        let request = Request::to_extension(connection, Purpose::Download(search))
            .asked_by(asker)
            .until(turn.now + QUICK);
        self.ask_extension(request, |id| RelayMessage::FindDownload { id, query, proof }, turn);
        true
    }

    /// The extension has looked for a download.
    ///
    /// It is long because it has one arm for each thing that may be found.
    pub(crate) fn download_found(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        search: DownloadSearch,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        turn.effects.extend(asker.map(|asker| asker.reply(Ok(Payload::empty_object()))));
        let found = outcome.and_then(|payload| {
            let found = payload.read::<FoundDownload<Payload>>();
            found.map_err(|error| Error::server(error.to_string()))
        });
        if search.reason == SearchReason::Name {
            let id = found.ok().and_then(|found| found.id);
            return self.download_named(connection, search, id, turn);
        }
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let Some(download) = extension.downloads.find(&search.guid) else { return };
        if search.reason != SearchReason::Copy {
            let found = found.ok().and_then(|found| found.id);
            download.chrome_id = download.chrome_id.or(found);
            if let Some(id) = download.chrome_id
                && let Some(proof) = self.proof(connection, turn)
            {
                let remove = search.reason == SearchReason::Remove;
                let download = DownloadId { id, remove, extra: Extra::default() };
                let message =
                    RelayMessage::CancelDownload { id: self.requests.next_id(), download, proof };
                turn.send_to_extension(connection, message);
            }
            return;
        }
        match found {
            Ok(FoundDownload { id, .. }) if download.is_other(id) => {
                self.search_download(connection, None, search, turn);
            }
            Ok(FoundDownload { id, path: Some(path), .. }) => {
                download.chrome_id = id;
                let name = download.suggested_filename.clone();
                let age = turn.now.saturating_duration_since(download.began) + REPORT_DELAY;
                let size = download.completed.as_ref().and_then(bytes_that_came);
                let from = ReportedFile { path: PathBuf::from(path), age, size };
                let is_web = download.is_web;
                let to = self.copies_wanted(connection, &search.guid, &name, is_web);
                let guid = search.guid;
                match self.reason_to_refuse_path(connection) {
                    Some(why) => self.download_copied(connection, &guid, Err(why), turn),
                    None => {
                        turn.effects.push(Effect::CopyDownload { connection, guid, from, to });
                    }
                }
            }
            Ok(_) => {
                let why = Err("the browser does not know it any more".to_owned());
                self.download_copied(connection, &search.guid, why, turn);
            }
            Err(error) => {
                self.download_copied(connection, &search.guid, Err(error.message), turn);
            }
        }
    }

    /// Returns why what an extension says of files is not to be believed, if it is not.
    pub(super) fn reason_to_refuse_path(&self, connection: ConnectionId) -> Option<String> {
        let extension = self.extensions.get(connection);
        extension.is_none().then(|| "the extension has gone".to_owned())
    }
}

/// Returns how many bytes have come, as the end of a download tells.
fn bytes_that_came(completed: &Map<String, Value>) -> Option<u64> {
    let number = |name: &str| completed.get(name).and_then(Value::as_f64);
    let bytes = number("receivedBytes").or_else(|| number("totalBytes"))?;
    // Both are whole numbers that fit, or lies.
    (bytes >= 0.0 && bytes.fract() == 0.0).then_some(bytes as u64)
}
