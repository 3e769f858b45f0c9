//! Clients that may reach only some of this machine's files: the code of agents.
//!
//! Their process cannot open other files. The browser could do that for them, and the relay copies
//! downloads to where clients want them; so what names a file is looked at. What a tab shows counts
//! more than how it got there: see [`visibility`](crate::targets::visibility).

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::cdp::method::{Confined, Method};
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};

/// The kinds of addresses that a client may have opened. For an extension, Chrome makes a file's address
/// of `view-source:~/x`, and one of the extension's own pages of what has no scheme; so what is not known
/// is refused. None of Chrome's own pages is among them: no extension may attach to one.
const OPENED: &str = "http:, https:, data:, blob: or about:blank";

/// What a page of Chrome's says that could not be loaded.
const FAILED_PAGE: &str = "chrome-error://chromewebdata/";

/// Ends a script for new documents where the document is not for its client. A statement before the
/// script, rather than a block around it, leaves what the script declares global. What the script declares
/// is there before the first statement. So this statement calls nothing that has a global name, and names
/// only `location` and `document`, which nobody can replace. An empty frame has the base of the document
/// around it, and reaches into that document.
const ON_THE_WEB: &str = "if (!/^(https?|about|data|blob|chrome-error):/.test(location.href) || \
                          !/^(https?|about|data|blob|chrome-error):/.test(document.baseURI)) throw 0; ";

/// Does the same for the condition of a breakpoint, which is kept for every document that comes into the
/// tab. There, `location` may be a variable of the page's; if `globalThis` is one, the condition fails.
const ON_THE_WEB_HERE: &str = "if (!/^(https?|about|data|blob|chrome-error):/.test(globalThis.location.href) || \
     !/^(https?|about|data|blob|chrome-error):/.test(globalThis.document.baseURI)) throw 0; ";

/// Does the same before an expression.
const ON_THE_WEB_OR_NOTHING: &str = "/^(https?|about|data|blob|chrome-error):/.test(location.href) && \
     /^(https?|about|data|blob|chrome-error):/.test(document.baseURI) || (() => { throw 0 })(), ";

/// The parameters of a command.
type Fields = serde_json::Map<String, serde_json::Value>;

/// The folders that a client may name files in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// Absolute and without links.
    pub folders: Vec<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    url: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    download_path: Option<PathBuf>,
    data: Option<Dragged>,
}

#[derive(Deserialize)]
struct Dragged {
    #[serde(default)]
    files: Vec<serde_json::Value>,
}

impl Confinement {
    /// Returns why a command is not for this client.
    pub(crate) fn refusal(&self, command: &Command) -> Option<Error> {
        match Method::of(&command.method).confined {
            Confined::Free | Confined::Guard => None,
            Confined::Names => match command.read_params::<Named>() {
                Ok(named) => self.refusal_of(named),
                // Chrome may read what we cannot.
                Err(error) => Some(error),
            },
            Confined::RefuseIf(word, reason) => {
                mentions(command, word).then(|| Error::server(reason))
            }
            Confined::Refuse(reason) => Some(Error::server(reason)),
        }
    }

    fn refusal_of(&self, named: Named) -> Option<Error> {
        let Named { url, files, download_path, data } = named;
        if let Some(url) = url.filter(|url| !is_opened(url)) {
            return Some(not_opened(&url));
        }
        // Chrome opens a dropped file that the page does not take, and whoever has one has them all.
        if data.is_some_and(|data| !data.files.is_empty()) {
            return Some(Error::server("files cannot be dropped here: use an <input type=file>"));
        }
        let mut all = files.into_iter().chain(download_path);
        let outside = all.find(|file| !self.holds(file))?;
        Some(refused(&outside.display().to_string()))
    }

    /// Returns the command as Chrome is to get it: a script for new documents runs in those alone
    /// that its client may see.
    pub(crate) fn guarded(command: Command) -> Command {
        match Method::of(&command.method).confined {
            Confined::Guard => prefixed(command, "source", ON_THE_WEB),
            Confined::Free | Confined::Names | Confined::RefuseIf(..) | Confined::Refuse(_) => {
                command
            }
        }
    }

    /// Does the same for code that is to run in a page at once: when the code arrives, the page may be
    /// another, in which the same names mean other worlds.
    pub(crate) fn guarded_in_page(command: Command) -> Command {
        match command.method.as_str() {
            "Runtime.evaluate" | "Runtime.compileScript" => {
                prefixed(command, "expression", ON_THE_WEB)
            }
            // An object is of one page.
            "Runtime.callFunctionOn" if !has_field(&command, "objectId") => {
                prefixed(command, "functionDeclaration", ON_THE_WEB_OR_NOTHING)
            }
            _ => command,
        }
    }

    /// Does the same for a breakpoint in a page, whose condition is code.
    pub(crate) fn guarded_breakpoint(command: Command) -> Command {
        prefixed(command, "condition", ON_THE_WEB_HERE)
    }

    fn holds(&self, file: &Path) -> bool {
        let climbs = file.components().any(|part| part == Component::ParentDir);
        !climbs && self.folders.iter().any(|folder| file.starts_with(folder))
    }
}

/// Returns whether a page may be shown to whoever is confined: it comes from the web, or is empty.
/// A page that could not be loaded is Chrome's own, and shows nothing else.
pub(crate) fn is_web(url: &str) -> bool {
    is_opened(url) || url == FAILED_PAGE || url == "about:srcdoc"
}

/// Returns whether whoever is confined may go there. Chrome, too, strips blanks and controls at the
/// ends.
fn is_opened(url: &str) -> bool {
    let url = url.trim_matches(|c: char| c.is_ascii_control() || c == ' ');
    let Some((scheme, rest)) = url.split_once(':') else { return url.is_empty() };
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" | "data" => true,
        "about" => rest == "blank" || rest.starts_with("blank?") || rest.starts_with("blank#"),
        // The origin of what made it stands in it.
        "blob" => ["http:", "https:", "null/"].iter().any(|origin| rest.starts_with(origin)),
        _ => false,
    }
}

/// Returns whether a command has a field that is not null.
fn has_field(command: &Command, field: &str) -> bool {
    let fields = command.read_params::<Fields>();
    fields.is_ok_and(|fields| fields.get(field).is_some_and(|value| !value.is_null()))
}

/// Returns the command with a statement before the code in one of its fields.
fn prefixed(command: Command, field: &str, statement: &str) -> Command {
    let Ok(mut fields) = command.read_params::<Fields>() else { return command };
    match fields.get_mut(field) {
        Some(serde_json::Value::String(code)) if !code.is_empty() => code.insert_str(0, statement),
        _ => return command,
    }
    Command { params: Some(Payload::of(&fields)), ..command }
}

fn not_opened(url: &str) -> Error {
    let shown: String = url.chars().take(200).collect();
    Error::server(format!(
        "{shown} is not opened for this client: it may open addresses that begin with {OPENED}"
    ))
}

fn mentions(command: &Command, word: &str) -> bool {
    // An escaped name would not be found; what may be one is taken for it.
    let text = command.params.as_ref().map(Payload::as_str).unwrap_or_default();
    text.contains(word) || text.contains("\\u")
}

fn refused(what: &str) -> Error {
    Error::server(format!(
        "{what} is outside of the session's folder, which is all that this client may use"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(method: &str, params: &str) -> bool {
        let text = format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#);
        let confinement = Confinement { folders: vec!["/s/1".into(), "/tmp".into()] };
        confinement.refusal(&Command::parse(&text).unwrap()).is_some()
    }

    #[test]
    fn files_outside_of_its_folders_are_not_for_a_confined_client() {
        for (method, params) in [
            ("DOM.setFileInputFiles", r#"{"files":["/s/1/a","/etc/passwd"]}"#),
            ("DOM.setFileInputFiles", r#"{"files":["/tmp/../etc/passwd"]}"#),
            ("DOM.setFileInputFiles", r#"{"files":["/s/10/a"]}"#),
            ("DOM.setFileInputFiles", r#"{"files":["a"]}"#),
            ("Input.dispatchDragEvent", r#"{"data":{"files":["/etc/passwd"]}}"#),
            ("Input.dispatchDragEvent", r#"{"data":{"files":["/s/1/own.html"]}}"#),
            ("Input.dispatchDragEvent", r#"{"data":{"files":[1]}}"#),
            ("Page.setRPHRegistrationMode", r#"{"mode":"autoAccept"}"#),
            ("Page.setSPCTransactionMode", r#"{"mode":"autoAccept"}"#),
            ("Page.addScriptToEvaluateOnLoad", r#"{"scriptSource":"1"}"#),
            ("Page.reload", r#"{"scriptToEvaluateOnLoad":"1"}"#),
            ("Page.reload", r#"{"\u0073criptToEvaluateOnLoad":"1"}"#),
            ("Browser.setDownloadBehavior", r#"{"downloadPath":"/home/me/.ssh"}"#),
            ("Page.setDownloadBehavior", r#"{"downloadPath":"/home/me"}"#),
            ("Page.navigate", r#"{"url":"file:///etc/passwd"}"#),
            ("Network.loadNetworkResource", r#"{"url":"file:///etc/passwd"}"#),
            ("Fetch.continueRequest", r#"{"requestId":"1","url":"file:///etc/passwd"}"#),
            ("Target.sendMessageToTarget", r#"{"message":"{}"}"#),
            ("Page.navigate", r#"{"url":"file:///etc/passwd","files":1}"#),
            ("Page.navigate", r#"{"url":"about:blank","url":"file:///etc/passwd"}"#),
            ("Browser.setDownloadBehavior", r#"{"downloadPath":"/home/me","url":1}"#),
        ] {
            assert!(is_refused(method, params), "{method} {params}");
        }
    }

    #[test]
    fn everything_else_is() {
        for (method, params) in [
            ("DOM.setFileInputFiles", r#"{"files":["/s/1/a","/tmp/b/c"]}"#),
            ("DOM.setFileInputFiles", r#"{"files":[]}"#),
            ("Input.dispatchDragEvent", r#"{"data":{"items":[],"files":[]}}"#),
            ("Page.reload", r#"{"ignoreCache":true}"#),
            ("Browser.setDownloadBehavior", r#"{"behavior":"deny"}"#),
            ("Browser.setDownloadBehavior", r#"{"downloadPath":"/tmp/downloads"}"#),
            ("Page.navigate", r#"{"url":"https://example.com/?file:"}"#),
            ("Runtime.evaluate", r#"{"expression":"file:"}"#),
            ("Fetch.continueRequest", r#"{"requestId":"1"}"#),
        ] {
            assert!(!is_refused(method, params), "{method} {params}");
        }
    }

    #[test]
    fn only_known_kinds_of_addresses_are_opened() {
        for url in [
            "",
            "about:blank",
            "HTTP://example.com/",
            "https://example.com/?file:///",
            " https://example.com/ ",
            "blob:https://example.com/1",
            "blob:null/1",
            "data:text/html,x",
            "about:blank#1",
        ] {
            assert!(is_opened(url), "{url}");
        }
        for url in [
            "file:///etc/passwd",
            "FILE:/etc/passwd",
            "chrome://version/",
            "chrome://newtab/",
            "about:version",
            "about:blankx",
            "blob:file:///1",
            "blob:chrome-extension://x/1",
            "view-source:https://example.com/",
            "\u{1} file:///etc/passwd",
            "fi\nle:///etc/passwd",
            "file;///etc/passwd",
            "/etc/passwd",
            "//etc/passwd",
            "~/.ssh/id_rsa",
            "~root/x:y",
            "etc/passwd",
            "c:\\secrets",
            "view-source:file:///etc/passwd",
            "view-source:/etc/passwd",
            "view-source:~/.ssh/id_rsa",
            "view-source: /etc/passwd",
            "view-source:",
            "view-source:view-source:https://example.com/",
            "View-Source:view-source:file:///etc/passwd",
            "filesystem:file:///x",
            "chrome-extension://jfeammnjpkecdekppnclgkkffahnhfhe/x.html",
            "devtools://devtools/bundled/inspector.html",
            "javascript:1",
            "\u{a0}http://example.com/",
            ":",
        ] {
            assert!(!is_opened(url), "{url}");
        }
    }
}
