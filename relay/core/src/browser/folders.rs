//! Folders for file inputs. Chrome reads one only for a tab that is shown: for a hidden one it answers
//! that all is well and does nothing, and clients wait for the page to notice.

use serde::Deserialize;
use shared_protocol::{Feature, LogLevel, Payload as _};

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;
use crate::requests::purpose::Purpose;
use crate::turn::Turn;

const BEHIND: &str = "Chrome reads a folder only for a tab that is shown, and this one is behind \
                      another: show it, or let clients do so by page.bringToFront() (serve \
                      --allow-focus)";

impl Relay {
    /// `DOM.setFileInputFiles`: checks first whether the element is an input for a folder.
    pub(crate) fn set_files(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let knows_windows =
            self.extension_of(session_ref).is_some_and(|it| it.features.has(Feature::Windows));
        let node = command.read_params::<Node>().ok().filter(|_| knows_windows);
        let (Some(node), Some(session)) = (node, self.target_session(session_ref)) else {
            return self.set_files_now(session_ref, command, turn);
        };
        let (extension_session, asker) =
            (session.extension_session.clone(), Asker::new(session_ref, &command));
        let Some(connection) = self.connection_of(session_ref) else { return };
        let question = ("DOM.describeNode", Some(Payload::of(&node)));
        let purpose = Purpose::FileInput(command);
        self.ask(connection, Some(asker), Some(&extension_session), question, purpose, turn);
    }

    /// Handles Chrome's description of a file input, or its error.
    pub(crate) fn file_input_described(
        &mut self,
        asker: Option<Asker>,
        command: Command,
        outcome: Result<Payload, Error>,
        turn: &mut Turn,
    ) {
        let Some(asker) = asker else { return };
        let described = outcome.ok().and_then(|payload| payload.read::<Described>().ok());
        let takes_folder = described.is_some_and(|it| {
            it.node.attributes.iter().step_by(2).any(|name| name == "webkitdirectory")
        });
        if takes_folder {
            self.ask_whether_shown(asker, command, turn);
        } else {
            self.set_files_now(&asker.session, command, turn);
        }
    }

    /// Handles the extension's answer that a tab is shown or hidden; `None` if it did not say.
    pub(crate) fn set_folder(
        &mut self,
        asker: &Asker,
        command: Command,
        is_hidden: Option<bool>,
        turn: &mut Turn,
    ) {
        if is_hidden == Some(true) {
            // Playwright's locators try again until their time is up, and do not say why.
            turn.log(LogLevel::Warn, BEHIND.to_owned());
            turn.fail(asker, Error::server(BEHIND));
        } else {
            self.set_files_now(&asker.session, command, turn);
        }
    }

    fn set_files_now(&mut self, session_ref: &SessionRef, command: Command, turn: &mut Turn) {
        let Some(session) = self.target_session(session_ref) else { return };
        let extension_session = session.extension_session.clone();
        self.forward(session_ref, command, &extension_session, Purpose::Forward, turn);
    }
}

/// A node as CDP names it.
#[derive(Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    #[serde(skip_serializing_if = "Option::is_none")]
    node_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend_node_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_id: Option<String>,
}

#[derive(Deserialize)]
struct Described {
    node: Attributes,
}

#[derive(Deserialize)]
struct Attributes {
    /// The attributes: names and values in turn.
    #[serde(default)]
    attributes: Vec<String>,
}
