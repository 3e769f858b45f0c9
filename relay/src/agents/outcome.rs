//! The texts that agents get when there is no answer from their code.

use std::time::Duration;

use super::api::{Outcome, SessionName};
use super::limits::{DATA_MIB, HEAP_MIB};

/// The remark whenever a session has lost its state.
const EMPTY_STATE: &str =
    "the session starts again with an empty `state`; the tabs are as they were";

/// The remark when that happened between two calls.
const BEGUN_AFRESH: &str = "the session has begun afresh since the last call: `state` was empty";

/// The reason for which a session lost its sandbox between two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LostReason {
    /// The sandbox ended by itself, or sent something that makes no sense.
    Ended,
    /// Earlier code blocked it.
    Blocked,
    /// A call was cancelled and did not stop.
    Cancelled,
    /// The session had not been used for long.
    Forgotten,
}

impl LostReason {
    fn reason(self) -> &'static str {
        match self {
            Self::Ended => "",
            Self::Blocked => " (what earlier code had left running blocked it)",
            Self::Cancelled => " (a call that was cancelled did not stop by itself)",
            Self::Forgotten => " (it had not been used for long)",
        }
    }
}

/// The reason why a sandbox is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExitReason {
    /// The sandbox was killed because the code overran.
    Overran(Duration),
    /// The sandbox was killed before it took the code: earlier code blocked it.
    Blocked,
    /// The sandbox was killed because nobody wanted the answer, and the code did not stop.
    Cancelled,
    /// The sandbox did not start, or did not connect to the browser, in time.
    TooSlow(&'static str),
    /// The sandbox ended by itself.
    Ended { code: Option<i32>, last_words: String },
    /// The sandbox sent something that no sandbox sends.
    Nonsense(&'static str),
    /// The relay ends, or the session does.
    Closing,
}

impl ExitReason {
    pub(super) fn describe(&self) -> String {
        let what = match self {
            Self::Overran(limit) => format!(
                "the code did not end within {} ms and was stopped: give a longer `timeout`, or do \
                 it in smaller steps",
                limit.as_millis()
            ),
            Self::Blocked => "what earlier code had left running blocked the session".to_owned(),
            Self::Cancelled => "the call was cancelled".to_owned(),
            Self::TooSlow(what) => format!("the session's process did not {what} in time"),
            Self::Ended { last_words, .. } if last_words.contains("out of memory") => format!(
                "the code ran out of memory ({HEAP_MIB} MiB of objects, {DATA_MIB} MiB in all) and \
                 was stopped"
            ),
            Self::Ended { code: Some(code), .. } if *code < 128 => {
                format!("the code ended its own process (exit code {code})")
            }
            Self::Ended { .. } => "the code crashed its own process".to_owned(),
            Self::Nonsense(what) => format!("the session's process was stopped: {what}"),
            Self::Closing => "the session was reset, or the relay is shutting down".to_owned(),
        };
        format!("{what}\n{EMPTY_STATE}")
    }
}

impl Outcome {
    pub(crate) fn success(session: &SessionName, text: impl Into<String>) -> Self {
        Self::of(session, false, text.into())
    }

    pub(crate) fn failure(session: &SessionName, text: impl Into<String>) -> Self {
        Self::of(session, true, text.into())
    }

    /// Tells an agent that relied on what there was.
    pub(crate) fn begun_afresh(self) -> Self {
        self.begun_after(LostReason::Ended)
    }

    pub(super) fn begun_after(mut self, lost: LostReason) -> Self {
        self.notes.insert(0, format!("{BEGUN_AFRESH}{}", lost.reason()));
        Self { is_fresh: false, ..self }
    }

    /// Shows what code said before it was stopped.
    pub(super) fn after(self, said: &str) -> Self {
        Self { text: format!("{said}{}", self.text), ..self }
    }

    /// Tells an agent what it should know besides.
    pub(super) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.splice(0..0, notes);
        self
    }

    /// Returns the notes as they are shown, apart from the text.
    #[must_use]
    pub fn notes_shown(&self) -> Option<String> {
        let notes: Vec<String> = self.notes.iter().map(|note| format!("[note] {note}")).collect();
        (!notes.is_empty()).then(|| notes.join("\n"))
    }

    fn of(session: &SessionName, failed: bool, text: String) -> Self {
        Self {
            session: session.clone(),
            failed,
            notes: Vec::new(),
            text,
            images: Vec::new(),
            folder: None,
            is_fresh: false,
            is_resumed: false,
            has_state: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_shown_apart_from_the_result_and_the_last_one_first() {
        let outcome = Outcome::success(&SessionName::default(), "42");
        let outcome = outcome.with_notes(vec!["update the extension".to_owned()]);
        let outcome = outcome.begun_afresh();
        let shown = outcome.notes_shown().unwrap();
        assert!(shown.starts_with("[note] the session has begun afresh"), "{shown}");
        assert!(shown.ends_with("\n[note] update the extension"), "{shown}");
        assert_eq!(outcome.text, "42");
    }
}
