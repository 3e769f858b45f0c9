//! What Chrome refuses, and what becomes of it.

use serde_json::json;

use super::Deferred;
use crate::cdp::{Command, Error};
use crate::overrides::Rule;
use crate::payload::Payload;

pub(crate) const WORDS: &str = "Chrome lets no extension act on the page that this tab shows, such as a warning \
                     of a bad certificate; go to another address, close the page, or leave it in \
                     the browser";

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
    Waits(Deferred),
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
        if !sets_up(method) {
            return Self::Fails;
        }
        let (method, params) = (method.to_owned(), params.cloned());
        Self::Waits(Deferred { method, params, script: None })
    }
}

/// Whether a command only says how a page is to be from now on.
fn sets_up(method: &str) -> bool {
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

/// Whether Chrome refuses the page that a tab shows, rather than the command.
pub(super) fn is_refusal(error: &Error) -> bool {
    [
        "Cannot attach to this target",
        "Cannot access contents of",
        "Cannot access a chrome",
        "The extensions gallery cannot be scripted",
    ]
    .iter()
    .any(|refusal| error.message.starts_with(refusal))
}

/// What Chrome answers to an evaluation that throws.
pub(super) fn exception() -> Payload {
    let error = json!({
        "type": "object",
        "subtype": "error",
        "className": "Error",
        "description": format!("Error: {WORDS}"),
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
