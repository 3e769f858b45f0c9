//! Opens the tabs that the relay asks for.

use serde::Deserialize;
use shared_protocol::Payload;

use crate::interface::{Bounds, Effect, Place};
use crate::messages::BLANK;
use crate::state::RequestedTab;
use crate::worker::Worker;

/// The number of tabs that may be opening at once; more are refused.
const MAX_REQUESTED_TABS: usize = 256;

impl<P: Payload> Worker<P> {
    pub(crate) fn open_tab(
        &mut self,
        requested: RequestedTab,
        create: CreateTarget,
        effects: &mut Vec<Effect<P>>,
    ) {
        let request = requested.request;
        if self.requested_tabs.len() >= MAX_REQUESTED_TABS {
            let why = "Too many tabs are being opened at once".to_owned();
            return self.reply(request, Err(why), effects);
        }
        self.requested_tabs.push(requested);
        let url = create.url.filter(|url| !url.is_empty()).unwrap_or_else(|| BLANK.to_owned());
        if create.new_window {
            let CreateTarget { left, top, width, height, .. } = create;
            let place = Place::ClientWindow(Bounds { left, top, width, height });
            return effects.push(Effect::CreateTab { request, url, place });
        }
        let mut attached = self.tabs.attached_tabs().map(|(tab, ..)| tab);
        let beside = attached.find(|tab| !self.windows.owns(*tab));
        let separate = create.separate_window.unwrap_or(self.windows.is_separate());
        self.windows.open_tab(request, url, separate, beside, effects);
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CreateTarget {
    url: Option<String>,
    new_window: bool,
    /// The window mode that the client asked for. It overrides the relay's window mode.
    separate_window: Option<bool>,
    left: Option<i64>,
    top: Option<i64>,
    width: Option<i64>,
    height: Option<i64>,
}
