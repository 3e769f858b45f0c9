//! What Chrome refuses, and what becomes of it.

use serde_json::json;

use crate::cdp::method::{Method, OnRefusedPage, OnTarget};
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;

pub(crate) const RESTRICTED: &str = "Chrome lets no extension act on the page that this tab shows, such as a warning \
                     of a bad certificate; go to another address, close the page, or leave it in \
                     the browser";

/// A command that is sent when the tab shows another page.
#[derive(Debug)]
pub(crate) struct DeferredCommand {
    pub(crate) method: String,
    pub(crate) params: Option<Payload>,
    /// Whose script it adds, and the id that its client was given for it.
    pub(crate) script: Option<(SessionRef, String)>,
}

impl DeferredCommand {
    pub(crate) fn weight(&self) -> usize {
        self.method.len() + self.params.as_ref().map_or(0, |params| params.as_str().len())
    }

    pub(crate) fn adds_script(&self) -> bool {
        matches!(Method::of(&self.method).on_target(), OnTarget::AddScript)
    }
}

/// What becomes of a command that Chrome refuses because of the page that a tab shows.
#[derive(Debug, Default)]
pub(crate) enum OnRefusal {
    /// It fails.
    #[default]
    Fails,
    /// It throws in the page, for all that its client can tell: clients replace the words of an
    /// evaluation that fails.
    Throws,
    /// It waits for another page, and its client goes on.
    Waits(DeferredCommand),
    /// It is sent again from a blank page.
    Navigates(Command),
    /// `chrome.tabs` closes the tab.
    Closes,
}

impl OnRefusal {
    pub(crate) fn of(command: &Command) -> Self {
        match Method::of(&command.method).on_refused_page() {
            OnRefusedPage::Throw => Self::Throws,
            OnRefusedPage::Navigate => Self::Navigates(command.clone()),
            OnRefusedPage::Close => Self::Closes,
            OnRefusedPage::Fail => Self::Fails,
            OnRefusedPage::Wait => Self::waits(&command.method, command.params.as_ref()),
        }
    }

    /// As [`OnRefusal::of`], for a command of the relay's own, which waits or fails.
    pub(crate) fn of_own(method: &str, params: Option<&Payload>) -> Self {
        match Method::of(method).on_refused_page() {
            OnRefusedPage::Wait => Self::waits(method, params),
            OnRefusedPage::Throw
            | OnRefusedPage::Navigate
            | OnRefusedPage::Close
            | OnRefusedPage::Fail => Self::Fails,
        }
    }

    fn waits(method: &str, params: Option<&Payload>) -> Self {
        let (method, params) = (method.to_owned(), params.cloned());
        Self::Waits(DeferredCommand { method, params, script: None })
    }
}

/// Returns whether Chrome refuses the page that a tab shows, rather than the command.
pub(crate) fn is_refusal(error: &Error) -> bool {
    [
        "Cannot attach to this target",
        "Cannot access contents of",
        "Cannot access a chrome",
        "The extensions gallery cannot be scripted",
    ]
    .iter()
    .any(|refusal| error.message.starts_with(refusal))
}

/// Returns what Chrome answers to an evaluation that throws.
pub(crate) fn exception() -> Payload {
    let error = json!({
        "type": "object",
        "subtype": "error",
        "className": "Error",
        "description": format!("Error: {RESTRICTED}"),
    });
    Payload::of(&json!({
        "result": error,
        "exceptionDetails": {
            "exceptionId": 0,
            "text": "Uncaught",
            "lineNumber": 0,
            "columnNumber": 0,
            "exception": error,
        },
    }))
}
