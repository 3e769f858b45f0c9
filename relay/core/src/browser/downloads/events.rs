//! Downloads as Chrome tells of them, and what clients are told.

use serde::Deserialize;
use serde_json::{Map, Value};
use shared_protocol::{LogLevel, Payload as _};

use super::{Download, MAX_KNOWN, PROGRESSED, is_guid, wants_events, wants_file};
use crate::Relay;
use crate::cdp::payload::Payload;
use crate::confinement::is_web;
use crate::ids::{ConnectionId, SessionRef, TargetRef};
use crate::requests::purpose::{DownloadSearch, SearchReason};
use crate::sessions::model::Session;
use crate::turn::Turn;

const BEGAN: &str = "Browser.downloadWillBegin";

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

impl Relay {
    /// `Page.downloadWillBegin`
    pub(crate) fn download_began(
        &mut self,
        target_ref: TargetRef<'_>,
        event: &Payload,
        turn: &mut Turn,
    ) {
        let Ok(WillBegin { guid, url, suggested_filename }) = event.read() else { return };
        if !is_guid(&guid) {
            // The id may become the name of a file.
            let text = "ignored a download of an extension: its id is invalid";
            return turn.log(LogLevel::Warn, text.to_owned());
        }
        let is_web = self.shows_web(target_ref) && is_web(&url);
        for session_ref in self.download_sessions(target_ref.connection, is_web, wants_events) {
            turn.raw_event(&session_ref, BEGAN.to_owned(), Some(event.clone()));
        }
        let is_denied = self.is_download_denied(target_ref.connection);
        let is_wanted =
            !self.download_sessions(target_ref.connection, is_web, wants_file).is_empty();
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
        let is_wanted = !self.download_sessions(connection, is_web, wants_file).is_empty();
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
        for session_ref in self.download_sessions(connection, is_web, wants_events) {
            let session = self.clients.session(&session_ref);
            if state == "completed" && session.is_some_and(wants_file) {
                // The client would look for a file that does not exist.
                self.tell_canceled(&session_ref, event, turn);
            } else {
                turn.raw_event(&session_ref, PROGRESSED.to_owned(), Some(event.clone()));
            }
        }
    }

    pub(super) fn tell_canceled(&self, session_ref: &SessionRef, event: &Payload, turn: &mut Turn) {
        let Ok(mut canceled) = event.read::<Map<String, Value>>() else { return };
        canceled.insert("state".to_owned(), "canceled".into());
        turn.event(session_ref, PROGRESSED, &canceled);
    }

    /// Removes a denied download that has completed. The download was too small to be stopped in
    /// time, or the browser did not know it yet. A download that has already been removed is not
    /// looked for again: the search would find an earlier file from the same address.
    pub(super) fn denied_download_completed(
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

    /// Returns whether a client wants no downloads, and no other one wants them.
    pub(super) fn is_download_denied(&self, connection: ConnectionId) -> bool {
        let denies = |session: &Session| session.downloads.as_ref().is_some_and(|it| it.deny);
        !self.clients.sessions(connection, denies).is_empty()
            && self.clients.sessions(connection, wants_file).is_empty()
    }

    pub(super) fn is_denied(&mut self, connection: ConnectionId, guid: &str) -> bool {
        let extension = self.extensions.get_mut(connection);
        extension.and_then(|it| it.downloads.find(guid)).is_some_and(|it| it.is_denied)
    }
}
