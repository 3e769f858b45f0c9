//! Clients that may reach only some of this machine's files: the code of agents.
//!
//! Their process cannot open other files. The browser could do that for them, and the relay copies
//! downloads to where clients want them; so what names a file is looked at.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::on_target::params;
use crate::cdp::{Command, Error};

/// The kinds of addresses that a client may have opened. For an extension, Chrome makes a file's address
/// of `view-source:~/x`, and one of the extension's own pages of what has no scheme; so what is not known
/// is refused.
const SCHEMES: [&str; 6] = ["about", "blob", "chrome", "data", "http", "https"];

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
    files: Vec<PathBuf>,
}

impl Confinement {
    /// Why a command is not for this client.
    pub(crate) fn refusal(&self, command: &Command) -> Option<Error> {
        match command.method.as_str() {
            "Page.navigate"
            | "Target.createTarget"
            | "Network.loadNetworkResource"
            | "Fetch.continueRequest"
            | "Network.continueInterceptedRequest"
            | "DOM.setFileInputFiles"
            | "Input.dispatchDragEvent"
            | "Browser.setDownloadBehavior"
            | "Page.setDownloadBehavior" => match params::<Named>(command) {
                Ok(named) => self.refusal_of(named),
                // Chrome may read what we cannot.
                Err(error) => Some(error),
            },
            // A command inside a command.
            "Target.sendMessageToTarget" => Some(Error::server("use flat sessions here")),
            _ => None,
        }
    }

    fn refusal_of(&self, named: Named) -> Option<Error> {
        let Named { url, files, download_path, data } = named;
        if let Some(url) = url.filter(|url| !is_opened(url)) {
            return Some(not_opened(&url));
        }
        let dragged = data.map(|data| data.files).unwrap_or_default();
        let mut all = files.into_iter().chain(dragged).chain(download_path);
        let outside = all.find(|file| !self.holds(file))?;
        Some(refused(&outside.display().to_string()))
    }

    fn holds(&self, file: &Path) -> bool {
        let climbs = file.components().any(|part| part == Component::ParentDir);
        !climbs && self.folders.iter().any(|folder| file.starts_with(folder))
    }
}

/// Whether whoever is confined may go there. Chrome, too, strips blanks and controls at the ends.
fn is_opened(url: &str) -> bool {
    let url = url.trim_matches(|c: char| c.is_ascii_control() || c == ' ');
    let is_one_of = |url: &str, schemes: &[&str]| {
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|it| schemes.iter().any(|scheme| it.eq_ignore_ascii_case(scheme)))
    };
    match url.split_once(':') {
        None => url.is_empty(),
        Some((scheme, source)) if scheme.eq_ignore_ascii_case("view-source") => {
            is_one_of(source, &["http", "https"])
        }
        Some(_) => is_one_of(url, &SCHEMES),
    }
}

fn not_opened(url: &str) -> Error {
    let shown: String = url.chars().take(200).collect();
    Error::server(format!(
        "{shown} is not opened for this client: it may open addresses that begin with one of {}:",
        SCHEMES.join(":, ")
    ))
}

fn refused(what: &str) -> Error {
    Error::server(format!(
        "{what} is outside of the session's folder and the temporary folder, which are all that this client may use"
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
            ("Input.dispatchDragEvent", r#"{"data":{"items":[]}}"#),
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
            "view-source:https://example.com/",
            "blob:https://example.com/1",
            "data:text/html,x",
            "chrome://version/",
        ] {
            assert!(is_opened(url), "{url}");
        }
        for url in [
            "file:///etc/passwd",
            "FILE:/etc/passwd",
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
