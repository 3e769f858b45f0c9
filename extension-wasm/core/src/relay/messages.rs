//! Dispatches the messages of the relay.

use shared_protocol::{DownloadId, ExtensionMessage, Payload, RelayMessage};

use crate::interface::{Attempt, Effect, RequestRef};
use crate::state::RequestedTab;
use crate::worker::{NoFields, Worker};

impl<P: Payload> Worker<P> {
    /// Passes a message to the part that it concerns. It is long because it has one arm for each message.
    pub(crate) fn relay_sent(
        &mut self,
        attempt: Attempt,
        message: RelayMessage<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match message {
            RelayMessage::Ping => {
                effects.push(Effect::Send(ExtensionMessage::Pong));
                if self.connection.mark_as_older() {
                    self.show_all(effects);
                }
            }
            RelayMessage::Command { id, command } => {
                self.run_command(RequestRef { attempt, id }, command, effects);
            }
            RelayMessage::CreateInitialTab { id, params, .. } => {
                let requested = RequestedTab { request: RequestRef { attempt, id }, initial: true };
                let create = params.and_then(|params| params.read().ok()).unwrap_or_default();
                self.open_tab(requested, create, effects);
            }
            RelayMessage::SetWindowMode(mode, _) => {
                self.connection.mark_as_ours();
                self.windows.set_separate(mode.separate_window);
                self.is_snapshot_stale = true;
            }
            RelayMessage::GetWindow { id, query, .. } => {
                self.read_window(RequestRef { attempt, id }, &query, effects);
            }
            RelayMessage::SetWindow { id, change, .. } => {
                self.change_window(RequestRef { attempt, id }, &change, effects);
            }
            RelayMessage::ActivateTab { id, tab, .. } => {
                self.activate_tab(RequestRef { attempt, id }, &tab.target_id, effects);
            }
            RelayMessage::BlankTab { id, tab, .. } => {
                self.leave_page(RequestRef { attempt, id }, &tab.target_id, false, effects);
            }
            RelayMessage::CloseTab { id, tab, .. } => {
                self.leave_page(RequestRef { attempt, id }, &tab.target_id, true, effects);
            }
            RelayMessage::SetPermissions { id, permissions, .. } => {
                self.permissions.replace(RequestRef { attempt, id }, permissions.rules, effects);
                self.is_snapshot_stale = true;
            }
            RelayMessage::FindDownload { id, query, .. } => {
                self.downloads.find(RequestRef { attempt, id }, query, effects);
            }
            RelayMessage::CancelDownload { id, download, .. } => {
                let request = RequestRef { attempt, id };
                let DownloadId { id: download, remove, .. } = download;
                if self.downloads.is_reported(download) {
                    effects.push(Effect::CancelDownload { request, download, remove });
                } else {
                    // Chrome, too, answers so for a download that it does not know.
                    self.reply_with(request, &NoFields {}, effects);
                }
            }
            RelayMessage::CallCookies { id, calls, .. } => {
                self.call_cookies(RequestRef { attempt, id }, calls, effects);
            }
            RelayMessage::SetNotice(notice, _) => {
                self.connection.set_notice(notice.text);
                self.show_all(effects);
            }
            RelayMessage::Unknown { id: Some(id), .. } => {
                // Released extensions answer this to a method that they do not know.
                self.reply(RequestRef { attempt, id }, Ok(None), effects);
            }
            RelayMessage::Unknown { id: None, .. } => {}
        }
    }
}
