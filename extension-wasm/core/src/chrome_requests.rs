//! Requests of the relay that `chrome.debugger` cannot answer: windows, focus, cookies and
//! restricted tabs.

use shared_protocol::{
    CookieCalls, MAX_COOKIE_CALLS, Payload, TabId, TargetId, WindowChange, WindowQuery,
};

use crate::interface::{Bounds, Effect, RequestRef, WindowId, WindowRef};
use crate::worker::Worker;

impl<P: Payload> Worker<P> {
    pub(crate) fn read_window(
        &self,
        request: RequestRef,
        query: &WindowQuery<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let window = match (&query.target_id, query.window_id) {
            (Some(target), _) => self.tab_of(target).map(WindowRef::OfTab),
            (None, Some(window)) => window_id(window).map(WindowRef::Id),
            (None, None) => Err("getWindow needs a targetId or a windowId".to_owned()),
        };
        self.ask(request, window.map(|window| Effect::ReadWindow { request, window }), effects);
    }

    pub(crate) fn change_window(
        &self,
        request: RequestRef,
        change: &WindowChange<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let &WindowChange { left, top, width, height, state, .. } = change;
        let bounds = Bounds { left, top, width, height };
        let effect = window_id(change.window_id).map(|window| Effect::ChangeWindow {
            request,
            window,
            bounds,
            state,
        });
        self.ask(request, effect, effects);
    }

    pub(crate) fn activate_tab(
        &self,
        request: RequestRef,
        target: &TargetId,
        effects: &mut Vec<Effect<P>>,
    ) {
        let effect = self.tab_of(target).map(|tab| Effect::ActivateTab { request, tab });
        self.ask(request, effect, effects);
    }

    /// Takes a restricted tab to a blank page, or closes it.
    pub(crate) fn leave_page(
        &self,
        request: RequestRef,
        target: &TargetId,
        close: bool,
        effects: &mut Vec<Effect<P>>,
    ) {
        let effect = self.tab_of(target).map(|tab| Effect::LeavePage { request, tab, close });
        self.ask(request, effect, effects);
    }

    pub(crate) fn call_cookies(
        &self,
        request: RequestRef,
        calls: CookieCalls<P>,
        effects: &mut Vec<Effect<P>>,
    ) {
        let CookieCalls { function, details, .. } = calls;
        let effect = if details.len() > MAX_COOKIE_CALLS {
            Err(format!("No more than {MAX_COOKIE_CALLS} cookies at once"))
        } else {
            Ok(Effect::CallCookies { request, function, details })
        };
        self.ask(request, effect, effects);
    }

    fn ask(
        &self,
        request: RequestRef,
        effect: Result<Effect<P>, String>,
        effects: &mut Vec<Effect<P>>,
    ) {
        match effect {
            Ok(effect) => effects.push(effect),
            Err(why) => self.reply(request, Err(why), effects),
        }
    }

    fn tab_of(&self, target: &TargetId) -> Result<TabId, String> {
        let tab = self.tabs.find_target(target).map(|debuggee| debuggee.tab_id);
        tab.ok_or_else(|| format!("No tab found for targetId: {target}"))
    }
}

fn window_id(id: i64) -> Result<WindowId, String> {
    i32::try_from(id).map(WindowId).map_err(|_| format!("No window with id: {id}."))
}
