//! A client's view: the messages it has seen, and those it may see.

use super::*;

#[derive(Default)]
pub(super) struct Seen {
    /// The sessions that were announced and have not ended, and what they are attached to.
    pub(super) sessions: BTreeMap<String, String>,
    /// Every session of which the client ever heard.
    pub(super) known: BTreeSet<String>,
    /// The client's commands without an answer, by id: the session and the method.
    pub(super) waiting: BTreeMap<i64, (String, String)>,
    answered: BTreeSet<i64>,
    /// The sessions that have asked for Runtime, and by which command.
    listening: BTreeMap<String, i64>,
    /// The events that are told once, as each session has heard them.
    last_message_at: BTreeSet<(String, String)>,
}

impl Seen {
    pub(super) fn sends(&mut self, session: &str, id: i64, method: &str) {
        match method {
            "Runtime.enable" => {
                self.listening.entry(session.to_owned()).or_insert(id);
            }
            "Runtime.disable" => {
                self.listening.remove(session);
                self.last_message_at
                    .retain(|(of, what)| of != session || !what.starts_with("context"));
            }
            _ => {}
        }
        self.waiting.insert(id, (session.to_owned(), method.to_owned()));
    }

    /// Takes a frame. Gives the real session whose contexts the client must know by now, with those
    /// that it knows.
    pub(super) fn gets(&mut self, frame: &Value, is_live: bool) -> Option<(String, BTreeSet<i64>)> {
        let session = frame["sessionId"].as_str().unwrap_or_default();
        if let Some(id) = frame["id"].as_i64() {
            let asked = self.waiting.remove(&id);
            assert!(asked.is_some(), "an answer to nothing: {frame}");
            assert!(self.answered.insert(id), "a second answer: {frame}");
            if self.listening.get(session) != Some(&id) {
                return None;
            }
            if !frame["error"].is_null() {
                self.listening.remove(session);
                let asks =
                    |(of, method): &(String, String)| of == session && method == "Runtime.enable";
                let next = self.waiting.iter().find(|(_, asked)| asks(asked)).map(|(id, _)| *id);
                self.listening.extend(next.map(|id| (session.to_owned(), id)));
                return None;
            }
            return Some((self.real(session)?, self.contexts(session)));
        }
        assert!(self.sessions.contains_key(session), "no such session: {frame}");
        let params = &frame["params"];
        match frame["method"].as_str().unwrap() {
            "Target.attachedToTarget" => {
                let new = params["sessionId"].as_str().unwrap().to_owned();
                let target = params["targetInfo"]["targetId"].as_str().unwrap().to_owned();
                self.known.insert(new.clone());
                let old = self.sessions.insert(new, target);
                assert_eq!(old, None, "announced twice: {frame}");
            }
            "Target.detachedFromTarget" => {
                let ended = params["sessionId"].as_str().unwrap();
                assert!(self.sessions.remove(ended).is_some(), "ended twice: {frame}");
                self.listening.remove(ended);
                self.last_message_at.retain(|(of, _)| of != ended);
            }
            "Target.targetDestroyed" => {
                let gone = params["targetId"].as_str().unwrap();
                let is_attached = self.sessions.values().any(|target| target == gone);
                assert!(!is_attached, "destroyed before its sessions ended: {frame}");
            }
            "Runtime.executionContextCreated" => {
                let id = params["context"]["id"].as_i64().unwrap();
                self.hears(session, format!("context {id}"), frame);
                let asked = self.listening.get(session).copied();
                assert!(asked.is_some(), "nobody asked for it: {frame}");
                let is_site_open = |(id, (of, method)): (&i64, &(String, String))| {
                    Some(*id) < asked && of == session && method == "Page.getFrameTree"
                };
                let overtakes = !is_live && self.waiting.iter().any(is_site_open);
                assert!(!overtakes, "overtakes an earlier answer: {frame}");
            }
            "Page.javascriptDialogOpening" => {
                self.hears(session, format!("dialog {}", params["message"]), frame);
            }
            _ => {}
        }
        None
    }

    fn hears(&mut self, session: &str, what: String, frame: &Value) {
        assert!(self.last_message_at.insert((session.to_owned(), what)), "told twice: {frame}");
    }

    fn contexts(&self, session: &str) -> BTreeSet<i64> {
        let own = self.last_message_at.iter().filter(|(of, _)| of == session);
        own.filter_map(|(_, what)| what.strip_prefix("context ")?.parse().ok()).collect()
    }

    /// The real session below one, if its target has no more than one.
    fn real(&self, session: &str) -> Option<String> {
        let target = self.sessions.get(session)?;
        let tab = target.strip_prefix('T').map(|tab| format!("pw-tab-{tab}"));
        tab.or_else(|| target.strip_prefix("target of ").map(str::to_owned))
    }
}
