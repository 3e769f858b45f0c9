//! What the relay asks of tabs, and what Chrome answers.

use serde::{Deserialize, Serialize};
use shared_protocol::{CdpCommand, Payload, SessionId, TabId, TargetId};

use super::CRASHED;
use super::create::CreateTarget;
use crate::interface::{Debuggee, Effect, RequestRef};
use crate::messages::internal_command;
use crate::state::{HiddenTabs, RequestedTab};
use crate::worker::{NoFields, Worker};

impl<P: Payload> Worker<P> {
    pub(crate) fn run_command(
        &mut self,
        request: RequestRef,
        command: CdpCommand<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match (command.method.as_str(), &command.session_id) {
            ("Target.createTarget", _) => {
                let create = command.params.as_ref().and_then(|p| p.read::<CreateTarget>().ok());
                let requested = RequestedTab { request, initial: false };
                return self.open_tab(requested, create.unwrap_or_default(), effects);
            }
            ("Target.setAutoAttach", None) => {
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
        if self.tabs.is_crashed(tab) {
            if command.method != "Target.closeTarget" {
                return self.reply(request, Err(CRASHED.to_owned()), effects);
            }
            // Its debugger is as dead as its page, but Chrome is not.
            effects.push(Effect::CloseTabs { tabs: vec![tab] });
            return self.reply(request, Ok(P::write(&Closed { success: true }).ok()), effects);
        }
        let is_tree_awaited =
            self.unforwarded_replies > 0 || self.in_flight.asks_frame_tree(&debuggee);
        if causes_frame_events(&command.method) && is_tree_awaited {
            // Events of Chrome overtake its answers, and Playwright misses what happens to frames
            // that it has not heard of yet. Relays of ours keep the order; released ones do not.
            self.in_flight.add(request, debuggee.clone(), &command.method);
            return self.held_commands.push((request, debuggee, command));
        }
        self.is_snapshot_stale |= HiddenTabs::changes_stored_use(&command.method);
        self.hidden_tabs.before_command(tab, &command.method, command.params.as_ref(), effects);
        match command.method.as_str() {
            "Runtime.enable" if self.tabs.enable_runtime(&debuggee) => {
                // Chrome tells of execution contexts only when Runtime was off before.
                effects.push(internal_command(tab, debuggee.session_id.clone(), "Runtime.disable"));
            }
            "Runtime.disable" => self.tabs.disable_runtime(&debuggee),
            "Page.addScriptToEvaluateOnNewDocument" => self.scripts_added += 1,
            "Page.captureScreenshot" => {
                effects.push(Effect::ForceFrameLater { tab, request, forced: 0 });
            }
            _ => {}
        }
        self.in_flight.add(request, debuggee.clone(), &command.method);
        effects.push(Effect::RunCommand {
            request: Some(request),
            debuggee,
            method: command.method,
            params: command.params,
        });
    }

    /// Where a command runs: in the session it names, or the one that its parameters name.
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

    /// Older relays say once, for all tabs and those to come, that children are wanted.
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

/// Whether a command is followed by events about frames: their contexts, or where they go.
fn causes_frame_events(method: &str) -> bool {
    matches!(method, "Runtime.enable" | "Runtime.runIfWaitingForDebugger")
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
