//! Commands that a tab's debugger does not know and a browser would: the relay answers them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use shared_protocol::CloseCode;

use crate::Relay;
use crate::asker::Asker;
use crate::browser::cookies::is_profile_command;
use crate::cdp::payload::{Payload, RelayMessage};
use crate::cdp::version::BrowserVersion;
use crate::cdp::{Command, Error};
use crate::ids::SessionRef;
use crate::peers::extensions::Extension;
use crate::requests::pending::Request;
use crate::requests::purpose::Purpose;
use crate::requests::send::extension_command;
use crate::turn::Turn;

const NO_CONTEXTS: &str = "Browser contexts are not supported: this endpoint drives the user's \
                           existing browser profile; use the default context.";

/// How long a tab may take to open.
const OPENING: Duration = Duration::from_secs(30);

/// Returns whether a command on a target's session is the relay's to answer.
pub(crate) fn serves_on_target(method: &str) -> bool {
    method.starts_with("Browser.")
        || (method.starts_with("Target.") && method != "Target.setAutoAttach")
        || method == "Page.setDownloadBehavior"
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneContext {
    browser_context_id: Option<String>,
}

impl Relay {
    /// A command on a browser-level session, or one that is the browser's wherever it is sent.
    pub(crate) fn browser_command(
        &mut self,
        session_ref: &SessionRef,
        command: Command,
        turn: &mut Turn,
    ) {
        match command.method.as_str() {
            "Target.createTarget" => self.create_target(session_ref, command, turn),
            "Target.closeTarget" => self.close_target(session_ref, command, turn),
            "Target.activateTarget" => self.activate_target(session_ref, &command, turn),
            "Browser.close" => {
                turn.ok(&Asker::new(session_ref, &command));
                self.close_client(session_ref.client, CloseCode::Normal, "Browser.close", turn);
            }
            "Browser.getWindowForTarget"
            | "Browser.getWindowBounds"
            | "Browser.setWindowBounds"
            | "Browser.setContentsSize" => self.window_command(session_ref, &command, turn),
            "Browser.grantPermissions" | "Browser.setPermission" | "Browser.resetPermissions" => {
                self.permission_command(session_ref, &command, turn);
            }
            "Browser.cancelDownload" => self.cancel_download(session_ref, &command, turn),
            method if method.starts_with("Tracing.") || method.starts_with("IO.") => {
                self.stream_command(session_ref, command, turn);
            }
            method if is_profile_command(method) => {
                self.profile_command(session_ref, None, command, turn);
            }
            method if method.starts_with("Storage.") => {
                match self.storage_refusal(session_ref, &command) {
                    Some(error) => {
                        turn.fail(&Asker::new(session_ref, &command), error);
                    }
                    None => self.any_tab_command(session_ref, command, turn),
                }
            }
            _ => {
                let outcome = self.answer(session_ref, &command, turn);
                turn.reply(&Asker::new(session_ref, &command), outcome);
            }
        }
    }

    /// Answers without asking anyone. Events that belong before the answer go out first.
    fn answer(
        &mut self,
        session_ref: &SessionRef,
        command: &Command,
        turn: &mut Turn,
    ) -> Result<Payload, Error> {
        match command.method.as_str() {
            "Browser.getVersion" => {
                let version = self.extension_of(session_ref).map(Extension::version);
                Ok(Payload::of(&version.unwrap_or_else(|| BrowserVersion::of(None, None)).cdp()))
            }
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => {
                self.set_download_behavior(session_ref, command)
            }
            "Browser.crash" | "Browser.crashGpuProcess" => {
                Err(Error::server("Not allowed: this is the user's own browser"))
            }
            "Runtime.runIfWaitingForDebugger" | "Target.setRemoteLocations" => {
                Ok(Payload::empty_object())
            }
            "Security.setIgnoreCertificateErrors" => Err(Error::server(
                "Not allowed: certificates of the user's own browser are checked for the user",
            )),
            "Target.setAutoAttach" => self.set_auto_attach(session_ref, command, turn),
            "Target.setDiscoverTargets" => self.set_discover_targets(session_ref, command, turn),
            "Target.getTargets" => self.get_targets(session_ref, command),
            "Target.getTargetInfo" => self.target_info(session_ref, command),
            "Target.attachToTarget" => self.attach_to_target(session_ref, command, turn),
            "Target.attachToBrowserTarget" => self.attach_to_browser_target(session_ref, turn),
            "Target.detachFromTarget" => self.detach_from_target(session_ref, command, turn),
            "Target.getBrowserContexts" => Ok(Payload::of(&json!({
                "browserContextIds": [],
                "defaultBrowserContextId": self.context_of(session_ref),
            }))),
            "Target.createBrowserContext" => Err(Error::server(NO_CONTEXTS)),
            "Target.disposeBrowserContext" => {
                let id =
                    command.read_params::<OneContext>()?.browser_context_id.unwrap_or_default();
                Err(Error::server(format!("Failed to find context with id {id}")))
            }
            "Target.getDevToolsTarget" => Ok(Payload::empty_object()),
            "Target.openDevTools" => {
                Err(Error::server("Not allowed: DevTools are the user's to open"))
            }
            "Target.exposeDevToolsProtocol" | "Target.autoAttachRelated" => {
                Err(Error::server("Not supported"))
            }
            method => Err(Error::unknown_method(method)),
        }
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
