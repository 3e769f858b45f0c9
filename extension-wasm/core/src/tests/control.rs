//! Control of tabs, and the toolbar's texts about it.

use super::*;

#[test]
fn a_click_attaches_the_tab_and_announces_it() {
    let mut worker = Machine::connected();
    assert_eq!(
        worker.handle(Input::IconClicked { tab: TAB }),
        [Effect::Attach { tab: TAB }, show(TAB, Icon::Grey, "Playwriter: connecting")]
    );
    assert!(!worker.worker.is_settled(TAB));
    let effects = worker.attached(TAB, "T1");
    assert_eq!(effects, [announced("pw-tab-1", "T1")], "the grey icon is still being shown");
    assert_eq!(
        worker.handle(Input::ToolbarShown { tab: TAB }),
        [show(TAB, Icon::Green, "Playwriter: this tab is controlled; click to release it")]
    );
    worker.handle(Input::ToolbarShown { tab: TAB });
    assert!(worker.worker.is_settled(TAB) && worker.worker.is_connected(TAB));
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
fn a_session_id_is_never_used_twice() {
    let mut worker = Machine::with_tab();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_click_while_the_tab_is_being_attached_cancels_that() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    let effects = worker.attached(TAB, "T1");
    assert_eq!(effects, [Effect::Detach { tab: TAB }]);
    assert!(!worker.worker.is_connected(TAB));
}

#[test]
fn a_page_that_cannot_be_attached_says_why() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::ToolbarShown { tab: TAB });
    let outcome = Err("Cannot access a chrome:// URL".to_owned());
    assert_eq!(
        worker.handle(Input::Attached { tab: TAB, outcome }),
        [Effect::ShowToolbar {
            tab: TAB,
            state: ToolbarState {
                icon: Icon::Black,
                badge: "!",
                title: "Playwriter cannot control this page: Cannot access a chrome:// URL"
                    .to_owned(),
            },
        }]
    );
}

#[test]
fn a_tab_that_the_user_cancelled_is_reported_detached() {
    let mut worker = Machine::with_tab();
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(
        worker.handle(Input::DebuggerDetached { tab: TAB, reason: "canceled_by_user".to_owned() }),
        [
            event(None, "Target.detachedFromTarget", gone),
            show(TAB, Icon::Black, "Playwriter: click to control this tab"),
        ]
    );
    assert_eq!(
        worker.handle(Input::DebuggerDetached { tab: TAB, reason: "canceled_by_user".to_owned() }),
        []
    );
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

#[test]
fn a_tab_that_chrome_detached_is_attached_again_with_a_new_session() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    let effects = worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(
        effects,
        [
            event(None, "Target.detachedFromTarget", gone),
            Effect::CheckTab { tab: TAB },
            show(TAB, Icon::Grey, "Playwriter: connecting"),
        ]
    );
    assert_eq!(
        worker.handle(Input::TabChecked { tab: TAB, exists: true }),
        [Effect::Attach { tab: TAB }]
    );
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_tab_that_was_closed_is_not_looked_for_again() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    worker.handle(Input::TabChecked { tab: TAB, exists: false });
    assert!(!worker.worker.is_connected(TAB));
    assert_eq!(worker.handle(Input::TabNavigated { tab: TAB }), []);
}

#[test]
fn reattaching_is_tried_ever_more_slowly_and_then_given_up() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    let mut waits = Vec::new();
    for _ in 0..6 {
        worker.handle(Input::TabChecked { tab: TAB, exists: true });
        let outcome = Err("Another debugger is already attached".to_owned());
        for effect in worker.handle(Input::Attached { tab: TAB, outcome }) {
            if let Effect::ReattachLater { wait, .. } = effect {
                waits.push(wait.as_millis());
            }
        }
    }
    assert_eq!(waits, [250, 1000, 4000, 16000, 64000]);
    assert_eq!(worker.worker.status().tabs, []);
}

#[test]
fn a_tab_is_attached_again_when_it_leaves_a_restricted_page() {
    let mut worker = Machine::with_tab();
    let reason = "target_closed".to_owned();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason });
    worker.handle(Input::TabChecked { tab: TAB, exists: true });
    let outcome = Err("Cannot access a chrome:// URL".to_owned());
    worker.handle(Input::Attached { tab: TAB, outcome });
    assert_eq!(worker.worker.status().tabs[0].state, "restricted");
    let effects = worker.handle(Input::TabNavigated { tab: TAB });
    assert_eq!(effects, [Effect::Attach { tab: TAB }]);
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-2", "T1")]);
}

#[test]
fn a_popup_of_a_controlled_tab_is_controlled_and_of_another_is_not() {
    let mut worker = Machine::with_tab();
    let opened = |opener, url: &str| Input::PopupOpened { tab: OTHER, opener, url: url.to_owned() };
    assert_eq!(worker.handle(opened(TabId(99), "https://a.example/")), []);
    for url in ["file:///etc/passwd", "chrome-extension://x/", "view-source:file:///x", "x"] {
        assert_eq!(worker.handle(opened(TAB, url)), [], "{url}");
    }
    let effects = worker.handle(opened(TAB, "https://a.example/"));
    assert_eq!(effects[0], Effect::Attach { tab: OTHER });
    assert_eq!(worker.attached(OTHER, "T2"), [announced("pw-tab-2", "T2")]);
}

#[test]
fn a_popup_that_closes_before_it_is_attached_is_still_announced() {
    let mut worker = Machine::with_tab();
    let (opener, url) = (TAB, "https://a.example/".to_owned());
    worker.handle(Input::PopupOpened { tab: OTHER, opener, url });
    let effects = worker.handle(Input::TabRemoved { tab: OTHER });
    let told: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Send(ExtensionMessage::Event(event)) => Some(event.method.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["Target.attachedToTarget", "Target.detachedFromTarget"]);
}

#[test]
fn a_dialog_of_a_popup_is_dismissed_until_the_popup_is_attached() {
    let mut worker = Machine::with_tab();
    let opening = |tab| Input::DebuggerEvent {
        tab,
        session: None,
        method: "Page.javascriptDialogOpening".to_owned(),
        params: Json(json!({})),
    };
    let (opener, url) = (TAB, "https://a.example/".to_owned());
    worker.handle(Input::PopupOpened { tab: OTHER, opener, url });
    let effects = worker.handle(opening(OTHER));
    let (method, params) = ("Page.handleJavaScriptDialog".to_owned(), json!({ "accept": false }));
    let (debuggee, params) = (Debuggee::tab(OTHER), Some(Json(params)));
    assert_eq!(effects, [Effect::RunCommand { request: None, debuggee, method, params }]);
    worker.handle(Input::IconClicked { tab: TabId(77) });
    assert_eq!(worker.handle(opening(TabId(77))), []);
}

#[test]
fn an_earlier_dialog_of_a_popup_is_closed_by_a_navigation_to_nowhere() {
    use crate::Unresponsive;
    let closes = |worker: &mut Machine, tab, reason| {
        let effects = worker.handle(Input::TabUnresponsive { tab, reason });
        let nowhere = Some(Json(json!({ "url": "data:," })));
        effects.iter().any(|effect| {
            matches!(effect, Effect::RunCommand { method, params, .. }
                if method == "Page.navigate" && *params == nowhere)
        })
    };
    let mut worker = Machine::with_tab();
    let (opener, url) = (TAB, "https://a.example/".to_owned());
    worker.handle(Input::PopupOpened { tab: OTHER, opener, url });
    assert!(!closes(&mut worker, OTHER, Unresponsive::Loading), "it would never arrive");
    assert!(closes(&mut worker, OTHER, Unresponsive::Blocked));
    worker.handle(Input::IconClicked { tab: TabId(77) });
    assert!(!closes(&mut worker, TabId(77), Unresponsive::Blocked), "a user's own page");
}

#[test]
fn a_tab_that_chrome_keeps_detaching_is_reattached_ever_more_slowly() {
    let mut worker = Machine::with_tab();
    let next_try = |worker: &mut Machine| {
        let reason = "target_closed".to_owned();
        let effects = worker.handle(Input::DebuggerDetached { tab: TAB, reason });
        worker.handle(Input::TabChecked { tab: TAB, exists: true });
        worker.attached(TAB, "T1");
        effects.into_iter().find_map(|effect| match effect {
            Effect::CheckTab { .. } => Some(0),
            Effect::ReattachLater { wait, .. } => Some(wait.as_millis()),
            _ => None,
        })
    };
    let waits: Vec<_> = (0..3).map(|_| next_try(&mut worker)).collect();
    assert_eq!(waits, [Some(0), Some(250), Some(1000)]);
    worker.debugger_event(None, "Page.frameNavigated", json!({}));
    assert_eq!(next_try(&mut worker), Some(0), "another page, another chance");
}

#[test]
fn cancel_on_one_tab_gives_up_the_lost_tabs_too() {
    let mut worker = Machine::with_tab();
    worker.control(OTHER, "T2");
    let detach = |tab, reason: &str| Input::DebuggerDetached { tab, reason: reason.to_owned() };
    worker.handle(detach(TAB, "target_closed"));
    worker.handle(detach(OTHER, "canceled_by_user"));
    assert_eq!(worker.worker.status().tabs, []);
}
