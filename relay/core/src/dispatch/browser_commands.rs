//! Commands that a tab's debugger does not know and a browser would: the relay answers them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use shared_protocol::CloseCode;

use crate::Relay;
use crate::asker::Asker;
use crate::cdp::method::{Method, OnBrowser};
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::version::BrowserVersion;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;
use crate::peers::extensions::Extension;
use crate::requests::pending::Request;
use crate::requests::purpose::Purpose;
use crate::requests::send::extension_command;
use crate::turn::Turn;

/// How long a tab may take to open.
const OPENING: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneContext {
    browser_context_id: Option<String>,
}

impl Relay {
    /// A command on a browser-level session, or one that is the browser's wherever it is sent.
    /// It is long because it has one arm for each kind of command.
    pub(crate) fn browser_command(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        let outcome = match Method::of(&command.method).on_browser {
            OnBrowser::CreateTarget => return self.create_target(session_ref, command, turn),
            OnBrowser::CloseTarget => return self.close_target(session_ref, command, turn),
            OnBrowser::ActivateTarget => return self.activate_target(session_ref, &command, turn),
            OnBrowser::Close => {
                turn.ok(&Asker::new(session_ref, &command));
                let client = session_ref.client;
                return self.close_client(client, CloseCode::Normal, "Browser.close", turn);
            }
            OnBrowser::Window(action) => {
                return self.window_command(session_ref, action, &command, turn);
            }
            OnBrowser::GrantPermissions => {
                return self.grant_permissions(session_ref, &command, turn);
            }
            OnBrowser::ResetPermissions => {
                return self.reset_permissions(session_ref, &command, turn);
            }
            OnBrowser::CancelDownload => return self.cancel_download(session_ref, &command, turn),
            OnBrowser::Stream => return self.stream_command(session_ref, command, turn),
            OnBrowser::Profile(action) => {
                return self.profile_command(session_ref, None, action, command, turn);
            }
            OnBrowser::Storage(action) => match self.storage_refusal(session_ref, action, &command)
            {
                Some(error) => Err(error),
                None => return self.any_tab_command(session_ref, command, turn),
            },
            // What follows is answered without asking anyone. Events that belong before the answer go
            // out first.
            OnBrowser::Version => Ok(self.version_of(session_ref)),
            OnBrowser::DownloadBehavior => self.set_download_behavior(session_ref, &command),
            OnBrowser::AutoAttach => self.set_auto_attach(session_ref, &command, turn),
            OnBrowser::DiscoverTargets => self.set_discover_targets(session_ref, &command, turn),
            OnBrowser::Targets => self.get_targets(session_ref, &command),
            OnBrowser::TargetInfo => self.target_info(session_ref, &command),
            OnBrowser::AttachToTarget => self.attach_to_target(session_ref, &command, turn),
            OnBrowser::AttachToBrowser => self.attach_to_browser_target(session_ref, turn),
            OnBrowser::DetachFromTarget => self.detach_from_target(session_ref, &command, turn),
            OnBrowser::Contexts => Ok(Payload::of(&json!({
                "browserContextIds": [],
                "defaultBrowserContextId": self.context_of(session_ref),
            }))),
            OnBrowser::DisposeContext => Err(no_such_context(&command)),
            OnBrowser::Nothing => Ok(Payload::empty_object()),
            OnBrowser::Refuse(reason) => Err(Error::server(reason)),
            OnBrowser::Unknown => Err(Error::unknown_method(&command.method)),
        };
        turn.reply(&Asker::new(session_ref, &command), outcome);
    }

    fn version_of(&self, session_ref: &SessionRef) -> Payload {
        let version = self.extension_of(session_ref).map(Extension::version);
        Payload::of(&version.unwrap_or_else(|| BrowserVersion::of(None, None)).cdp())
    }

    fn create_target(&mut self, session_ref: &SessionRef, command: Command, turn: &mut Turn) {
        let asker = Asker::new(session_ref, &command);
        let asked = command.read_params::<OneContext>().ok().and_then(|it| it.browser_context_id);
        if let Some(id) = asked.filter(|id| !id.is_empty() && *id != self.context_of(session_ref)) {
            let message = format!("Failed to find browser context with id {id}");
            return turn.fail(&asker, Error::server(message));
        }
        let Some(connection) = self.connection_of(session_ref) else { return };
        let request = Request::to_extension(connection, Purpose::Forward)
            .asked_by(asker)
            .until(turn.now + OPENING);
        let command = self.with_wanted_window(session_ref.client, command);
        let command = extension_command(command.method, None, command.params);
        self.ask_extension(request, |id| RelayMessage::Command { id, command }, turn);
    }
}

fn no_such_context(command: &Command) -> Error {
    match command.read_params::<OneContext>() {
        Ok(named) => {
            let id = named.browser_context_id.unwrap_or_default();
            Error::server(format!("Failed to find context with id {id}"))
        }
        Err(error) => error,
    }
}
