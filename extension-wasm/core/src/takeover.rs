//! Takes over from an earlier worker. Chrome may end a worker at any moment. The debugger stays
//! attached, and the next worker continues from the last snapshot.

use shared_protocol::{Payload, SessionId, TabId, TargetInfo};

use crate::interface::{Effect, Input, Snapshot, StoredChild, StoredTab};
use crate::state::{Child, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// Keeps an input that comes before the start; returns it if the worker has started.
    pub(crate) fn keep_for_later(&mut self, input: Input<P>) -> Option<Input<P>> {
        match (&mut self.backlog, input) {
            (None, input) | (Some(_), input @ Input::Started { .. }) => Some(input),
            (Some(backlog), input) => {
                backlog.push(input);
                None
            }
        }
    }

    pub(crate) fn restore(&mut self, snapshot: Snapshot<P>, effects: &mut Vec<Effect<P>>) {
        self.tabs.continue_sessions_from(snapshot.last_session);
        self.groups.restore(snapshot.groups, snapshot.grouped_tabs);
        self.windows.restore(snapshot.windows);
        self.auto_attach = snapshot.auto_attach;
        self.downloads.restore(snapshot.downloads);
        self.hidden_tabs.restore(snapshot.uses);
        for tab in snapshot.tabs {
            self.tabs.adopt(tab.tab_id, tab.session_id, tab.target_info, tab.crashed);
        }
        for tab in snapshot.waiting {
            self.tabs.set_state(tab, TabState::Waiting);
        }
        for tab in snapshot.lost {
            self.tabs.set_state(tab, TabState::Lost { tries: 0 });
            effects.push(Effect::CheckTab { tab });
        }
        for StoredChild { tab_id: tab, parent, attached } in snapshot.children {
            if self.tabs.is_attached(tab) {
                self.tabs.adopt_child(Child { tab, parent, attached });
            }
        }
        self.permissions.restore(snapshot.permissions, effects);
        if self.tabs.attached_tabs().next().is_some() {
            self.event_buffer.start();
        }
        if !self.permissions.is_empty() || self.tabs.attached_tabs().next().is_some() {
            // The relay may have ended together with the earlier worker.
            self.schedule_relay_given_up(effects);
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot<P> {
        let tab = |(tab_id, session, info): (TabId, &SessionId, &TargetInfo<P>)| StoredTab {
            tab_id,
            session_id: session.clone(),
            crashed: self.tabs.is_crashed(tab_id),
            target_info: info.clone(),
        };
        let (mut waiting, mut lost) = (Vec::new(), Vec::new());
        for id in self.tabs.ids() {
            match self.tabs.get(id).map(|tab| &tab.state) {
                Some(TabState::Waiting) => waiting.push(id),
                Some(TabState::Attaching(_) | TabState::Lost { .. } | TabState::Restricted) => {
                    lost.push(id);
                }
                Some(TabState::Attached { .. }) | None => {}
            }
        }
        let child = |child: &Child<P>| StoredChild {
            tab_id: child.tab,
            parent: child.parent.clone(),
            attached: child.attached.clone(),
        };
        Snapshot {
            last_session: self.tabs.last_session(),
            tabs: self.tabs.attached_tabs().map(tab).collect(),
            waiting,
            lost,
            uses: self.hidden_tabs.stored(),
            children: self.tabs.children().iter().map(child).collect(),
            groups: self.groups.ours(),
            grouped_tabs: self.groups.members(),
            windows: self.windows.stored(),
            permissions: self.permissions.changed(),
            downloads: self.downloads.reported(),
            auto_attach: self.auto_attach.clone(),
        }
    }
}
