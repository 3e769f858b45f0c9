//! The state that the relay still keeps of clients.

use super::*;

impl Relay {
    /// Returns the state that clients left behind after all have gone.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let mut left: Vec<String> = self.requests.iter().map(|it| format!("{it:?}")).collect();
        left.extend(self.cookie_queries.leftovers());
        for target in self.extensions.iter().flat_map(|(_, extension)| extension.targets.iter()) {
            left.extend(target.sessions.iter().map(|session_ref| format!("{session_ref:?}")));
            left.extend(target.state.leftovers());
        }
        left
    }

    /// The requests that clients have to decide about, by real session and request.
    pub(super) fn undecided(&self) -> BTreeSet<(String, String)> {
        let targets = self.extensions.iter().flat_map(|(_, extension)| extension.targets.iter());
        let undecided = targets.flat_map(|target| {
            let of_target = target.state.paused.undecided();
            let held = of_target.filter(|(_, holder)| self.clients.session(holder).is_some());
            held.map(|(id, _)| (target.session.to_string(), id.to_owned()))
        });
        undecided.collect()
    }
}
