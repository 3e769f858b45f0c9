//! Keeps the URL and title of tabs up to date.

use serde::Serialize;
use shared_protocol::{Payload, TabId, TargetInfo};

use crate::interface::Effect;
use crate::messages::{event, with_url};
use crate::state::TabState;
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    /// Stores what a tab shows, and tells the relay if that has changed.
    pub(crate) fn target_info_read(
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
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", bound(serialize = "P: Serialize"))]
struct TargetInfoChanged<P> {
    target_info: TargetInfo<P>,
}
