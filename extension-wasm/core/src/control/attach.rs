//! Attaches the debugger to tabs, and announces them to the relay.

use serde::Serialize;
use shared_protocol::{Extra, InitialTab, LogLevel, Payload, TabId, TargetId, TargetInfo};

use super::reattach::{MAX_TRIES, SECOND_TRY};
use crate::interface::{Debuggee, Effect, RequestRef, WindowId};
use crate::messages::{attached_event, lacks_url, with_url};
use crate::state::{Attaching, RequestedTab, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    pub(crate) fn icon_clicked(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.attach_errors.remove(tab);
        self.grouped_by_others.remove(tab);
        match self.tabs.get_mut(tab).map(|tab| &mut tab.state) {
            Some(TabState::Attaching(attaching)) if attaching.unresponsive.is_none() => {
                attaching.cancelled = !attaching.cancelled;
            }
            Some(
                TabState::Waiting
                | TabState::Attaching(_)
                | TabState::Attached { .. }
                | TabState::Lost { .. }
                | TabState::Restricted,
            ) => self.release(tab, effects),
            None if self.connection.is_open() => self.attach(tab, Attaching::default(), effects),
            None => {
                self.tabs.set_state(tab, TabState::Waiting);
                self.is_snapshot_stale = true;
                self.connection.retry(None, effects);
                self.show(tab, effects);
            }
        }
    }

    pub(crate) fn attach(
        &mut self,
        tab: TabId,
        attaching: Attaching,
        effects: &mut Vec<Effect<P>>,
    ) {
        self.tabs.set_state(tab, TabState::Attaching(attaching));
        self.is_snapshot_stale = true;
        effects.push(Effect::Attach { tab });
        self.show(tab, effects);
    }

    pub(crate) fn tab_created(
        &mut self,
        request: RequestRef,
        outcome: Result<(TabId, Option<WindowId>), String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let own = outcome.as_ref().ok().and_then(|(tab, window)| Some((*tab, (*window)?)));
        self.windows.tab_opened(request, own, effects);
        self.is_snapshot_stale = true;
        let index = self.requested_tabs.iter().position(|requested| requested.request == request);
        let requested = index.map(|index| self.requested_tabs.swap_remove(index));
        match outcome {
            Ok((tab, _)) if self.connection.is_open_for(request.attempt) => {
                self.attach(tab, Attaching::default(), effects);
                if let Some(tab) = self.tabs.get_mut(tab) {
                    tab.requested = requested;
                }
            }
            // The relay that asked for the tab is gone, and no client knows of the tab.
            Ok((tab, _)) => effects.push(Effect::CloseTabs { tabs: vec![tab] }),
            Err(why) => self.reply(request, Err(why), effects),
        }
    }

    pub(crate) fn attached(
        &mut self,
        id: TabId,
        outcome: Result<TargetInfo<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let attaching = match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Attaching(attaching)) => *attaching,
            // The tab was closed while the debugger was being attached.
            _ => return,
        };
        match outcome {
            Ok(_) if attaching.cancelled => {
                self.detach(id, effects);
                self.forget(id, effects);
            }
            Err(_) if attaching.cancelled => self.forget(id, effects),
            Ok(info) => {
                self.log_missing_url(&info, effects);
                self.start_controlling(id, with_url(info), effects);
            }
            Err(why) => self.attach_failed(id, attaching, why, effects),
        }
    }

    fn start_controlling(&mut self, id: TabId, info: TargetInfo<P>, effects: &mut Vec<Effect<P>>) {
        let requested = self.tabs.get_mut(id).and_then(|tab| {
            tab.popup = None;
            tab.requested.take()
        });
        // If the relay that asked for the tab is gone, the next relay receives the usual event.
        let requested =
            requested.filter(|requested| self.connection.is_open_for(requested.request.attempt));
        let session = self.tabs.start_session(id, info.clone());
        self.is_snapshot_stale = true;
        self.auto_attach_children(id, effects);
        if self.connection.is_open() {
            match requested {
                Some(RequestedTab { request, initial: true }) => {
                    let tab = InitialTab {
                        success: true,
                        tab_id: id,
                        session_id: session,
                        target_info: info,
                        extra: Extra::<P>::default(),
                    };
                    self.reply_with(request, &tab, effects);
                }
                Some(RequestedTab { request, initial: false }) => {
                    let created = TargetCreated { target_id: info.target_id.clone() };
                    effects.push(attached_event(session, info));
                    self.reply_with(request, &created, effects);
                }
                None => effects.push(attached_event(session, info)),
            }
        }
        if !self.windows.is_separate() && !self.windows.owns(id) {
            self.groups.add(id, effects);
        }
        self.show(id, effects);
    }

    fn attach_failed(
        &mut self,
        id: TabId,
        attaching: Attaching,
        why: String,
        effects: &mut Vec<Effect<P>>,
    ) {
        match attaching.tries {
            Some(_) if is_restricted_page(&why) => {
                self.tabs.set_state(id, TabState::Restricted);
                self.show(id, effects);
            }
            Some(tries) if tries < MAX_TRIES => {
                self.tabs.set_state(id, TabState::Lost { tries: tries + 1 });
                let wait = SECOND_TRY * 4_u32.pow(tries);
                effects.push(Effect::ReattachLater { tab: id, wait });
                self.show(id, effects);
            }
            Some(_) | None => {
                if let Some(requested) = self.tabs.get_mut(id).and_then(|tab| tab.requested.take())
                {
                    self.reply(requested.request, Err(why.clone()), effects);
                    effects.push(Effect::CloseTabs { tabs: vec![id] });
                }
                self.log(format!("tab {id} cannot be controlled: {why}"), effects);
                self.attach_errors.insert(id, why);
                self.forget(id, effects);
            }
        }
    }

    /// Logs a warning about a target that is announced without a URL.
    pub(crate) fn log_missing_url(&self, info: &TargetInfo<P>, effects: &mut Vec<Effect<P>>) {
        if lacks_url(info) {
            let text = "WARNING: Target.attachedToTarget will be sent with empty URL!".to_owned();
            self.log_as(LogLevel::Error, text, effects);
        }
    }

    pub(crate) fn auto_attach_children(&self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        if self.auto_attach.is_some() {
            let params = self.auto_attach.clone();
            effects.push(Effect::own_command(Debuggee::tab(tab), "Target.setAutoAttach", params));
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetCreated {
    target_id: TargetId,
}

/// Returns true if Chrome refuses the page that a tab shows, and not the tab itself.
pub fn is_restricted_page(why: &str) -> bool {
    [
        "Cannot access a chrome",
        "Cannot access contents of",
        "Cannot access an edge",
        "The extensions gallery cannot be scripted",
        // The tab shows a warning, for example about a bad certificate.
        "Cannot attach to this target",
    ]
    .iter()
    .any(|refusal| why.starts_with(refusal))
}
