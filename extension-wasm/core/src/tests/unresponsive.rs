//! Tabs that do not answer when they are attached, and discarded tabs.

use super::*;
use crate::Unresponsive;

const BLOCKED: Input<Json> = Input::TabUnresponsive { tab: TAB, reason: Unresponsive::Blocked };

#[test]
fn an_unresponsive_tab_is_announced_when_it_answers() {
    let mut worker = Machine::unresponsive();
    worker.handle(Input::ToolbarShown { tab: TAB });
    assert!(worker.worker.is_settled(TAB) && !worker.worker.is_connected(TAB));
    assert_eq!(worker.attached(TAB, "T1")[0], announced("pw-tab-1", "T1"));
}

#[test]
fn the_tooltip_says_why_a_tab_is_not_controlled_yet() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::ToolbarShown { tab: TAB });
    let title = "Playwriter: this page does not answer; it is controlled when its dialog is closed";
    assert_eq!(worker.handle(BLOCKED), [show_badge(TAB, Icon::Grey, "!", title)]);
}

#[test]
fn a_click_releases_an_unresponsive_tab() {
    let mut worker = Machine::unresponsive();
    assert_eq!(
        worker.handle(Input::IconClicked { tab: TAB }),
        [Effect::Detach { tab: TAB }],
        "which makes Chrome answer for it"
    );
    assert_eq!(worker.handle(Input::IconClicked { tab: TAB }), [], "once is enough");
    let outcome = Err("Detached while handling command.".to_owned());
    worker.handle(Input::Attached { tab: TAB, outcome });
    assert_eq!(worker.worker.status().tabs, []);
}

#[test]
fn a_click_before_a_tab_counts_as_unresponsive_releases_it_too() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(worker.handle(BLOCKED), [Effect::Detach { tab: TAB }]);
}

#[test]
fn cancel_on_the_banner_releases_an_unresponsive_tab() {
    let reason = || "canceled_by_user".to_owned();
    let outcome = || Err("Detached while handling command.".to_owned());
    // Chrome may tell it in either order.
    let mut worker = Machine::unresponsive();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason: reason() });
    worker.handle(Input::Attached { tab: TAB, outcome: outcome() });
    assert_eq!(worker.worker.status().tabs, []);
    let mut worker = Machine::unresponsive();
    worker.handle(Input::Attached { tab: TAB, outcome: outcome() });
    worker.handle(Input::DebuggerDetached { tab: TAB, reason: reason() });
    assert_eq!(worker.worker.status().tabs, []);
}

#[test]
fn a_discarded_tab_is_attached_again_under_its_new_id() {
    let mut worker = Machine::with_tab();
    let effects = worker.handle(Input::TabReplaced { tab: TAB, by: OTHER });
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(
        effects,
        [
            Effect::Attach { tab: OTHER },
            show(OTHER, Icon::Grey, "Playwriter: connecting"),
            event(None, "Target.detachedFromTarget", gone),
            show(TAB, Icon::Black, "Playwriter: click to control this tab"),
        ]
    );
    worker.handle(Input::DebuggerDetached { tab: TAB, reason: "target_closed".to_owned() });
    worker.handle(Input::TabUnresponsive { tab: OTHER, reason: Unresponsive::Discarded });
    let tabs = worker.worker.status().tabs;
    assert_eq!(tabs.iter().map(|tab| tab.tab_id).collect::<Vec<_>>(), [OTHER]);
    assert_eq!(worker.attached(OTHER, "T2")[0], announced("pw-tab-2", "T2"));
}

#[test]
fn a_tab_that_is_discarded_while_it_waits_for_a_relay_still_waits() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: false });
    worker.handle(Input::IconClicked { tab: TAB });
    let effects = worker.handle(Input::TabReplaced { tab: TAB, by: OTHER });
    assert_eq!(effects, [show(OTHER, Icon::Grey, "Playwriter: connecting")]);
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    let effects = worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    assert_eq!(effects, [Effect::Send(ExtensionMessage::Ready), Effect::Attach { tab: OTHER }]);
}

impl Machine {
    fn unresponsive() -> Self {
        let mut machine = Self::connected();
        machine.handle(Input::IconClicked { tab: TAB });
        machine.handle(Input::ToolbarShown { tab: TAB });
        machine.handle(BLOCKED);
        machine.handle(Input::ToolbarShown { tab: TAB });
        machine
    }
}
