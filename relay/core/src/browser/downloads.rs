//! Downloads go to the user's own folder; extensions cannot change that. Clients are told of them as
//! a browser would tell, and get a copy where they want their files.

mod naming;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shared_protocol::{
    DownloadId, DownloadQuery, Extra, Feature, FoundDownload, LogLevel, Payload as _,
};

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::{Command, Error};
use crate::confinement::is_web;
use crate::effect::{Effect, ReportedFile, WantedCopy};
use crate::ids::{ConnectionId, SessionRef, TargetRef};
use crate::requests::pending::{QUICK, Request};
use crate::requests::purpose::{DownloadSearch, Purpose, SearchReason};
use crate::sessions::model::{DownloadBehavior, Session};
use crate::turn::Turn;
use naming::UnnamedDownloads;

/// How many downloads of one browser are known at once; the oldest are forgotten first.
const MAX_KNOWN: usize = 256;

/// How much earlier than it was told a download may have begun: what the user downloaded from the
/// same address before that is none of a client's business. The extension may take a while to look.
const REPORT_DELAY: Duration = Duration::from_secs(15);

const BEGAN: &str = "Browser.downloadWillBegin";
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
    /// Whether somebody wants its file, so that it must not be taken for another.
    is_wanted: bool,
    /// What Chrome calls others that were found in its place.
    other_ids: Vec<i64>,
    /// What to tell when the file has been copied.
    completed: Option<Map<String, Value>>,
    /// Whether it is to leave nothing behind.
    is_denied: bool,
    /// Whether it came from the web into a page of the web, so that confined clients may know of it.
    is_web: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WillBegin {
    guid: String,
    url: String,
    #[serde(default)]
    suggested_filename: String,
}

#[derive(Deserialize)]
struct Progress {
    guid: String,
    state: String,
}

#[derive(Deserialize, Serialize)]
struct OneDownload {
    guid: String,
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

    /// `Page.downloadWillBegin`
    pub(crate) fn download_began(
        &mut self,
        target_ref: TargetRef<'_>,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(WillBegin { guid, url, suggested_filename }) = event.read() else { return };
        if !is_guid(&guid) {
            // It may become the name of a file.
            let text = "an extension tells of a download whose id is none; it is left alone";
            return turn.log(LogLevel::Warn, text.to_owned());
        }
        let is_web = self.shows_web(target_ref) && is_web(&url);
        for session_ref in self.download_seats(target_ref.connection, is_web, wants_events) {
            turn.raw_event(&session_ref, BEGAN.to_owned(), Some(event.clone()));
        }
        let is_denied = self.is_download_denied(target_ref.connection);
        let is_wanted = !self.download_seats(target_ref.connection, is_web, wants_file).is_empty();
        let Some(extension) = self.extensions.get_mut(target_ref.connection) else { return };
        if extension.downloads.0.len() >= MAX_KNOWN {
            extension.downloads.0.pop_front();
        }
        extension.downloads.0.push_back(Download {
            guid: guid.clone(),
            url,
            suggested_filename,
            began: turn.now,
            chrome_id: None,
            is_wanted,
            other_ids: Vec::new(),
            completed: None,
            is_denied,
            is_web,
        });
        if is_wanted {
            return self.name_download(target_ref.connection, guid, turn);
        }
        if is_denied {
            let search = DownloadSearch { guid, reason: SearchReason::Remove };
            self.search_download(target_ref.connection, None, search, turn);
        }
    }

    /// `Page.downloadProgress`. The end is told when the file is where clients expect it.
    pub(crate) fn download_progressed(
        &mut self,
        connection: ConnectionId,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(Progress { guid, state }) = event.read() else { return };
        let extension = self.extensions.get_mut(connection);
        let is_web = extension.and_then(|it| it.downloads.find(&guid)).is_some_and(|it| it.is_web);
        let is_wanted = !self.download_seats(connection, is_web, wants_file).is_empty();
        if state == "completed" && self.is_denied(connection, &guid) {
            return self.denied_download_completed(connection, guid, event, turn);
        }
        if state == "completed" && is_wanted {
            let search = DownloadSearch { guid: guid.clone(), reason: SearchReason::Copy };
            if self.search_download(connection, None, search, turn) {
                let extension = self.extensions.get_mut(connection);
                if let Some(download) = extension.and_then(|it| it.downloads.find(&guid)) {
                    download.completed = event.read().ok();
                }
                return;
            }
        }
        for session_ref in self.download_seats(connection, is_web, wants_events) {
            let session = self.clients.session(&session_ref);
            if state == "completed" && session.is_some_and(wants_file) {
                // There is no file where it would look for one.
                self.tell_canceled(&session_ref, event, turn);
            } else {
                turn.raw_event(&session_ref, PROGRESSED.to_owned(), Some(event.clone()));
            }
        }
    }

    fn tell_canceled(&self, session_ref: &SessionRef, event: &Payload, turn: &mut Turn) {
        let Ok(mut canceled) = event.read::<Map<String, Value>>() else { return };
        canceled.insert("state".to_owned(), "canceled".into());
        turn.event(session_ref, PROGRESSED, &canceled);
    }

    /// It was too small to be stopped, or the browser did not know it yet. What has been removed by
    /// then is not looked for again: an earlier file from the same address would be found instead.
    fn denied_download_completed(
        &mut self,
        connection: ConnectionId,
        guid: String,
        event: &Payload,
        turn: &mut Turn,
    ) {
        for session_ref in self.clients.sessions(connection, wants_events) {
            self.tell_canceled(&session_ref, event, turn);
        }
        let extension = self.extensions.get_mut(connection);
        let download = extension.and_then(|extension| extension.downloads.find(&guid));
        if download.is_some_and(|download| download.chrome_id.is_none()) {
            let search = DownloadSearch { guid, reason: SearchReason::Remove };
            self.search_download(connection, None, search, turn);
        }
    }

    /// Whether a client wants no downloads, and no other one wants them.
    fn is_download_denied(&self, connection: ConnectionId) -> bool {
        let denies = |session: &Session| session.downloads.as_ref().is_some_and(|it| it.deny);
        !self.clients.sessions(connection, denies).is_empty()
            && self.clients.sessions(connection, wants_file).is_empty()
    }

    fn is_denied(&mut self, connection: ConnectionId, guid: &str) -> bool {
        let extension = self.extensions.get_mut(connection);
        extension.and_then(|it| it.downloads.find(guid)).is_some_and(|it| it.is_denied)
    }

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
    fn search_download(
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
    fn reason_to_refuse_path(&self, connection: ConnectionId) -> Option<String> {
        let extension = self.extensions.get(connection);
        extension.is_none().then(|| "the extension has gone".to_owned())
    }

    /// The sessions for which `wanted` holds, of clients that may know of a download.
    fn download_seats(
        &self,
        connection: ConnectionId,
        is_web: bool,
        wanted: impl Fn(&Session) -> bool,
    ) -> Vec<SessionRef> {
        let mut sessions = self.clients.sessions(connection, wanted);
        sessions.retain(|session_ref| is_web || !self.is_confined(session_ref.client));
        sessions
    }

    fn copies_wanted(
        &self,
        connection: ConnectionId,
        guid: &str,
        name: &str,
        is_web: bool,
    ) -> Vec<WantedCopy> {
        let copy = |session_ref: &SessionRef| {
            let wanted = self.clients.session(session_ref)?.downloads.as_ref()?;
            let confinement = self.clients.get(session_ref.client)?.confinement.as_ref();
            let inside = confinement.map(|confinement| confinement.folders.clone());
            Some(WantedCopy { inside, ..wanted.copy(guid, name)? })
        };
        let sessions = self.download_seats(connection, is_web, wants_file);
        let mut copies: Vec<WantedCopy> = sessions.iter().filter_map(copy).collect();
        copies.sort();
        copies.dedup();
        copies
    }

    /// The file is where clients expect it, or could not be brought there.
    pub(crate) fn download_copied(
        &mut self,
        connection: ConnectionId,
        guid: &str,
        outcome: Result<BTreeMap<PathBuf, PathBuf>, String>,
        turn: &mut Turn,
    ) {
        // Copying may have taken longer than the extension's worker lived.
        let known = self.extensions.iter_mut().find_map(|(at, extension)| {
            let is_known = at == connection || extension.downloads.find(guid).is_some();
            is_known.then_some((at, extension))
        });
        let Some((connection, extension)) = known else { return };
        let Some(download) = extension.downloads.find(guid) else { return };
        let (name, is_web) = (download.suggested_filename.clone(), download.is_web);
        let Some(mut completed) = download.completed.take() else { return };
        let copied = outcome.unwrap_or_else(|why| {
            turn.log(LogLevel::Warn, format!("a download cannot be given to its client: {why}"));
            completed.insert("state".to_owned(), "canceled".into());
            BTreeMap::new()
        });
        for session_ref in self.download_seats(connection, is_web, wants_events) {
            let wanted = self.clients.session(&session_ref).and_then(|it| it.downloads.as_ref());
            let mut event = completed.clone();
            if let Some(file) = wanted.and_then(|wanted| wanted.copy(guid, &name)) {
                let file = copied.get(&file.to).unwrap_or(&file.to);
                event.insert("filePath".to_owned(), file.to_string_lossy().into());
            }
            turn.event(&session_ref, PROGRESSED, &event);
        }
    }
}

impl Downloads {
    fn find(&mut self, guid: &str) -> Option<&mut Download> {
        self.0.iter_mut().find(|download| download.guid == guid)
    }
}

impl DownloadBehavior {
    /// Where a download is to be copied. Names from the page lead nowhere else.
    fn copy(&self, guid: &str, suggested: &str) -> Option<WantedCopy> {
        let wanted = if self.named_by_guid { guid } else { suggested };
        let to = self.folder.as_ref()?.join(Path::new(wanted).file_name()?);
        Some(WantedCopy { to, is_exact: self.named_by_guid, inside: None })
    }
}

/// Returns whether text is an id as Chrome makes them: 32 hexadecimal digits with four dashes between.
fn is_guid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    let is_known = |c: char| c.is_ascii_hexdigit() || c == '-';
    text.chars().all(is_known) && lengths.eq([8, 4, 4, 4, 12])
}

/// How many bytes have come, as the end of a download tells.
fn bytes_that_came(completed: &Map<String, Value>) -> Option<u64> {
    let number = |name: &str| completed.get(name).and_then(Value::as_f64);
    let bytes = number("receivedBytes").or_else(|| number("totalBytes"))?;
    // Both are whole numbers that fit, or lies.
    (bytes >= 0.0 && bytes.fract() == 0.0).then_some(bytes as u64)
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
    fn a_name_from_the_page_stays_in_the_folder() {
        let wanted = |named_by_guid| DownloadBehavior {
            folder: Some(PathBuf::from("/downloads")),
            named_by_guid,
            deny: false,
            events: true,
        };
        let file = |named_by_guid| wanted(named_by_guid).copy("G", "../../etc/passwd");
        let copy =
            |to: &str, is_exact| Some(WantedCopy { to: PathBuf::from(to), is_exact, inside: None });
        assert_eq!(file(false), copy("/downloads/passwd", false));
        assert_eq!(file(true), copy("/downloads/G", true));
        assert_eq!(wanted(false).copy("G", ".."), None);
    }

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
