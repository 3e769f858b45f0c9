//! Popups. Chrome tells of one when it is there, so what it does at once is done before the debugger is
//! attached.

use serde::Serialize;
use shared_protocol::{Payload, TabId, TargetId, TargetInfo};

use super::tabs::{Attaching, Debuggee, TabState};
use super::{Effect, Worker, announcement, with_url};

impl<P: Payload> Worker<P> {
    /// What a controlled tab opens is controlled as well, if it is on the web: a file that is dropped on
    /// a page opens in a tab like this, too.
    pub(super) fn popup_opened(
        &mut self,
        tab: TabId,
        opener: TabId,
        url: &str,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(TabState::Attached { info, .. }) = self.tabs.get(opener).map(|tab| &tab.state)
        else {
            return;
        };
        if is_web(url) && self.tabs.get(tab).is_none() && self.connection.is_open() {
            let popup = with_url(TargetInfo {
                target_id: TargetId::new(format!("popup-{tab}")),
                url: url.to_owned(),
                opener_id: Some(info.target_id.clone()),
                ..info.clone()
            });
            if self.windows.owns(opener) {
                self.windows.own(tab);
            }
            self.attach(tab, Attaching { tries: Some(0), ..Attaching::default() }, effects);
            if let Some(tab) = self.tabs.get_mut(tab) {
                tab.popup = Some(popup);
            }
        }
    }

    /// A popup that closed before it was attached came and went: clients wait for it.
    pub(super) fn announce_short_popup(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        let popup = self.tabs.get_mut(id).and_then(|tab| tab.popup.take());
        if let Some(info) = popup.filter(|_| self.connection.is_open()) {
            let session = self.tabs.attached(id, info.clone());
            effects.push(announcement(session, info));
        }
    }

    /// Dismisses a dialog that a popup opens before clients can know of it: it would hold up its
    /// opener, too, which runs in the same process.
    pub(super) fn dismiss_early_dialog(&self, id: TabId, effects: &mut Vec<Effect<P>>) {
        if self.tabs.get(id).is_some_and(|tab| tab.popup.is_some()) {
            effects.push(Effect::RunCommand {
                ticket: None,
                debuggee: Debuggee::tab(id),
                method: "Page.handleJavaScriptDialog".to_owned(),
                params: P::write(&Dismiss { accept: false }).ok(),
            });
        }
    }

    /// As [`Worker::dismiss_early_dialog`], for one that was there before the debugger, to which Chrome
    /// shows no dialog that it could answer. A navigation closes every dialog as it begins, and one to
    /// such an address goes no further. It would end another that is under way.
    pub(super) fn close_earlier_dialog(&self, id: TabId, effects: &mut Vec<Effect<P>>) {
        if self.tabs.get(id).is_some_and(|tab| tab.popup.is_some()) {
            effects.push(Effect::RunCommand {
                ticket: None,
                debuggee: Debuggee::tab(id),
                method: "Page.navigate".to_owned(),
                params: P::write(&Nowhere { url: "data:," }).ok(),
            });
        }
    }
}

#[derive(Serialize)]
struct Dismiss {
    accept: bool,
}

#[derive(Serialize)]
struct Nowhere {
    url: &'static str,
}

/// Whether a page comes from the web, or is empty.
fn is_web(url: &str) -> bool {
    let scheme = url.split_once(':').map_or(url, |(scheme, _)| scheme);
    url.is_empty() || matches!(scheme, "http" | "https" | "about" | "data" | "blob")
}
