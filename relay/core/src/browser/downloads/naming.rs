//! Matches Chrome's downloads with CDP's: the two have only the address in common. The relay asks
//! Chrome as soon as a download begins. While several downloads from one address have no Chrome id,
//! the relay counts all that Chrome knows and assigns their ids in the order in which the downloads
//! began.

use super::{Download, Downloads};
use crate::Relay;
use crate::ids::ConnectionId;
use crate::requests::purpose::{DownloadSearch, SearchReason};
use crate::turn::Turn;

/// The downloads from one address that are being named.
#[derive(Debug)]
pub(super) struct UnnamedDownloads {
    url: String,
    /// The download for which Chrome is asked.
    asked_for: String,
    /// The downloads found, by Chrome's ids.
    found: Vec<i64>,
    /// The searches that wait until these downloads have ids.
    then: Vec<DownloadSearch>,
}

impl Relay {
    /// Finds out what Chrome calls a download that has just begun.
    pub(super) fn name_download(
        &mut self,
        connection: ConnectionId,
        asked_for: String,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let url = extension.downloads.find(&asked_for).map(|download| download.url.clone());
        let Some(url) = url else { return };
        if extension.downloads.1.iter().any(|count| count.url == url) {
            return;
        }
        let search = DownloadSearch { guid: asked_for.clone(), reason: SearchReason::Name };
        if self.search_download(connection, None, search, turn)
            && let Some(extension) = self.extensions.get_mut(connection)
        {
            let (found, then) = (Vec::new(), Vec::new());
            extension.downloads.1.push(UnnamedDownloads { url, asked_for, found, then });
        }
    }

    /// Chrome has told of one more download from an address, or of none.
    pub(super) fn download_named(
        &mut self,
        connection: ConnectionId,
        search: DownloadSearch,
        id: Option<i64>,
        turn: &mut Turn,
    ) {
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let Downloads(downloads, counts) = &mut extension.downloads;
        let at = counts.iter().position(|count| count.asked_for == search.guid);
        let Some(count) = at.and_then(|at| counts.get_mut(at)) else { return };
        count.found.extend(id);
        let is_nameless = |it: &Download, url: &str| it.url == *url && it.is_nameless();
        let nameless = downloads.iter().filter(|it| is_nameless(it, &count.url)).count();
        let is_site_open = id.is_some() && count.found.len() < nameless;
        if is_site_open && self.search_download(connection, None, search.clone(), turn) {
            return;
        }
        let Some(extension) = self.extensions.get_mut(connection) else { return };
        let Downloads(downloads, counts) = &mut extension.downloads;
        let own = counts.extract_if(.., |count| count.asked_for == search.guid).next();
        let Some(mut count) = own else { return };
        count.found.sort_unstable();
        let nameless = downloads.iter_mut().filter(|it| is_nameless(it, &count.url));
        for (download, id) in nameless.zip(count.found) {
            download.chrome_id = Some(id);
        }
        for search in count.then {
            self.search_download(connection, None, search, turn);
        }
    }
}

impl Downloads {
    /// Returns whether a search has to wait, because it could find another's file.
    pub(super) fn waits_for_name(&mut self, search: &DownloadSearch) -> bool {
        let download = self.find(&search.guid).filter(|it| it.is_nameless());
        let Some(url) = download.map(|it| it.url.clone()) else { return false };
        let mut counts = self.1.iter_mut().filter(|_| search.reason == SearchReason::Copy);
        let Some(count) = counts.find(|count| count.url == url) else { return false };
        count.then.push(search.clone());
        true
    }

    /// Returns what Chrome calls those that a download is not.
    pub(super) fn others(&self, guid: &str) -> Vec<i64> {
        let (own, others): (Vec<_>, Vec<_>) = self.0.iter().partition(|it| it.guid == guid);
        let named = others.into_iter().filter_map(|it| it.chrome_id);
        let counted = self.1.iter().flat_map(|count| &count.found);
        let refused = own.into_iter().flat_map(|it| &it.other_ids);
        named.chain(counted.chain(refused).copied()).collect()
    }
}

impl Download {
    /// Returns whether its file is wanted, and could be taken for another's.
    pub(super) fn is_nameless(&self) -> bool {
        self.is_wanted && self.chrome_id.is_none()
    }

    /// Returns whether what was found is another; then that is not found again.
    pub(super) fn is_other(&mut self, found: Option<i64>) -> bool {
        let other = found.filter(|_| self.chrome_id.is_some() && self.chrome_id != found);
        let is_new = other.is_some_and(|other| !self.other_ids.contains(&other));
        self.other_ids.extend(other.filter(|_| is_new));
        is_new
    }
}
