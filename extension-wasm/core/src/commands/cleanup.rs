//! Reverts what the clients of a lost relay changed in tabs.

use serde::Serialize;
use shared_protocol::overrides::CLEANUP_COMMANDS;
use shared_protocol::{Payload, TabId};

use crate::interface::{Debuggee, Effect};
use crate::worker::Worker;

/// The least and the greatest number of scripts for new documents that are removed from a tab.
const MIN_SCRIPTS: u32 = 16;

const MAX_SCRIPTS: u32 = 200;

impl<P: Payload> Worker<P> {
    pub(crate) fn clean_up_tabs(&mut self, effects: &mut Vec<Effect<P>>) {
        let tabs: Vec<TabId> = self.tabs.attached_tabs().map(|(tab, ..)| tab).collect();
        for tab in tabs {
            self.clean_up_tab(tab, effects);
        }
        self.scripts_added = 0;
    }

    /// Reverts what clients changed in a tab whose relay is gone without a close code of its own.
    fn clean_up_tab(&mut self, tab: TabId, effects: &mut Vec<Effect<P>>) {
        self.hidden_tabs.forget(tab);
        for (method, params) in CLEANUP_COMMANDS {
            let params = P::parse(params).ok();
            effects.push(Effect::own_command(Debuggee::tab(tab), method, params));
        }
        // Chrome numbers the scripts of a tab from 1 on, and lists none. An earlier worker may have
        // added scripts, too.
        for number in 1..=self.scripts_added.clamp(MIN_SCRIPTS, MAX_SCRIPTS) {
            let params = P::write(&Script { identifier: number.to_string() }).ok();
            let method = "Page.removeScriptToEvaluateOnNewDocument";
            effects.push(Effect::own_command(Debuggee::tab(tab), method, params));
        }
    }
}

#[derive(Serialize)]
struct Script {
    identifier: String,
}
