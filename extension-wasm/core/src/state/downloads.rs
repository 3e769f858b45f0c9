//! Downloads that the relay asks for. CDP may report the end of a download before Chrome has named
//! the file. So the relay is answered when Chrome reports the end, unless the relay cannot wait.

use shared_protocol::{DownloadQuery, Extra, FoundDownload};

use crate::interface::{Effect, RequestRef};

/// The number of downloads that the relay may cancel; the oldest are forgotten first.
const MAX_REPORTED: usize = 256;

#[derive(Debug)]
pub(crate) struct Downloads<P> {
    /// The downloads that the relay waits for. There are few at a time.
    wanted: Vec<WantedDownload<P>>,
    /// The downloads that the relay knows, by Chrome's ids. It may cancel no other.
    reported: Vec<i64>,
}

#[derive(Debug)]
struct WantedDownload<P> {
    request: RequestRef,
    url: String,
    exclude: Vec<i64>,
    max_age: Option<u64>,
    at_once: bool,
    /// The download as Chrome described it last.
    found: FoundDownload<P>,
}

impl<P> Default for Downloads<P> {
    fn default() -> Self {
        Self { wanted: Vec::new(), reported: Vec::new() }
    }
}

impl<P> Downloads<P> {
    pub(crate) fn find(
        &mut self,
        request: RequestRef,
        query: DownloadQuery<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let DownloadQuery { url, exclude, at_once, max_age, .. } = query;
        let wanted =
            WantedDownload { request, url, exclude, max_age, at_once, found: no_download() };
        effects.push(wanted.search());
        effects.push(Effect::DownloadOverdueLater { request });
        self.wanted.push(wanted);
    }

    /// Searches again, since a download has changed.
    pub(crate) fn changed(&self, effects: &mut Vec<Effect<P>>) {
        effects.extend(self.wanted.iter().map(WantedDownload::search));
    }

    /// Returns the reply to a search, if the download has ended.
    pub(crate) fn search_done(
        &mut self,
        request: RequestRef,
        outcome: Result<FoundDownload<P>, String>,
    ) -> Option<Result<FoundDownload<P>, String>> {
        let index = self.index(request)?;
        match outcome {
            Ok(found)
                if !self.wanted[index].at_once && found.state.as_deref() == Some("in_progress") =>
            {
                self.wanted[index].found = found;
                None
            }
            outcome => {
                self.wanted.remove(index);
                Some(outcome)
            }
        }
    }

    /// Returns the reply to a request that has waited for long enough.
    pub(crate) fn overdue(&mut self, request: RequestRef) -> Option<FoundDownload<P>> {
        let index = self.index(request)?;
        Some(self.wanted.remove(index).found)
    }

    /// Remembers a download that the relay is told of. Returns true if it is new.
    pub(crate) fn report(&mut self, found: Option<&FoundDownload<P>>) -> bool {
        let id = found.and_then(|found| found.id).filter(|id| !self.reported.contains(id));
        if self.reported.len() >= MAX_REPORTED && id.is_some() {
            self.reported.remove(0);
        }
        self.reported.extend(id);
        id.is_some()
    }

    pub(crate) fn is_reported(&self, id: i64) -> bool {
        self.reported.contains(&id)
    }

    pub(crate) fn reported(&self) -> Vec<i64> {
        self.reported.clone()
    }

    pub(crate) fn restore(&mut self, reported: Vec<i64>) {
        self.reported = reported;
    }

    fn index(&self, request: RequestRef) -> Option<usize> {
        self.wanted.iter().position(|wanted| wanted.request == request)
    }
}

impl<P> WantedDownload<P> {
    fn search(&self) -> Effect<P> {
        let (url, exclude) = (self.url.clone(), self.exclude.clone());
        Effect::SearchDownload { request: self.request, url, exclude, max_age: self.max_age }
    }
}

fn no_download<P>() -> FoundDownload<P> {
    FoundDownload { id: None, path: None, state: None, error: None, extra: Extra::default() }
}
