//! Downloads that the relay asks for. CDP may say that one is complete before Chrome has given the
//! file its name, so what is found is answered when it has ended, unless the relay cannot wait.

use std::collections::BTreeMap;

use shared_protocol::{DownloadQuery, Extra, FoundDownload};

use super::{Effect, Ticket};

#[derive(Debug)]
pub(super) struct Downloads<P>(BTreeMap<Ticket, Wanted<P>>);

#[derive(Debug)]
struct Wanted<P> {
    url: String,
    exclude: Vec<i64>,
    at_once: bool,
    /// As it was seen last.
    found: FoundDownload<P>,
}

impl<P> Default for Downloads<P> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<P> Downloads<P> {
    pub(super) fn find(
        &mut self,
        ticket: Ticket,
        query: DownloadQuery<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let DownloadQuery { url, exclude, at_once, .. } = query;
        let wanted = Wanted { url, exclude, at_once, found: nothing() };
        effects.push(wanted.search(ticket));
        effects.push(Effect::DownloadOverdueLater { ticket });
        self.0.insert(ticket, wanted);
    }

    /// Something has happened to a download.
    pub(super) fn changed(&self, effects: &mut Vec<Effect<P>>) {
        effects.extend(self.0.iter().map(|(ticket, wanted)| wanted.search(*ticket)));
    }

    /// What Chrome knows; the answer, if that is final.
    pub(super) fn searched(
        &mut self,
        ticket: Ticket,
        outcome: Result<FoundDownload<P>, String>,
    ) -> Option<Result<FoundDownload<P>, String>> {
        let wanted = self.0.get_mut(&ticket)?;
        match outcome {
            Ok(found) if !wanted.at_once && found.state.as_deref() == Some("in_progress") => {
                wanted.found = found;
                None
            }
            outcome => {
                self.0.remove(&ticket);
                Some(outcome)
            }
        }
    }

    /// The answer to a request that has waited for long enough.
    pub(super) fn overdue(&mut self, ticket: Ticket) -> Option<FoundDownload<P>> {
        self.0.remove(&ticket).map(|wanted| wanted.found)
    }
}

impl<P> Wanted<P> {
    fn search(&self, ticket: Ticket) -> Effect<P> {
        let (url, exclude) = (self.url.clone(), self.exclude.clone());
        Effect::SearchDownload { ticket, url, exclude }
    }
}

fn nothing<P>() -> FoundDownload<P> {
    FoundDownload { id: None, path: None, state: None, error: None, extra: Extra::default() }
}
