//! The copies of files that clients want.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use shared_protocol::LogLevel;

use super::{PROGRESSED, wants_events, wants_file};
use crate::Relay;
use crate::effect::WantedCopy;
use crate::ids::{ConnectionId, SessionRef};
use crate::sessions::model::DownloadBehavior;
use crate::turn::Turn;

impl DownloadBehavior {
    /// Returns the place to which a download is to be copied. A name suggested by the page cannot
    /// lead out of the folder.
    pub(super) fn copy(&self, guid: &str, suggested: &str) -> Option<WantedCopy> {
        let wanted = if self.named_by_guid { guid } else { suggested };
        let to = self.folder.as_ref()?.join(Path::new(wanted).file_name()?);
        Some(WantedCopy { to, is_exact: self.named_by_guid, inside: None })
    }
}

impl Relay {
    pub(super) fn copies_wanted(
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
        let sessions = self.download_sessions(connection, is_web, wants_file);
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
        for session_ref in self.download_sessions(connection, is_web, wants_events) {
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
}
