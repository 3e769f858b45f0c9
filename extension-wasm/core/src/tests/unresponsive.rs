//! Tabs that do not answer when they are taken, or are put to sleep.

use super::*;
use crate::Unresponsive;

const BUSY: Input<Json> = Input::TabUnresponsive { tab: TAB, reason: Unresponsive::Blocked };

#[test]
fn a_tab_that_does_not_answer_is_announced_when_it_does() {
    let mut worker = Machine::unresponsive();
    worker.handle(Input::ToolbarShown { tab: TAB });
    assert!(worker.0.is_settled(TAB) && !worker.0.is_connected(TAB));
    assert_eq!(worker.attached(TAB, "T1")[0], announced("pw-tab-1", "T1"));
}

#[test]
fn the_icon_says_why_a_tab_is_not_controlled_yet() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::ToolbarShown { tab: TAB });
    let title = "Playwriter: this page does not answer; it is controlled when its dialog is closed";
    let state = ToolbarState { icon: Icon::Grey, badge: "!", title: title.to_owned() };
    assert_eq!(worker.handle(BUSY), [Effect::ShowToolbar { tab: TAB, state }]);
}

#[test]
fn a_click_releases_a_tab_that_does_not_answer() {
    let mut worker = Machine::unresponsive();
    assert_eq!(
        worker.handle(Input::IconClicked { tab: TAB }),
        [Effect::Detach { tab: TAB }],
        "which makes Chrome answer for it"
    );
    assert_eq!(worker.handle(Input::IconClicked { tab: TAB }), [], "once is enough");
    let outcome = Err("Detached while handling command.".to_owned());
    worker.handle(Input::Attached { tab: TAB, outcome });
    assert_eq!(worker.0.status().tabs, []);
}

#[test]
fn a_click_before_the_silence_is_known_releases_the_tab_too() {
    let mut worker = Machine::connected();
    worker.handle(Input::IconClicked { tab: TAB });
    worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(worker.handle(BUSY), [Effect::Detach { tab: TAB }]);
}

#[test]
fn cancel_on_the_banner_releases_a_tab_that_does_not_answer() {
    let reason = || "canceled_by_user".to_owned();
    let outcome = || Err("Detached while handling command.".to_owned());
    // Chrome may tell it in either order.
    let mut worker = Machine::unresponsive();
    worker.handle(Input::DebuggerDetached { tab: TAB, reason: reason() });
    worker.handle(Input::Attached { tab: TAB, outcome: outcome() });
    assert_eq!(worker.0.status().tabs, []);
    let mut worker = Machine::unresponsive();
    worker.handle(Input::Attached { tab: TAB, outcome: outcome() });
    worker.handle(Input::DebuggerDetached { tab: TAB, reason: reason() });
    assert_eq!(worker.0.status().tabs, []);
}

#[test]
fn a_tab_that_chrome_puts_to_sleep_is_ours_again_when_it_wakes() {
    let mut worker = Machine::with_tab();
    let effects = worker.handle(Input::TabReplaced { tab: TAB, by: OTHER });
    let gone = json!({"sessionId":"pw-tab-1","targetId":"T1"});
    assert_eq!(effects[0], Effect::Attach { tab: OTHER });
    assert!(effects.contains(&event(None, "Target.detachedFromTarget", gone)), "{effects:?}");
    worker.handle(Input::DebuggerDetached { tab: TAB, reason: "target_closed".to_owned() });
    worker.handle(Input::TabUnresponsive { tab: OTHER, reason: Unresponsive::Discarded });
    let tabs = worker.0.status().tabs;
    assert_eq!(tabs.iter().map(|tab| tab.tab_id).collect::<Vec<_>>(), [OTHER]);
    assert_eq!(worker.attached(OTHER, "T2")[0], announced("pw-tab-2", "T2"));
}

#[test]
fn a_tab_that_sleeps_before_a_relay_comes_still_waits_for_it() {
    let mut worker = Machine::default();
    worker.start();
    worker.handle(Input::Probed { attempt: FIRST, found: false });
    worker.handle(Input::IconClicked { tab: TAB });
    let effects = worker.handle(Input::TabReplaced { tab: TAB, by: OTHER });
    assert!(!effects.contains(&Effect::Attach { tab: OTHER }), "{effects:?}");
    worker.handle(Input::Probed { attempt: Attempt(2), found: true });
    let effects = worker.handle(Input::SocketOpened { attempt: Attempt(2) });
    assert!(effects.contains(&Effect::Attach { tab: OTHER }), "{effects:?}");
}

impl Machine {
    fn unresponsive() -> Self {
        let mut machine = Self::connected();
        machine.handle(Input::IconClicked { tab: TAB });
        machine.handle(Input::ToolbarShown { tab: TAB });
        machine.handle(BUSY);
        machine.handle(Input::ToolbarShown { tab: TAB });
        machine
    }
}
