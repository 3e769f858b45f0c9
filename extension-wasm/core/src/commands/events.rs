//! Forwards the events of `chrome.debugger`, and notes what they say about targets.

use shared_protocol::{
    AttachedToTarget, CdpEvent, DetachedFromTarget, Extra, Payload, SessionId, TabId,
};

use super::CRASHED;
use crate::interface::{Debuggee, Effect};
use crate::methods::Event;
use crate::state::{Child, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    pub(crate) fn debugger_event(
        &mut self,
        tab: TabId,
        child: Option<SessionId>,
        method: String,
        params: P,
        effects: &mut Vec<Effect<P>>,
    ) {
        let kind = Event::of(&method);
        let Some(session) = self.tabs.session(tab).cloned() else {
            if kind == Event::DialogOpened {
                self.dismiss_early_dialog(tab, effects);
            }
            return;
        };
        let mut crashed = None;
        match kind {
            Event::ChildAttached => {
                if let Ok(attached) = params.read::<AttachedToTarget<P>>() {
                    if attached.waiting_for_debugger && !self.connection.is_open() {
                        // There is no client that could let the child run.
                        let session_id = Some(attached.session_id.clone());
                        let debuggee = Debuggee { tab_id: tab, session_id };
                        let method = "Runtime.runIfWaitingForDebugger";
                        effects.push(Effect::own_command(debuggee, method, None));
                    }
                    self.log_missing_url(&attached.target_info, effects);
                    let parent = child.clone();
                    self.tabs.add_child(Child { tab, parent, attached });
                    self.is_snapshot_stale = true;
                }
            }
            Event::ChildDetached => {
                if let Ok(detached) = params.read::<DetachedFromTarget<P>>() {
                    self.tabs.remove_child(&detached.session_id);
                    self.is_snapshot_stale = true;
                }
            }
            Event::FrameNavigated if child.is_none() => self.tabs.reset_losses(tab),
            Event::PageChanged if child.is_none() => {
                effects.push(Effect::ReadTargetInfo { tab });
            }
            Event::Crashed if child.is_none() => crashed = Some(true),
            Event::Reloaded if child.is_none() => crashed = Some(false),
            Event::FrameNavigated
            | Event::PageChanged
            | Event::Crashed
            | Event::Reloaded
            | Event::DialogOpened
            | Event::Dropped
            | Event::Other => {}
        }
        let session_id = Some(child.unwrap_or(session));
        let event = CdpEvent { session_id, method, params: Some(params), extra: Extra::default() };
        self.send_event(event, effects);
        // Clients hear of a crash before the commands that were waiting fail.
        if let Some(is_dead) = crashed {
            self.set_crashed(tab, is_dead, effects);
        }
    }

    /// Marks a tab as crashed or alive. A dead renderer never answers, so its commands fail here.
    fn set_crashed(&mut self, id: TabId, is_dead: bool, effects: &mut Vec<Effect<P>>) {
        if let Some(TabState::Attached { crashed, .. }) =
            self.tabs.get_mut(id).map(|tab| &mut tab.state)
        {
            *crashed = is_dead;
        }
        if is_dead {
            for request in self.in_flight.of_tab(id) {
                self.reply(request, Err(CRASHED.to_owned()), effects);
            }
        }
        self.show(id, effects);
    }
}
