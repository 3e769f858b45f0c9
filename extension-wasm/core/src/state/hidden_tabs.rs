//! Tabs that nobody looks at, kept at full speed while a client uses them.
//!
//! Chrome gives a hidden tab no frames: mouse moves take a second or five, screenshots never come.
//! Two commands of the tab's own debugger undo that without showing the tab: focus emulation makes
//! the document believe that it is in front, and a screencast of one pixel and no frames makes the
//! compositor draw. They cost an animated page some CPU, so they end when the client pauses.

use serde::{Deserialize, Serialize};
use shared_protocol::{Payload, TabId};

use super::SmallMap;
use crate::interface::{Debuggee, Effect, RequestRef, StoredTabUse};

/// How often a screenshot is drawn for.
const MAX_FORCED_FRAMES: u32 = 6;

#[derive(Debug, Default)]
pub(crate) struct HiddenTabs(SmallMap<TabId, TabUse>);

#[derive(Debug, Default)]
struct TabUse {
    /// Counts commands, so that a pause can be told from a longer use.
    count: u64,
    /// Whether a pause is being waited for.
    in_use: bool,
    /// Whether our screencast runs.
    renders: bool,
    /// Whether the client runs a screencast of its own, which does what ours would.
    client_casts: bool,
    /// Whether the client itself wants the page to look focused.
    client_focuses: bool,
}

impl HiddenTabs {
    pub(crate) fn stored(&self) -> Vec<StoredTabUse> {
        let stored = |(tab_id, tab_use): (TabId, &TabUse)| StoredTabUse {
            tab_id,
            client_casts: tab_use.client_casts,
            client_focuses: tab_use.client_focuses,
        };
        self.0.iter().map(stored).collect()
    }

    pub(crate) fn restore(&mut self, uses: Vec<StoredTabUse>) {
        for StoredTabUse { tab_id, client_casts, client_focuses } in uses {
            self.0.insert(tab_id, TabUse { client_casts, client_focuses, ..TabUse::default() });
        }
    }

    /// Whether a command changes what the next worker has to know.
    pub(crate) fn changes_stored_use(method: &str) -> bool {
        matches!(
            method,
            "Page.startScreencast" | "Page.stopScreencast" | "Emulation.setFocusEmulationEnabled"
        )
    }

    /// A command is about to run in a tab: does what must be done before it.
    pub(crate) fn before_command<P: Payload>(
        &mut self,
        tab: TabId,
        method: &str,
        params: Option<&P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match method {
            "Page.startScreencast" => {
                let tab_use = self.0.get_or_default(tab);
                tab_use.client_casts = true;
                if std::mem::take(&mut tab_use.renders) {
                    effects.push(internal_command(tab, "Page.stopScreencast", &NoParams {}));
                }
            }
            "Page.stopScreencast" => self.0.get_or_default(tab).client_casts = false,
            "Emulation.setFocusEmulationEnabled" => {
                let wanted = params.and_then(|params| params.read::<FocusEmulation>().ok());
                let enabled = wanted.is_some_and(|wanted| wanted.enabled);
                self.0.get_or_default(tab).client_focuses = enabled;
            }
            _ if needs_rendering(method) => {
                let tab_use = self.0.get_or_default(tab);
                tab_use.count += 1;
                if !std::mem::replace(&mut tab_use.in_use, true) {
                    effects.push(Effect::StopRenderingLater { tab, uses: tab_use.count });
                    if !tab_use.client_focuses {
                        effects.push(set_focus_emulation(tab, true));
                    }
                }
                // Before the first input and the first screenshot: both would wait for a frame.
                if !tab_use.renders && !tab_use.client_casts {
                    tab_use.renders = true;
                    effects.push(internal_command(
                        tab,
                        "Page.startScreencast",
                        &MINIMAL_SCREENCAST,
                    ));
                }
            }
            _ => {}
        }
    }

    /// Some time has passed since a use: the tab rests, unless it has been used again or is still
    /// busy with what it was asked.
    pub(crate) fn stop_rendering<P: Payload>(
        &mut self,
        tab: TabId,
        uses: u64,
        is_busy: bool,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(tab_use) = self.0.get_mut(tab) else { return };
        if tab_use.count != uses || is_busy {
            effects.push(Effect::StopRenderingLater { tab, uses: tab_use.count });
            return;
        }
        tab_use.in_use = false;
        if std::mem::take(&mut tab_use.renders) {
            effects.push(internal_command(tab, "Page.stopScreencast", &NoParams {}));
        }
        if !tab_use.client_focuses {
            effects.push(set_focus_emulation(tab, false));
        }
    }

    /// A screenshot waits for a frame, which Chrome forgets at times where a page has hardly changed.
    /// A screencast that begins draws one. One of the client's own is left alone.
    pub(crate) fn force_frame<P: Payload>(
        &mut self,
        tab: TabId,
        request: RequestRef,
        forced: u32,
        effects: &mut Vec<Effect<P>>,
    ) {
        let Some(tab_use) = self.0.get_mut(tab) else { return };
        if !tab_use.client_casts {
            if std::mem::replace(&mut tab_use.renders, true) {
                effects.push(internal_command(tab, "Page.stopScreencast", &NoParams {}));
            }
            effects.push(internal_command(tab, "Page.startScreencast", &MINIMAL_SCREENCAST));
        }
        let forced = forced + 1;
        // What does not come then waits for something else.
        if forced < MAX_FORCED_FRAMES {
            effects.push(Effect::ForceFrameLater { tab, request, forced });
        }
    }

    /// The debugger is off, and with it all that it did.
    pub(crate) fn forget(&mut self, tab: TabId) {
        self.0.remove(tab);
    }
}

/// Whether a command depends on the page's believing that somebody looks at it.
fn needs_rendering(method: &str) -> bool {
    method.starts_with("Input.")
        || matches!(
            method,
            "Runtime.evaluate"
                | "Runtime.callFunctionOn"
                | "Page.navigate"
                | "Page.captureScreenshot"
                | "DOM.scrollIntoViewIfNeeded"
                | "HeadlessExperimental.beginFrame"
        )
}

#[derive(Serialize)]
struct NoParams {}

#[derive(Serialize, Deserialize)]
struct FocusEmulation {
    enabled: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Screencast {
    format: &'static str,
    quality: u8,
    max_width: u8,
    max_height: u8,
    every_nth_frame: u32,
}

const MINIMAL_SCREENCAST: Screencast = Screencast {
    format: "jpeg",
    quality: 1,
    max_width: 1,
    max_height: 1,
    every_nth_frame: 1_000_000,
};

fn set_focus_emulation<P: Payload>(tab: TabId, enabled: bool) -> Effect<P> {
    internal_command(tab, "Emulation.setFocusEmulationEnabled", &FocusEmulation { enabled })
}

/// A command of our own, whose answer nobody wants.
fn internal_command<P: Payload>(tab: TabId, method: &str, params: &impl Serialize) -> Effect<P> {
    Effect::RunCommand {
        request: None,
        debuggee: Debuggee::tab(tab),
        method: method.to_owned(),
        params: P::write(params).ok(),
    }
}
