//! The commands that Chrome has not answered yet.

use shared_protocol::TabId;

use super::SmallMap;
use crate::interface::{Attempt, Debuggee, RequestRef};
use crate::methods::Method;

/// The commands that Chrome has not answered yet, and the tab or child of each.
#[derive(Debug, Default)]
pub(crate) struct InFlight(SmallMap<RequestRef, Running>);

#[derive(Debug)]
struct Running {
    debuggee: Debuggee,
    asks_frame_tree: bool,
}

impl InFlight {
    pub(crate) fn add(&mut self, request: RequestRef, debuggee: Debuggee, method: Method) {
        let asks_frame_tree = method == Method::GetFrameTree;
        self.0.insert(request, Running { debuggee, asks_frame_tree });
    }

    /// Removes a command. Returns true if it was waiting for its answer.
    pub(crate) fn done(&mut self, request: RequestRef) -> bool {
        self.0.remove(request).is_some()
    }

    /// Returns true if a command waits for its answer.
    pub(crate) fn has(&self, request: RequestRef) -> bool {
        self.0.get(request).is_some()
    }

    pub(crate) fn runs_in(&self, tab: TabId) -> bool {
        self.0.iter().any(|(_, running)| running.debuggee.tab_id == tab)
    }

    /// Returns true if a command waits for a frame tree.
    pub(crate) fn is_frame_tree(&self, request: RequestRef) -> bool {
        self.0.get(request).is_some_and(|running| running.asks_frame_tree)
    }

    /// Returns true if a command waits for the frame tree of this debuggee.
    pub(crate) fn asks_frame_tree(&self, debuggee: &Debuggee) -> bool {
        self.0.iter().any(|(_, running)| running.asks_frame_tree && running.debuggee == *debuggee)
    }

    /// Forgets the commands of earlier connections.
    pub(crate) fn keep(&mut self, attempt: Attempt) {
        self.0.retain(|request, _| request.attempt == attempt);
    }

    pub(crate) fn of_tab(&mut self, tab: TabId) -> Vec<RequestRef> {
        self.0.retain(|_, running| running.debuggee.tab_id != tab)
    }
}
