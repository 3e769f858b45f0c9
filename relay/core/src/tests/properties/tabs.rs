//! Tabs and children that come and go at random.

use super::*;

impl World {
    pub(super) fn target_comes(&mut self) {
        let parents: Vec<String> = self.real.keys().cloned().collect();
        let Some(parent) = self.pick(&parents).filter(|_| self.real.len() < 8) else {
            return self.tab_comes();
        };
        if self.roll(3) == 0 {
            return self.tab_comes();
        }
        self.last_id += 1;
        let kind = self.pick(&["iframe", "worker", "service_worker"]).unwrap();
        let session = format!("{kind} {}", self.last_id);
        self.real.insert(session.clone(), Some(parent.clone()));
        self.announce(&session, Some(&parent));
    }

    pub(super) fn tab_comes(&mut self) {
        let tab = self.free_tab();
        let session = format!("pw-tab-{tab}");
        self.real.insert(session.clone(), None);
        self.announce(&session, None);
    }

    pub(super) fn free_tab(&self) -> usize {
        (1..).find(|tab| !self.real.contains_key(&format!("pw-tab-{tab}"))).unwrap()
    }

    pub(super) fn announce(&mut self, session: &str, parent: Option<&str>) {
        let info = match session.strip_prefix("pw-tab-") {
            Some(tab) => info(&format!("T{tab}")),
            None => {
                let kind = session.split(' ').next().unwrap();
                let target = match kind {
                    "service_worker" => "target-service_worker".to_owned(),
                    _ => format!("target of {session}"),
                };
                json!({ "targetId": target, "type": kind, "url": "x:" })
            }
        };
        let waiting = parent.is_some() && self.roll(2) == 0;
        let params =
            json!({ "sessionId": session, "targetInfo": info, "waitingForDebugger": waiting });
        self.chrome_says(parent, "Target.attachedToTarget", &params);
    }

    pub(super) fn target_goes(&mut self) {
        let all: Vec<String> = self.real.keys().cloned().collect();
        if let Some(session) = self.pick(&all) {
            self.real_goes(&session);
        }
    }

    pub(super) fn real_goes(&mut self, session: &str) {
        let Some(parent) = self.real.remove(session) else { return };
        self.chrome.forgets(session);
        let mut gone = vec![session.to_owned()];
        while let Some(next) = gone.pop() {
            let below = |(_, parent): &(&String, &Option<String>)| parent.as_ref() == Some(&next);
            let children: Vec<String> =
                self.real.iter().filter(below).map(|(child, _)| child.clone()).collect();
            for child in children {
                self.real.remove(&child);
                self.chrome.forgets(&child);
                gone.push(child);
            }
        }
        let params = json!({ "sessionId": session });
        self.chrome_says(parent.as_deref(), "Target.detachedFromTarget", &params);
    }
}
