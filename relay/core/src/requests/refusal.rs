//! What Chrome refuses, and what becomes of it.

use serde_json::json;

use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;
use crate::settings::overrides::Rule;

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
        self.method.starts_with("Page.addScript")
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
        match command.method.as_str() {
            "Runtime.evaluate" | "Runtime.callFunctionOn" => Self::Throws,
            "Page.navigate" => Self::Navigates(command.clone()),
            "Target.closeTarget" | "Page.close" => Self::Closes,
            method => Self::of_own(method, command.params.as_ref()),
        }
    }

    /// As [`OnRefusal::of`], for a command of the relay's own.
    pub(crate) fn of_own(method: &str, params: Option<&Payload>) -> Self {
        if !is_setup(method) {
            return Self::Fails;
        }
        let (method, params) = (method.to_owned(), params.cloned());
        Self::Waits(DeferredCommand { method, params, script: None })
    }
}

/// Returns whether a command only says how a page is to be from now on.
fn is_setup(method: &str) -> bool {
    let (domain, name) = method.split_once('.').unwrap_or_default();
    matches!(name, "enable" | "disable" | "setAutoAttach" | "runIfWaitingForDebugger")
        || matches!(
            method,
            "Page.addScriptToEvaluateOnNewDocument"
                | "Page.addScriptToEvaluateOnLoad"
                | "Page.removeScriptToEvaluateOnNewDocument"
                | "Page.removeScriptToEvaluateOnLoad"
                | "Runtime.addBinding"
                | "Runtime.removeBinding"
        )
        || Rule::of(method).is_some()
        || (matches!(domain, "Emulation" | "Network" | "Page") && name.starts_with("set"))
            && !matches!(
                method,
                "Page.setDocumentContent" | "Network.setCookie" | "Network.setCookies"
            )
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
