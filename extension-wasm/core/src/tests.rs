//! Every transition: inputs in, effects out.

#![expect(clippy::wildcard_enum_match_arm, reason = "the rest is of no interest here")]

mod chrome_requests;
mod commands;
mod connection;
mod control;
mod groups_and_windows;
mod pairing;
#[cfg(not(target_arch = "wasm32"))]
mod properties;
mod snapshot;
mod unresponsive;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared_protocol::{
    ExtensionHello, ExtensionMessage, Extra, Payload, RequestId, SessionId, TabId, TargetId,
    TargetInfo, Unreadable,
};

use crate::{
    Attempt, Debuggee, Effect, GroupId, Icon, Input, Place, RequestRef, Settings, StoredKey,
    ToolbarState, WindowId, Worker,
};

const TAB: TabId = TabId(11);
const OTHER: TabId = TabId(12);
const FIRST: Attempt = Attempt(1);

/// The machine, as the tests drive it.
#[derive(Default)]
struct Machine {
    worker: Worker<Json>,
    /// True if the test itself answers [`Effect::ReadKey`]; otherwise there is no key.
    reads_key: bool,
}

impl Machine {
    fn with_stored_key() -> Self {
        Self { reads_key: true, ..Self::default() }
    }

    fn connected() -> Self {
        let mut machine = Self::default();
        machine.start();
        machine.handle(Input::Probed { attempt: FIRST, found: true });
        machine.handle(Input::SocketOpened { attempt: FIRST });
        machine
    }

    fn with_groups() -> Self {
        let mut machine = Self::connected();
        let settings = Settings { tab_groups: true, ..settings(19988) };
        machine.handle(Input::SettingsChanged(settings));
        machine
    }

    fn with_tab() -> Self {
        let mut machine = Self::connected();
        machine.control(TAB, "T1");
        machine
    }

    fn control(&mut self, tab: TabId, target: &str) {
        self.handle(Input::IconClicked { tab });
        self.attached(tab, target);
        self.handle(Input::ToolbarShown { tab });
        self.handle(Input::ToolbarShown { tab });
    }

    fn start(&mut self) -> Vec<Effect<Json>> {
        self.handle(Input::Started {
            settings: settings(19988),
            hello: Box::default(),
            snapshot: Box::default(),
        })
    }

    /// Returns the effects of an input, without snapshots and lines for the log.
    fn handle(&mut self, input: Input<Json>) -> Vec<Effect<Json>> {
        let mut effects = self.worker.handle(input);
        // There is no key unless a test says so.
        while !self.reads_key
            && let Some(at) = effects.iter().position(|it| matches!(it, Effect::ReadKey { .. }))
            && let Effect::ReadKey { attempt } = effects[at]
        {
            let read = Input::KeyRead { attempt, stored: StoredKey::Unpaired };
            effects.splice(at..=at, self.worker.handle(read));
        }
        effects.retain(|effect| {
            !matches!(effect, Effect::Persist(_) | Effect::Send(ExtensionMessage::Log(_)))
        });
        effects
    }

    fn attached(&mut self, tab: TabId, target: &str) -> Vec<Effect<Json>> {
        self.handle(Input::Attached { tab, outcome: Ok(info(target)) })
    }

    fn relay_sent(&mut self, message: Value) -> Vec<Effect<Json>> {
        let message = serde_json::from_value(message).unwrap();
        self.handle(Input::RelaySent { attempt: FIRST, message })
    }

    fn request(&mut self, id: i64, method: &str, params: Value) -> Vec<Effect<Json>> {
        self.relay_sent(json!({ "id": id, "method": method, "params": params }))
    }

    fn command(
        &mut self,
        id: i64,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect<Json>> {
        let params = json!({ "method": method, "sessionId": session, "params": params });
        self.relay_sent(json!({ "id": id, "method": "forwardCDPCommand", "params": params }))
    }

    fn debugger_event(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Vec<Effect<Json>> {
        let (session, params) = (session.map(SessionId::new), Json(params));
        self.handle(Input::DebuggerEvent { tab: TAB, session, method: method.to_owned(), params })
    }
}

/// Returns the methods of the commands that run in a tab, in order.
fn methods(effects: &[Effect<Json>]) -> Vec<String> {
    let method = |effect: &Effect<Json>| match effect {
        Effect::StopRenderingLater { .. } => "stop rendering later".to_owned(),
        Effect::ForceFrameLater { .. } => "force frame later".to_owned(),
        Effect::RunCommand { method, .. } => method.clone(),
        other => panic!("{other:?}"),
    };
    effects.iter().map(method).collect()
}

pub(super) fn info(target: &str) -> TargetInfo<Json> {
    TargetInfo {
        target_id: TargetId::new(target),
        kind: "page".to_owned(),
        title: String::new(),
        url: "http://site/".to_owned(),
        attached: true,
        opener_id: None,
        can_access_opener: false,
        browser_context_id: None,
        extra: Extra::default(),
    }
}

fn info_json(target: &str) -> Value {
    serde_json::to_value(info(target)).unwrap()
}

fn announced(session: &str, target: &str) -> Effect<Json> {
    let params = json!({
        "sessionId": session, "targetInfo": info_json(target), "waitingForDebugger": false,
    });
    event(None, "Target.attachedToTarget", params)
}

fn event(session: Option<&str>, method: &str, params: Value) -> Effect<Json> {
    let params = json!({ "sessionId": session, "method": method, "params": params });
    let message = json!({ "method": "forwardCDPEvent", "params": params });
    Effect::Send(serde_json::from_value(message).unwrap())
}

fn reply(id: i64, outcome: Result<Option<Value>, &str>) -> Effect<Json> {
    let outcome = outcome.map(|result| result.map(Json)).map_err(str::to_owned);
    Effect::Send(ExtensionMessage::Reply { id: RequestId(id), outcome })
}

fn show(tab: TabId, icon: Icon, title: &str) -> Effect<Json> {
    show_badge(tab, icon, "", title)
}

fn show_badge(tab: TabId, icon: Icon, badge: &'static str, title: &str) -> Effect<Json> {
    Effect::ShowToolbar { tab, state: ToolbarState { icon, badge, title: title.to_owned() } }
}

fn settings(port: u16) -> Settings {
    Settings { port: Some(port), tab_groups: false }
}

fn create_tab(id: i64, url: &str, place: Place) -> Effect<Json> {
    Effect::CreateTab { request: request(id), url: url.to_owned(), place }
}

fn request(id: i64) -> RequestRef {
    RequestRef { attempt: FIRST, id: RequestId(id) }
}

/// A payload for native tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Json(pub(super) Value);

impl Payload for Json {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_json::from_value(self.0.clone()).map_err(|error| Unreadable(error.to_string()))
    }

    fn parse(json: &str) -> Result<Self, Unreadable> {
        serde_json::from_str(json).map(Json).map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        serde_json::to_value(value).map(Self).map_err(|error| Unreadable(error.to_string()))
    }
}
