//! Taking tabs under control, giving them back, and getting back those that were taken away.

use std::time::Duration;

use serde::Serialize;
use shared_protocol::{
    DetachedFromTarget, Extra, InitialTab, Payload, SessionId, TabId, TargetId, TargetInfo,
};

use super::groups::{GroupChange, GroupId};
use super::tabs::{Attaching, RequestedTab, TabState};
use super::windows::WindowId;
use super::{Effect, RequestRef, Worker, attached_event, event, with_url};

/// How often a tab whose debugger was taken away is tried again before it is given up.
const MAX_TRIES: u32 = 5;

/// How long to wait before the second try; four times as long before each later one.
const SECOND_TRY: Duration = Duration::from_millis(250);

impl<P: Payload> Worker<P> {
    pub(super) fn icon_clicked(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
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

    pub(super) fn attach(
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

    pub(super) fn tab_created(
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
            // The relay that wanted the tab has gone, and nobody knows of the tab: it was ours.
            Ok((tab, _)) => effects.push(Effect::CloseTabs { tabs: vec![tab] }),
            Err(why) => self.reply(request, Err(why), effects),
        }
    }

    pub(super) fn attached(
        &mut self,
        id: TabId,
        outcome: Result<TargetInfo<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let attaching = match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Attaching(attaching)) => *attaching,
            // Closed while it was being attached.
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
        // A relay that has gone meanwhile asked for it; the next one hears of it as of any tab.
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

    /// Chrome has taken the debugger off a tab.
    pub(super) fn debugger_detached(
        &mut self,
        id: TabId,
        reason: &str,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(tab) = self.tabs.get_mut(id) else { return };
        if !matches!(tab.state, TabState::Attached { .. }) {
            if reason != "target_closed" {
                // It may be one that has not answered yet.
                self.give_up_lost_tabs(effects);
            }
            return;
        }
        self.log(format!("tab {id} was detached: {reason}"), effects);
        if reason != "target_closed" {
            // The user pressed Cancel, or opened something that wants the tab for itself.
            self.forget(id, effects);
            return self.give_up_lost_tabs(effects);
        }
        // The tab may live: Chrome says the same when it shows a page that is not for us.
        let tries = self.tabs.count_loss(id);
        if tries > MAX_TRIES {
            return self.forget(id, effects);
        }
        self.end_session(id, TabState::Lost { tries }, effects);
        effects.push(match tries {
            0 => Effect::CheckTab { tab: id },
            _ => Effect::ReattachLater { tab: id, wait: SECOND_TRY * 4_u32.pow(tries - 1) },
        });
        self.show(id, effects);
    }

    /// Who says no to one tab says no to those that we would take back by ourselves.
    fn give_up_lost_tabs(&mut self, effects: &mut Vec<Effect<P>>) {
        for id in self.tabs.ids() {
            match self.tabs.get(id).map(|tab| &tab.state) {
                Some(
                    TabState::Lost { .. }
                    | TabState::Restricted
                    | TabState::Attaching(Attaching { tries: Some(_), .. }),
                ) => self.release(id, effects),
                Some(TabState::Waiting | TabState::Attaching(_) | TabState::Attached { .. })
                | None => {}
            }
        }
    }

    pub(super) fn tab_checked(&mut self, id: TabId, exists: bool, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Lost { tries }) if exists => {
                let attaching = Attaching { tries: Some(*tries), ..Attaching::default() };
                self.attach(id, attaching, effects);
            }
            Some(TabState::Lost { .. }) => self.forget(id, effects),
            Some(
                TabState::Waiting
                | TabState::Attaching(_)
                | TabState::Attached { .. }
                | TabState::Restricted,
            )
            | None => {}
        }
    }

    /// A tab shows, or begins to show, another page.
    pub(super) fn tab_navigated(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get(id).map(|tab| &tab.state) {
            Some(TabState::Restricted) => {
                let attaching = Attaching { tries: Some(0), ..Attaching::default() };
                self.attach(id, attaching, effects);
            }
            Some(
                TabState::Waiting
                | TabState::Attaching(_)
                | TabState::Attached { .. }
                | TabState::Lost { .. },
            ) => self.show(id, effects),
            None => {
                self.attach_errors.remove(id);
            }
        }
    }

    /// What a tab shows has been asked for again.
    pub(super) fn target_info_read(
        &mut self,
        id: TabId,
        info: TargetInfo<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(TabState::Attached { info: known, .. }) =
            self.tabs.get_mut(id).map(|tab| &mut tab.state)
        else {
            return;
        };
        let info = with_url(info);
        if known.url == info.url && known.title == info.title {
            return;
        }
        known.clone_from(&info);
        self.is_snapshot_stale = true;
        self.send_event(
            event("Target.targetInfoChanged", &TargetInfoChanged { target_info: info }),
            effects,
        );
    }

    pub(super) fn tab_regrouped(
        &mut self,
        tab: TabId,
        group: Option<GroupId>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let is_controlled = self.tabs.get(tab).is_some();
        match self.groups.classify(tab, group, is_controlled) {
            GroupChange::Joined => {
                effects.push(Effect::TryUngroup { tab, groups: self.groups.ours() })
            }
            GroupChange::Left => effects.push(Effect::ReadGroup { tab }),
            GroupChange::Irrelevant => {}
        }
    }

    /// A tab that came into the group was to be taken out again, which Chrome refuses while the user
    /// drags it.
    pub(super) fn ungroup_tried(
        &mut self,
        tab: TabId,
        is_dragged: Option<bool>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match is_dragged {
            // It was handed over in another way meanwhile.
            _ if self.tabs.get(tab).is_some() => {}
            Some(true) => self.icon_clicked(tab, effects),
            Some(false) => {
                self.grouped_by_others.insert(tab);
                self.show(tab, effects);
            }
            None => {}
        }
    }

    /// Where a tab is whose group has changed.
    pub(super) fn group_read(
        &mut self,
        tab: TabId,
        group: Option<GroupId>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let is_controlled = self.tabs.get(tab).is_some();
        match self.groups.classify(tab, group, is_controlled) {
            GroupChange::Left if self.groups.regroup_moved_tab(tab, effects) => {}
            GroupChange::Left => self.release(tab, effects),
            GroupChange::Joined => {
                effects.push(Effect::TryUngroup { tab, groups: self.groups.ours() })
            }
            GroupChange::Irrelevant => {}
        }
    }

    /// Gives a tab back to its user.
    pub(super) fn release(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        match self.tabs.get_mut(id).map(|tab| &mut tab.state) {
            // Chrome is at it; when it is done, the tab is let go.
            Some(TabState::Attaching(attaching)) => {
                let was_cancelled = std::mem::replace(&mut attaching.cancelled, true);
                if attaching.unresponsive.is_some() && !was_cancelled {
                    // Which makes it done.
                    self.detach(id, effects);
                }
                return;
            }
            Some(TabState::Attached { .. }) => self.detach(id, effects),
            Some(TabState::Waiting | TabState::Lost { .. } | TabState::Restricted) | None => {}
        }
        self.forget(id, effects);
    }

    pub(super) fn detach(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.detaching.insert(tab);
        effects.push(Effect::Detach { tab });
    }

    /// Forgets a tab whose debugger is off, and tells the relay.
    pub(super) fn forget(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        if self.tabs.get(id).is_none() {
            return;
        }
        self.end_session(id, TabState::Waiting, effects);
        let gone = self.tabs.remove(id);
        if let Some(requested) = gone.and_then(|tab| tab.requested) {
            self.reply(requested.request, Err("The tab was closed".to_owned()), effects);
        }
        self.groups.remove(id, effects);
        let Self { windows, tabs, .. } = self;
        windows.close_if_unused(|tab| tabs.get(tab).is_some(), effects);
        self.is_snapshot_stale = true;
        self.show(id, effects);
    }

    /// The tab itself is gone.
    pub(super) fn tab_removed(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        self.windows.tab_removed(id);
        self.attach_errors.remove(id);
        self.grouped_by_others.remove(id);
        self.tabs.reset_losses(id);
        self.announce_short_popup(id, effects);
        self.forget(id, effects);
    }

    /// Ends the session of a tab, which goes into another state.
    fn end_session(&mut self, id: TabId, next: TabState<P>, effects: &mut Vec<Effect<P>>) {
        let Some(tab) = self.tabs.get_mut(id) else { return };
        let last = std::mem::replace(&mut tab.state, next);
        self.tabs.forget_children(id);
        self.hidden_tabs.forget(id);
        self.is_snapshot_stale = true;
        if let TabState::Attached { session, info, .. } = last {
            self.send_event(event("Target.detachedFromTarget", &detached(session, info)), effects);
        }
    }

    pub(super) fn reply_with(
        &self,
        request: RequestRef,
        answer: &impl Serialize,
        effects: &mut Vec<Effect<P>>,
    ) {
        let answer = P::write(answer).map(Some).map_err(|error| error.to_string());
        self.reply(request, answer, effects);
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TargetCreated {
    target_id: TargetId,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", bound(serialize = "P: Serialize"))]
struct TargetInfoChanged<P> {
    target_info: TargetInfo<P>,
}

fn detached<P>(session_id: SessionId, info: TargetInfo<P>) -> DetachedFromTarget<P> {
    DetachedFromTarget { session_id, target_id: Some(info.target_id), extra: Extra::default() }
}

/// Whether Chrome refuses the page that a tab shows, rather than the tab.
pub fn is_restricted_page(why: &str) -> bool {
    [
        "Cannot access a chrome",
        "Cannot access contents of",
        "Cannot access an edge",
        "The extensions gallery cannot be scripted",
        // It shows a warning, such as of a bad certificate.
        "Cannot attach to this target",
    ]
    .iter()
    .any(|refusal| why.starts_with(refusal))
}
