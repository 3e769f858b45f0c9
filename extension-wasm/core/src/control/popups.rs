//! Popups. Chrome reports a popup when it is open already, so the popup may do something before the
//! debugger is attached.

use serde::Serialize;
use shared_protocol::{Payload, TabId, TargetId, TargetInfo};

use crate::interface::{Debuggee, Effect};
use crate::messages::{attached_event, with_url};
use crate::state::{Attaching, TabState};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// Takes a popup of a controlled tab under control, if its page comes from the web. A file that
    /// is dropped on a page opens in such a tab, too.
    pub(crate) fn popup_opened(
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
        if is_web_page(url) && self.tabs.get(tab).is_none() && self.connection.is_open() {
            let popup = with_url(TargetInfo {
                target_id: TargetId::new(format!("popup-{tab}")),
                url: url.to_owned(),
                opener_id: Some(info.target_id.clone()),
                ..info.clone()
            });
            if self.windows.owns(opener) {
                self.windows.add_owned(tab);
            }
            self.attach(tab, Attaching { tries: Some(0), ..Attaching::default() }, effects);
            if let Some(tab) = self.tabs.get_mut(tab) {
                tab.popup = Some(popup);
            }
        }
    }

    /// Announces a popup that was closed before it was attached. Clients wait for it.
    pub(crate) fn announce_short_popup(&mut self, id: TabId, effects: &mut Vec<Effect<P>>) {
        let popup = self.tabs.get_mut(id).and_then(|tab| tab.popup.take());
        if let Some(info) = popup.filter(|_| self.connection.is_open()) {
            let session = self.tabs.start_session(id, info.clone());
            effects.push(attached_event(session, info));
        }
    }

    /// Dismisses a dialog that a popup opens before it is announced. The dialog would block the
    /// opener, too, which runs in the same process.
    pub(crate) fn dismiss_early_dialog(&self, id: TabId, effects: &mut Vec<Effect<P>>) {
        if self.tabs.get(id).is_some_and(|tab| tab.popup.is_some()) {
            let dismiss = P::write(&Dismiss { accept: false }).ok();
            effects.push(Effect::own_command(
                Debuggee::tab(id),
                "Page.handleJavaScriptDialog",
                dismiss,
            ));
        }
    }

    /// Closes a dialog that a popup opened before the debugger was attached: Chrome then knows of no
    /// dialog that the debugger could answer. A navigation closes every dialog as it begins, and a
    /// navigation to a `data:` address goes no further. It would end another that is under way.
    pub(crate) fn close_earlier_dialog(&self, id: TabId, effects: &mut Vec<Effect<P>>) {
        if self.tabs.get(id).is_some_and(|tab| tab.popup.is_some()) {
            let nowhere = P::write(&Nowhere { url: "data:," }).ok();
            effects.push(Effect::own_command(Debuggee::tab(id), "Page.navigate", nowhere));
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

/// Returns true if a page comes from the web, or is empty.
fn is_web_page(url: &str) -> bool {
    let scheme = url.split_once(':').map_or(url, |(scheme, _)| scheme);
    url.is_empty() || matches!(scheme, "http" | "https" | "about" | "data" | "blob")
}
