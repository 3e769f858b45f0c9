//! Hidden tabs, which are kept rendering while a client uses them.
//!
//! Chrome gives a hidden tab no frames: mouse moves take a second or five, and screenshots never
//! come. Two commands undo that without showing the tab. Focus emulation makes the document believe
//! that it is in front. A screencast of one pixel and no frames makes the compositor draw. Both
//! cost an animated page some CPU, so they end when the client pauses.

use serde::{Deserialize, Serialize};
use shared_protocol::{Payload, TabId};

use super::SmallMap;
use crate::interface::{Debuggee, Effect, RequestRef, StoredTabUse};
use crate::methods::Method;

/// The number of frames that are forced for one screenshot.
const MAX_FORCED_FRAMES: u32 = 6;

#[derive(Debug, Default)]
pub(crate) struct HiddenTabs(SmallMap<TabId, TabUse>);

#[derive(Debug, Default)]
struct TabUse {
    /// The number of commands so far. It tells a pause from a longer use.
    count: u64,
    /// True if the end of the use is being waited for.
    in_use: bool,
    /// True if our screencast runs.
    renders: bool,
    /// True if the client runs a screencast of its own, which has the same effect as ours.
    client_casts: bool,
    /// True if the client itself has turned focus emulation on.
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

    /// Makes a tab render before a command that needs it.
    pub(crate) fn before_command<P: Payload>(
        &mut self,
        tab: TabId,
        method: Method,
        params: Option<&P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match method {
            Method::StartScreencast => {
                let tab_use = self.0.get_or_default(tab);
                tab_use.client_casts = true;
                if std::mem::take(&mut tab_use.renders) {
                    effects.push(own_command(tab, "Page.stopScreencast", &NoParams {}));
                }
            }
            Method::StopScreencast => self.0.get_or_default(tab).client_casts = false,
            Method::SetFocusEmulation => {
                let wanted = params.and_then(|params| params.read::<FocusEmulation>().ok());
                let enabled = wanted.is_some_and(|wanted| wanted.enabled);
                self.0.get_or_default(tab).client_focuses = enabled;
            }
            Method::UsesPage | Method::CaptureScreenshot => {
                let tab_use = self.0.get_or_default(tab);
                tab_use.count += 1;
                if !std::mem::replace(&mut tab_use.in_use, true) {
                    effects.push(Effect::StopRenderingLater { tab, uses: tab_use.count });
                    if !tab_use.client_focuses {
                        effects.push(set_focus_emulation(tab, true));
                    }
                }
                // The first input and the first screenshot would both wait for a frame.
                if !tab_use.renders && !tab_use.client_casts {
                    tab_use.renders = true;
                    effects.push(own_command(tab, "Page.startScreencast", &MINIMAL_SCREENCAST));
                }
            }
            Method::CreateTarget
            | Method::CloseTarget
            | Method::AutoAttach
            | Method::EnableRuntime
            | Method::DisableRuntime
            | Method::RunIfWaiting
            | Method::AddScript
            | Method::GetFrameTree
            | Method::Other => {}
        }
    }

    /// Stops to render a tab that has not been used for a while, unless it has been used again or a
    /// command still runs.
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
            effects.push(own_command(tab, "Page.stopScreencast", &NoParams {}));
        }
        if !tab_use.client_focuses {
            effects.push(set_focus_emulation(tab, false));
        }
    }

    /// Forces a frame for a screenshot that waits for one. Chrome forgets the frame at times when a
    /// page has hardly changed; a new screencast draws one. A client's own screencast is left
    /// alone.
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
                effects.push(own_command(tab, "Page.stopScreencast", &NoParams {}));
            }
            effects.push(own_command(tab, "Page.startScreencast", &MINIMAL_SCREENCAST));
        }
        let forced = forced + 1;
        // A screenshot that has not come by then waits for something else.
        if forced < MAX_FORCED_FRAMES {
            effects.push(Effect::ForceFrameLater { tab, request, forced });
        }
    }

    /// Forgets a tab whose debugger is detached. Detaching reverts both commands.
    pub(crate) fn forget(&mut self, tab: TabId) {
        self.0.remove(tab);
    }
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
    own_command(tab, "Emulation.setFocusEmulationEnabled", &FocusEmulation { enabled })
}

/// Makes a command of our own, whose answer is dropped.
fn own_command<P: Payload>(tab: TabId, method: &str, params: &impl Serialize) -> Effect<P> {
    Effect::own_command(Debuggee::tab(tab), method, P::write(params).ok())
}
