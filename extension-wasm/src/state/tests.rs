//! Every transition: inputs in, effects out.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared_protocol::{
    ExtensionHello, ExtensionMessage, Extra, Payload, RequestId, SessionId, TabId, TargetId,
    TargetInfo, Unreadable,
};

use super::{Attempt, Debuggee, Effect, Icon, Input, Look, Ticket, Worker};

const TAB: TabId = TabId(11);
const OTHER: TabId = TabId(12);
const FIRST: Attempt = Attempt(1);

#[test]
fn the_relay_is_probed_before_a_socket_is_opened() {
    let mut worker = Machine::default();
    assert_eq!(worker.start(), [Effect::Probe { attempt: FIRST, port: 19988 }]);
    assert_eq!(
        worker.handle(Input::Probed { attempt: FIRST, found: true }),
        [Effect::OpenSocket { attempt: FIRST, port: 19988, hello: ExtensionHello::default() }]
    );
}

#[test]
fn a_relay_that_is_not_there_is_looked_for_again() {
    let mut worker = Machine::default();
    worker.start();
    assert_eq!(
        worker.handle(Input::Probed { attempt: FIRST, found: false }),
        [Effect::RetryLater { attempt: FIRST }]
    );
    let again = Attempt(2);
    assert_eq!(
        worker.handle(Input::RetryDue { attempt: FIRST }),
        [Effect::Probe { attempt: again, port: 19988 }]
    );
    assert_eq!(worker.handle(Input::RetryDue { attempt: FIRST }), [], "one search at a time");
    assert_eq!(worker.handle(Input::AlarmRang), [], "one search at a time");
    assert_eq!(worker.handle(Input::Probed { attempt: FIRST, found: true }), [], "stale news");
}

#[test]
fn another_port_is_tried_at_once() {
    let mut worker = Machine::connected();
    assert_eq!(worker.handle(Input::PortChanged { port: 19988 }), []);
    assert_eq!(worker.handle(Input::PortChanged { port: 7 }), [Effect::CloseSocket]);
    assert_eq!(
        worker.handle(Input::SocketClosed { attempt: FIRST }),
        [Effect::RetryLater { attempt: FIRST }]
    );
    assert_eq!(
        worker.handle(Input::RetryDue { attempt: FIRST }),
        [Effect::Probe { attempt: Attempt(2), port: 7 }]
    );
}

#[test]
fn a_click_attaches_the_tab_and_announces_it() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.handle(Input::IconClicked { tab: TAB }),
        [Effect::Attach { tab: TAB }, show(TAB, Icon::Grey, "Playwriter: connecting")]
    );
    assert!(!worker.0.is_settled(TAB));
    let effects = worker.attached(TAB, "T1");
    assert_eq!(effects, [announced("pw-tab-1", "T1")], "the grey icon is still being shown");
    assert_eq!(
        worker.handle(Input::Shown { tab: TAB }),
        [show(TAB, Icon::Green, "Playwriter: this tab is controlled; click to release it")]
    );
    worker.handle(Input::Shown { tab: TAB });
    assert!(worker.0.is_settled(TAB) && worker.0.is_connected(TAB));
}

#[test]
fn a_second_click_releases_the_tab() {
    let mut worker = Machine::with_tab();
    let effects = worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(
        effects,
        [
            Effect::Detach { tab: TAB },
            event(
                None,
                "Target.detachedFromTarget",
                json!({"sessionId":"pw-tab-1","targetId":"T1"})
            ),
            show(TAB, Icon::Black, "Playwriter: click to control this tab"),
        ]
    );
}

#[test]
fn a_session_name_is_never_used_twice() {
    let mut worker = Machine::with_tab();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_click_while_the_tab_is_being_attached_takes_it_back() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    let effects = worker.attached(TAB, "T1");
    assert_eq!(effects, [Effect::Detach { tab: TAB }]);
    assert!(!worker.0.is_connected(TAB));
}

#[test]
fn a_page_that_cannot_be_attached_says_why() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::Shown { tab: TAB });
    let outcome = Err("Cannot access a chrome:// URL".to_owned());
    assert_eq!(
        worker.handle(Input::Attached { tab: TAB, outcome }),
        [show(
            TAB,
            Icon::Black,
            "Playwriter cannot control this page: Cannot access a chrome:// URL"
        )]
    );
}

#[test]
fn a_tab_clicked_without_a_relay_waits_for_it() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: false });
    let effects = worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(
        effects,
        [
            Effect::Probe { attempt: Attempt(2), port: 19988 },
            show(TAB, Icon::Grey, "Playwriter: connecting"),
        ]
    );
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    let effects = worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    assert_eq!(effects, [Effect::Attach { tab: TAB }]);
}

#[test]
fn after_a_reconnect_all_tabs_are_announced_again_under_their_names() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    worker.handle(Input::SocketClosed { attempt: FIRST });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    let effects = worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    let sent: Vec<_> =
        effects.into_iter().filter(|effect| matches!(effect, Effect::Send(_))).collect();
    assert_eq!(sent, [announced("pw-tab-1", "T1"), announced("pw-tab-2", "T2")]);
}

#[test]
fn a_command_runs_on_its_tab_or_child_and_is_answered() {
    let mut worker = Machine::with_tab();
    let child = json!({ "sessionId": "C", "targetInfo": { "targetId": "F", "type": "iframe" } });
    worker.debugger_event(None, "Target.attachedToTarget", child);
    for (session, session_id) in [("pw-tab-1", None), ("C", Some(SessionId::new("C")))] {
        assert_eq!(
            worker.command(5, Some(session), "Page.reload", json!({ "a": 1 })),
            [Effect::RunCommand {
                ticket: Some(ticket(5)),
                debuggee: Debuggee { tab_id: TAB, session_id },
                method: "Page.reload".to_owned(),
                params: Some(Json(json!({ "a": 1 }))),
            }]
        );
    }
    let outcome = Ok(Json(json!({ "b": 2 })));
    assert_eq!(
        worker.handle(Input::CommandDone { ticket: ticket(5), outcome }),
        [reply(5, Ok(Some(json!({ "b": 2 }))))]
    );
}

#[test]
fn a_command_for_an_unknown_session_fails_readably() {
    let mut worker = Machine::with_tab();
    assert_eq!(
        worker.command(5, Some("pw-tab-9"), "Page.reload", json!({})),
        [reply(5, Err("No tab found for sessionId: pw-tab-9"))]
    );
    assert_eq!(
        worker.command(6, None, "Page.reload", json!({})),
        [reply(6, Err("No tab found for method Page.reload"))]
    );
}

#[test]
fn an_answer_for_a_relay_that_has_gone_is_dropped() {
    let mut worker = Machine::with_tab();
    worker.command(5, Some("pw-tab-1"), "Page.reload", json!({}));
    worker.handle(Input::SocketClosed { attempt: FIRST });
    worker.handle(Input::RetryDue { attempt: FIRST });
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    let outcome = Ok(Json(json!({})));
    assert_eq!(worker.handle(Input::CommandDone { ticket: ticket(5), outcome }), []);
}

#[test]
fn enabling_runtime_again_sends_the_contexts_again() {
    let mut worker = Machine::with_tab();
    let methods = |effects: Vec<Effect<Json>>| -> Vec<String> {
        let method = |effect| {
            let Effect::RunCommand { method, .. } = effect else { panic!("{effect:?}") };
            method
        };
        effects.into_iter().map(method).collect()
    };
    let first = worker.command(1, Some("pw-tab-1"), "Runtime.enable", json!({}));
    assert_eq!(methods(first), ["Runtime.enable"]);
    let second = worker.command(2, Some("pw-tab-1"), "Runtime.enable", json!({}));
    assert_eq!(methods(second), ["Runtime.disable", "Runtime.enable"]);
}

#[test]
fn a_new_target_is_announced_before_its_creation_is_answered() {
    let mut worker = Machine::connected();
    let url = json!({ "url": "http://site/" });
    assert_eq!(
        worker.command(5, None, "Target.createTarget", url),
        [Effect::CreateTab { ticket: ticket(5), url: "http://site/".to_owned() }]
    );
    worker.handle(Input::TabCreated { ticket: ticket(5), outcome: Ok(TAB) });
    assert_eq!(
        worker.attached(TAB, "T1"),
        [announced("pw-tab-1", "T1"), reply(5, Ok(Some(json!({ "targetId": "T1" }))))]
    );
}

#[test]
fn an_initial_tab_is_announced_by_its_answer_alone() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.relay_sent(json!({ "id": 5, "method": "createInitialTab" })),
        [Effect::CreateTab { ticket: ticket(5), url: "about:blank".to_owned() }]
    );
    worker.handle(Input::TabCreated { ticket: ticket(5), outcome: Ok(TAB) });
    let answer = json!({
        "success": true, "tabId": 11, "sessionId": "pw-tab-1", "targetInfo": info_json("T1"),
    });
    assert_eq!(worker.attached(TAB, "T1"), [reply(5, Ok(Some(answer)))]);
}

#[test]
fn a_tab_that_cannot_be_created_is_an_error_reply() {
    let mut worker = Machine::connected();
    worker.command(5, None, "Target.createTarget", json!({}));
    let outcome = Err("No current window".to_owned());
    assert_eq!(
        worker.handle(Input::TabCreated { ticket: ticket(5), outcome }),
        [reply(5, Err("No current window"))]
    );
}

#[test]
fn events_carry_the_session_they_came_from() {
    let mut worker = Machine::with_tab();
    assert_eq!(
        worker.debugger_event(None, "Page.loadEventFired", json!({})),
        [event(Some("pw-tab-1"), "Page.loadEventFired", json!({}))]
    );
    assert_eq!(
        worker.debugger_event(Some("C"), "Page.loadEventFired", json!({})),
        [event(Some("C"), "Page.loadEventFired", json!({}))]
    );
}

#[test]
fn a_tab_whose_debugger_was_taken_away_is_reported_gone() {
    let mut worker = Machine::with_tab();
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(
        worker.handle(Input::DebuggerDetached { tab: TAB }),
        [
            event(None, "Target.detachedFromTarget", gone),
            show(TAB, Icon::Black, "Playwriter: click to control this tab"),
        ]
    );
    assert_eq!(worker.handle(Input::DebuggerDetached { tab: TAB }), []);
}

#[test]
fn what_the_worker_does_not_know_is_answered_if_it_waits() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.relay_sent(json!({ "method": "ping" })),
        [Effect::Send(ExtensionMessage::Pong)]
    );
    assert_eq!(worker.relay_sent(json!({ "id": 5, "method": "teleport" })), [reply(5, Ok(None))]);
    assert_eq!(worker.relay_sent(json!({ "method": "teleported" })), []);
}

#[test]
fn releasing_all_releases_each() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    let detached: Vec<_> = worker
        .handle(Input::ReleaseAll)
        .into_iter()
        .filter(|effect| matches!(effect, Effect::Detach { .. }))
        .collect();
    assert_eq!(detached, [Effect::Detach { tab: TAB }, Effect::Detach { tab: OTHER }]);
}

#[derive(Default)]
struct Machine(Worker<Json>);

impl Machine {
    fn connected() -> Self {
        let mut machine = Self::default();
        machine.start();
        machine.handle(Input::Probed { attempt: FIRST, found: true });
        machine.handle(Input::SocketOpened { attempt: FIRST });
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
        self.handle(Input::Shown { tab });
        self.handle(Input::Shown { tab });
    }

    fn start(&mut self) -> Vec<Effect<Json>> {
        self.handle(Input::Started { port: 19988, hello: ExtensionHello::default() })
    }

    fn handle(&mut self, input: Input<Json>) -> Vec<Effect<Json>> {
        self.0.handle(input)
    }

    fn attached(&mut self, tab: TabId, target: &str) -> Vec<Effect<Json>> {
        self.handle(Input::Attached { tab, outcome: Ok(info(target)) })
    }

    fn relay_sent(&mut self, message: Value) -> Vec<Effect<Json>> {
        let message = serde_json::from_value(message).unwrap();
        self.handle(Input::RelaySent { attempt: FIRST, message })
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

fn info(target: &str) -> TargetInfo<Json> {
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
    Effect::Show { tab, look: Look { icon, title: title.to_owned() } }
}

fn ticket(id: i64) -> Ticket {
    Ticket { attempt: FIRST, id: RequestId(id) }
}

/// A payload for native tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Json(Value);

impl Payload for Json {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Unreadable> {
        serde_json::from_value(self.0.clone()).map_err(|error| Unreadable(error.to_string()))
    }

    fn write<T: Serialize>(value: &T) -> Result<Self, Unreadable> {
        serde_json::to_value(value).map(Self).map_err(|error| Unreadable(error.to_string()))
    }
}
