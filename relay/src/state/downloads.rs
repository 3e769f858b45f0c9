//! Downloads go to the user's own folder; extensions cannot change that. Clients are told of them as
//! a browser would tell, and get a copy where they want their files.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shared_protocol::{
    DOWNLOADS, DownloadId, DownloadQuery, Extra, FoundDownload, LogLevel, Payload as _,
};

use super::on_target::params;
use super::requests::{Asker, Purpose, QUICK, Request};
use super::sessions::{DownloadBehavior, Seat, Session};
use super::turn::Turn;
use super::{ConnectionId, Effect, Relay};
use crate::cdp::{Command, Error};
use crate::payload::{Payload, RelayMessage};

/// How many downloads of one browser are known at once; the oldest are forgotten first.
const MAX_KNOWN: usize = 256;

const BEGAN: &str = "Browser.downloadWillBegin";
const PROGRESSED: &str = "Browser.downloadProgress";

/// The downloads of one browser that began in controlled tabs.
#[derive(Debug, Default)]
pub(crate) struct Downloads(VecDeque<Download>);

#[derive(Debug)]
struct Download {
    guid: String,
    url: String,
    suggested_filename: String,
    /// Chrome's id for the download, which is not the one in CDP.
    chrome_id: Option<i64>,
    /// What to tell when the file has been copied.
    completed: Option<Map<String, Value>>,
}

/// Why the extension was asked for a download.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    guid: String,
    cancels: bool,
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
    pub(super) fn set_download_behavior(
        &mut self,
        seat: &Seat,
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

        let wanted: SetDownloadBehavior = params(command)?;
        let folder = match wanted.behavior.as_str() {
            "deny" | "default" => None,
            "allow" | "allowAndName" => {
                let missing = || Error::new(-32602, "downloadPath not provided");
                Some(wanted.download_path.ok_or_else(missing)?)
            }
            other => return Err(Error::invalid_params(format!("behavior: {other}"))),
        };
        let session = self.clients.session_mut(seat).ok_or_else(Error::unknown_session)?;
        session.downloads = Some(DownloadBehavior {
            folder,
            by_guid: wanted.behavior == "allowAndName",
            deny: wanted.behavior == "deny",
            events: wanted.events_enabled,
        });
        Ok(Payload::empty_object())
    }

    /// `Page.downloadWillBegin`
    pub(super) fn download_began(
        &mut self,
        connection: ConnectionId,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(WillBegin { guid, url, suggested_filename }) = event.read() else { return };
        for seat in self.clients.seats(connection, wants_events) {
            turn.raw_event(&seat, BEGAN.to_owned(), Some(event.clone()));
        }
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if extension.downloads.0.len() >= MAX_KNOWN {
            extension.downloads.0.pop_front();
        }
        extension.downloads.0.push_back(Download {
            guid: guid.clone(),
            url,
            suggested_filename,
            chrome_id: None,
            completed: None,
        });
        let is_denied = |session: &Session| session.downloads.as_ref().is_some_and(|it| it.deny);
        if !self.clients.seats(connection, is_denied).is_empty() {
            self.search_download(connection, None, Search { guid, cancels: true }, turn);
        }
    }

    /// `Page.downloadProgress`. The end is told when the file is where clients expect it.
    pub(super) fn download_progressed(
        &mut self,
        connection: ConnectionId,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(Progress { guid, state }) = event.read() else { return };
        let wants_file = |session: &Session| {
            session.downloads.as_ref().is_some_and(|wanted| wanted.folder.is_some())
        };
        let is_wanted = !self.clients.seats(connection, wants_file).is_empty();
        let can_find = self
            .extensions
            .get(connection)
            .is_some_and(|extension| extension.hello.has_capability(DOWNLOADS));
        if state == "completed" && is_wanted && can_find {
            let extension = self.extensions.get_mut(connection);
            if let Some(download) = extension.and_then(|it| it.downloads.find(&guid)) {
                download.completed = event.read().ok();
                let search = Search { guid, cancels: false };
                return self.search_download(connection, None, search, turn);
            }
        }
        if state == "completed" && is_wanted {
            let text = "a client cannot have the file it downloaded: the extension is too old, \
                        update it";
            turn.log(LogLevel::Warn, text.to_owned());
        }
        for seat in self.clients.seats(connection, wants_events) {
            turn.raw_event(&seat, PROGRESSED.to_owned(), Some(event.clone()));
        }
    }

    /// `Browser.cancelDownload`, which in Chrome never fails.
    pub(super) fn cancel_download(&mut self, seat: &Seat, command: &Command, turn: &mut Turn) {
        let asker = Asker::new(seat, command);
        let Some(connection) = self.connection_of(seat) else { return };
        match (params::<OneDownload>(command), self.require(seat, DOWNLOADS, "downloads")) {
            (Ok(OneDownload { guid }), Ok(())) => {
                let search = Search { guid, cancels: true };
                self.search_download(connection, Some(asker), search, turn);
            }
            (Ok(_), Err(_)) => turn.effects.push(asker.reply(Ok(Payload::empty_object()))),
            (Err(error), _) => turn.effects.push(asker.reply(Err(error))),
        }
    }

    fn search_download(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        search: Search,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        if !extension.hello.has_capability(DOWNLOADS) {
            turn.effects.extend(asker.map(|asker| asker.reply(Ok(Payload::empty_object()))));
            return;
        }
        let exclude = extension.downloads.0.iter().filter_map(|it| it.chrome_id).collect();
        let Some(download) = extension.downloads.find(&search.guid) else {
            turn.effects.extend(asker.map(|asker| asker.reply(Ok(Payload::empty_object()))));
            return;
        };
        let (url, at_once, extra) = (download.url.clone(), search.cancels, Extra::default());
        let query = DownloadQuery { url, exclude, at_once, extra };
        let request = Request {
            connection,
            session: None,
            asker,
            purpose: Purpose::Download(search),
            deadline: Some(turn.now + QUICK),
        };
        self.ask_extension(request, |id| RelayMessage::FindDownload { id, query }, turn);
    }

    /// The extension has looked for a download.
    pub(super) fn download_found(
        &mut self,
        connection: ConnectionId,
        asker: Option<Asker>,
        search: Search,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        turn.effects.extend(asker.map(|asker| asker.reply(Ok(Payload::empty_object()))));
        let found = outcome.and_then(|payload| {
            let found = payload.read::<FoundDownload<Payload>>();
            found.map_err(|error| Error::server(error.to_string()))
        });
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let Some(download) = extension.downloads.find(&search.guid) else { return };
        if search.cancels {
            if let Ok(FoundDownload { id: Some(id), .. }) = found {
                let download = DownloadId { id, extra: Extra::default() };
                let id = self.requests.unasked();
                turn.tell_extension(connection, RelayMessage::CancelDownload { id, download });
            }
            return;
        }
        match found {
            Ok(FoundDownload { id, path: Some(path), .. }) => {
                download.chrome_id = id;
                let name = download.suggested_filename.clone();
                let to = self.copies_wanted(connection, &search.guid, &name);
                let (guid, from) = (search.guid, PathBuf::from(path));
                turn.effects.push(Effect::CopyDownload { connection, guid, from, to });
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

    fn copies_wanted(&self, connection: ConnectionId, guid: &str, name: &str) -> Vec<PathBuf> {
        let mut copies: Vec<PathBuf> = self
            .clients
            .all_of(connection)
            .flat_map(|client| client.sessions.iter())
            .filter_map(|(_, session)| session.downloads.as_ref()?.file(guid, name))
            .collect();
        copies.sort();
        copies.dedup();
        copies
    }

    /// The file is where clients expect it, or could not be brought there.
    pub(super) fn download_copied(
        &mut self,
        connection: ConnectionId,
        guid: &str,
        outcome: Result<(), String>,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let Some(download) = extension.downloads.find(guid) else { return };
        let name = download.suggested_filename.clone();
        let Some(mut completed) = download.completed.take() else { return };
        if let Err(why) = outcome {
            turn.log(LogLevel::Warn, format!("a download cannot be given to its client: {why}"));
            completed.insert("state".to_owned(), "canceled".into());
        }
        for seat in self.clients.seats(connection, wants_events) {
            let wanted = self.clients.session(&seat).and_then(|it| it.downloads.as_ref());
            let mut event = completed.clone();
            if let Some(file) = wanted.and_then(|wanted| wanted.file(guid, &name)) {
                event.insert("filePath".to_owned(), file.to_string_lossy().into());
            }
            turn.event(&seat, PROGRESSED, &event);
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
    fn file(&self, guid: &str, suggested: &str) -> Option<PathBuf> {
        let wanted = if self.by_guid { guid } else { suggested };
        Some(self.folder.as_ref()?.join(Path::new(wanted).file_name()?))
    }
}

fn wants_events(session: &Session) -> bool {
    session.downloads.as_ref().is_some_and(|wanted| wanted.events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_the_page_stays_in_the_folder() {
        let wanted = |by_guid| DownloadBehavior {
            folder: Some(PathBuf::from("/downloads")),
            by_guid,
            deny: false,
            events: true,
        };
        let file = |by_guid| wanted(by_guid).file("G", "../../etc/passwd");
        assert_eq!(file(false), Some(PathBuf::from("/downloads/passwd")));
        assert_eq!(file(true), Some(PathBuf::from("/downloads/G")));
        assert_eq!(wanted(false).file("G", ".."), None);
    }
}
