//! Downloads that the relay asks for. CDP may say that one is complete before Chrome has given the
//! file its name, so what is found is answered when it has ended, unless the relay cannot wait.

use shared_protocol::{DownloadQuery, Extra, FoundDownload};

use super::{Effect, Ticket};

/// There are few at a time.
#[derive(Debug)]
pub(super) struct Downloads<P>(Vec<Wanted<P>>);

#[derive(Debug)]
struct Wanted<P> {
    ticket: Ticket,
    url: String,
    exclude: Vec<i64>,
    max_age: Option<u64>,
    at_once: bool,
    /// As it was seen last.
    found: FoundDownload<P>,
}

impl<P> Default for Downloads<P> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<P> Downloads<P> {
    pub(super) fn find(
        &mut self,
        ticket: Ticket,
        query: DownloadQuery<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let DownloadQuery { url, exclude, at_once, max_age, .. } = query;
        let wanted = Wanted { ticket, url, exclude, max_age, at_once, found: nothing() };
        effects.push(wanted.search());
        effects.push(Effect::DownloadOverdueLater { ticket });
        self.0.push(wanted);
    }

    /// Something has happened to a download.
    pub(super) fn changed(&self, effects: &mut Vec<Effect<P>>) {
        effects.extend(self.0.iter().map(Wanted::search));
    }

    /// What Chrome knows; the answer, if that is final.
    pub(super) fn searched(
        &mut self,
        ticket: Ticket,
        outcome: Result<FoundDownload<P>, String>,
    ) -> Option<Result<FoundDownload<P>, String>> {
        let index = self.index(ticket)?;
        match outcome {
            Ok(found)
                if !self.0[index].at_once && found.state.as_deref() == Some("in_progress") =>
            {
                self.0[index].found = found;
                None
            }
            outcome => {
                self.0.remove(index);
                Some(outcome)
            }
        }
    }

    /// The answer to a request that has waited for long enough.
    pub(super) fn overdue(&mut self, ticket: Ticket) -> Option<FoundDownload<P>> {
        let index = self.index(ticket)?;
        Some(self.0.remove(index).found)
    }

    fn index(&self, ticket: Ticket) -> Option<usize> {
        self.0.iter().position(|wanted| wanted.ticket == ticket)
    }
}

impl<P> Wanted<P> {
    fn search(&self) -> Effect<P> {
        let (url, exclude) = (self.url.clone(), self.exclude.clone());
        Effect::SearchDownload { ticket: self.ticket, url, exclude, max_age: self.max_age }
    }
}

fn nothing<P>() -> FoundDownload<P> {
    FoundDownload { id: None, path: None, state: None, error: None, extra: Extra::default() }
}
