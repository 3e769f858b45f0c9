//! Runs the commands that the relay sends.

use serde::{Deserialize, Serialize};
use shared_protocol::{CdpCommand, Payload, SessionId, TabId, TargetId};

use super::CRASHED;
use super::create::CreateTarget;
use crate::interface::{Debuggee, Effect, RequestRef};
use crate::methods::Method;
use crate::state::RequestedTab;
use crate::worker::{NoFields, Worker};

impl<P: Payload> Worker<P> {
    pub(crate) fn run_command(
        &mut self,
        request: RequestRef,
        command: CdpCommand<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match (Method::of(&command.method), &command.session_id) {
            (Method::CreateTarget, _) => {
                let create = command.params.as_ref().and_then(|p| p.read::<CreateTarget>().ok());
                let requested = RequestedTab { request, initial: false };
                return self.open_tab(requested, create.unwrap_or_default(), effects);
            }
            (Method::AutoAttach, None) => {
                return self.auto_attach_everywhere(request, command.params, effects);
            }
            _ => {}
        }
        match self.find_debuggee(&command) {
            Ok(debuggee) => self.run_in_tab(request, debuggee, command, effects),
            Err(why) => self.reply(request, Err(why), effects),
        }
    }

    pub(crate) fn run_in_tab(
        &mut self,
        request: RequestRef,
        debuggee: Debuggee,
        command: CdpCommand<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let tab = debuggee.tab_id;
        let method = Method::of(&command.method);
        if self.tabs.is_crashed(tab) {
            if method != Method::CloseTarget {
                return self.reply(request, Err(CRASHED.to_owned()), effects);
            }
            // The debugger cannot close a crashed tab, but `chrome.tabs` can.
            effects.push(Effect::CloseTabs { tabs: vec![tab] });
            return self.reply(request, Ok(P::write(&Closed { success: true }).ok()), effects);
        }
        let is_tree_awaited =
            self.unforwarded_replies > 0 || self.in_flight.asks_frame_tree(&debuggee);
        if method.causes_frame_events() && is_tree_awaited {
            // Chrome's events overtake its answers, and Playwright ignores events about frames that
            // it does not know yet. Our relays keep the order; released ones do not.
            self.in_flight.add(request, debuggee.clone(), method);
            return self.held_commands.push((request, debuggee, command));
        }
        self.is_snapshot_stale |= method.changes_stored_use();
        self.hidden_tabs.before_command(tab, method, command.params.as_ref(), effects);
        match method {
            Method::EnableRuntime if self.tabs.enable_runtime(&debuggee) => {
                // Chrome reports execution contexts only when Runtime was off before.
                effects.push(Effect::own_command(debuggee.clone(), "Runtime.disable", None));
            }
            Method::DisableRuntime => self.tabs.disable_runtime(&debuggee),
            Method::AddScript => self.scripts_added += 1,
            Method::CaptureScreenshot => {
                effects.push(Effect::ForceFrameLater { tab, request, forced: 0 });
            }
            Method::CreateTarget
            | Method::CloseTarget
            | Method::AutoAttach
            | Method::EnableRuntime
            | Method::RunIfWaiting
            | Method::GetFrameTree
            | Method::StartScreencast
            | Method::StopScreencast
            | Method::SetFocusEmulation
            | Method::UsesPage
            | Method::Other => {}
        }
        self.in_flight.add(request, debuggee.clone(), method);
        effects.push(Effect::RunCommand {
            request: Some(request),
            debuggee,
            method: command.method,
            params: command.params,
        });
    }

    /// Returns the debuggee of a command: the session that it names, or the target that its
    /// parameters name.
    fn find_debuggee(&self, command: &CdpCommand<P>) -> Result<Debuggee, String> {
        if let Some(session) = &command.session_id {
            return self
                .tabs
                .find_session(session)
                .ok_or_else(|| format!("No tab found for sessionId: {session}"));
        }
        let named = command.params.as_ref().and_then(|params| params.read::<NamedTarget>().ok());
        named
            .and_then(|NamedTarget { session_id, target_id }| {
                let by_session = session_id.and_then(|session| self.tabs.find_session(&session));
                by_session.or_else(|| target_id.and_then(|target| self.tabs.find_target(&target)))
            })
            .ok_or_else(|| format!("No tab found for method {}", command.method))
    }

    /// Attaches to the children of all tabs, of later ones too. Older relays ask for that only
    /// once.
    fn auto_attach_everywhere(
        &mut self,
        request: RequestRef,
        params: Option<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.auto_attach = params;
        self.is_snapshot_stale = true;
        let tabs: Vec<TabId> = self.tabs.attached_tabs().map(|(tab, ..)| tab).collect();
        for tab in tabs {
            self.auto_attach_children(tab, effects);
        }
        self.reply(request, Ok(P::write(&NoFields {}).ok()), effects);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NamedTarget {
    session_id: Option<SessionId>,
    target_id: Option<TargetId>,
}

#[derive(Serialize)]
struct Closed {
    success: bool,
}
