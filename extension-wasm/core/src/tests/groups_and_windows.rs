//! Tab groups and the separate window.

use super::*;

#[test]
fn tabs_are_grouped_one_after_the_other() {
    let mut worker = Machine::with_groups();
    let group = |tab, groups: &[i32]| Effect::Group {
        tab,
        groups: groups.iter().copied().map(GroupId).collect(),
    };
    worker.handle(Input::IconClicked { tab: TAB });
    assert_eq!(worker.attached(TAB, "T1"), [announced("pw-tab-1", "T1"), group(TAB, &[])]);
    worker.handle(Input::IconClicked { tab: OTHER });
    assert_eq!(worker.attached(OTHER, "T2"), [announced("pw-tab-2", "T2")], "one at a time");
    let effects = worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    assert_eq!(effects, [group(OTHER, &[7])]);
}

#[test]
fn dragging_a_tab_into_or_out_of_the_group_counts_as_a_click() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    let regroup = |tab, group: Option<i32>| Input::TabRegrouped { tab, group: group.map(GroupId) };
    assert_eq!(worker.handle(regroup(TAB, Some(7))), [], "that was us");
    assert_eq!(worker.handle(regroup(OTHER, Some(8))), [], "a group of the user's");
    let take_out = Effect::TryUngroup { tab: OTHER, groups: vec![GroupId(7)] };
    assert_eq!(worker.handle(regroup(OTHER, Some(7))), [take_out], "who was it?");
    let refused = Input::UngroupTried { tab: OTHER, is_dragged: Some(true) };
    assert_eq!(worker.handle(refused)[0], Effect::Attach { tab: OTHER });
    assert_eq!(worker.handle(regroup(TAB, None)), [Effect::ReadGroup { tab: TAB }]);
    let effects = worker.handle(Input::GroupRead { tab: TAB, group: None });
    assert_eq!(effects[0], Effect::Detach { tab: TAB });
}

#[test]
fn a_tab_that_an_extension_put_into_the_group_is_ungrouped() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    worker.handle(Input::TabRegrouped { tab: OTHER, group: Some(GroupId(7)) });
    let tried = |is_dragged| Input::UngroupTried { tab: OTHER, is_dragged };
    let effects = worker.handle(tried(Some(false)));
    let title = "Playwriter: click to control this tab; something other than your mouse put it into \
                 the group";
    assert_eq!(effects, [show_badge(OTHER, Icon::Black, "?", title)]);
    assert_eq!(worker.handle(tried(None)), [], "it has left by itself");
    worker.handle(Input::IconClicked { tab: OTHER });
    assert_eq!(worker.handle(tried(Some(true))), [], "it is controlled already");
}

#[test]
fn a_tab_put_into_a_group_that_is_being_made_is_ungrouped_too() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    let joined = Input::TabRegrouped { tab: OTHER, group: Some(GroupId(7)) };
    assert_eq!(worker.handle(joined), [], "whose group is that?");
    let made = worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    assert_eq!(made, [Effect::ReadGroup { tab: OTHER }]);
    assert_eq!(
        worker.handle(Input::GroupRead { tab: OTHER, group: Some(GroupId(7)) }),
        [Effect::TryUngroup { tab: OTHER, groups: vec![GroupId(7)] }]
    );
}

#[test]
fn a_tab_that_moves_to_another_window_is_grouped_there() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::Grouped { group: Some(GroupId(7)) });
    // The order in which Chrome tells it.
    let left = Input::TabRegrouped { tab: TAB, group: None };
    assert_eq!(worker.handle(left), [Effect::ReadGroup { tab: TAB }]);
    worker.handle(Input::TabMoved { tab: TAB });
    assert_eq!(
        worker.handle(Input::GroupRead { tab: TAB, group: None }),
        [Effect::Group { tab: TAB, groups: vec![GroupId(7)] }]
    );
}

#[test]
fn tabs_of_a_separate_window_open_in_one_window_and_close_with_the_last() {
    let mut worker = Machine::connected();
    let mode = json!({ "method": "setWindowMode", "params": { "separateWindow": true } });
    assert_eq!(worker.relay_sent(mode), []);
    let create = "Target.createTarget";
    assert_eq!(
        worker.command(1, None, create, json!({})),
        [create_tab(1, "about:blank", Place::NewSeparateWindow)]
    );
    assert_eq!(worker.command(2, None, create, json!({})), [], "waits for the window");
    let window = WindowId(3);
    let effects =
        worker.handle(Input::TabCreated { request: request(1), outcome: Ok((TAB, Some(window))) });
    assert_eq!(
        effects,
        [
            create_tab(2, "about:blank", Place::SeparateWindow(window)),
            Effect::Attach { tab: TAB },
            show(TAB, Icon::Grey, "Playwriter: connecting"),
        ]
    );
    worker.attached(TAB, "T1");
    worker.handle(Input::TabCreated { request: request(2), outcome: Ok((OTHER, Some(window))) });
    worker.attached(OTHER, "T2");
    let closed = |effects: &[Effect<Json>]| {
        effects.iter().any(|effect| matches!(effect, Effect::CloseTabs { tabs } if tabs.len() == 2))
    };
    assert!(!closed(&worker.handle(Input::IconClicked { tab: TAB })));
    assert!(closed(&worker.handle(Input::IconClicked { tab: OTHER })));
}

#[test]
fn a_separate_window_that_the_user_closed_is_opened_again() {
    let mut worker = Machine::connected();
    let mode = json!({ "method": "setWindowMode", "params": { "separateWindow": true } });
    worker.relay_sent(mode);
    worker.command(1, None, "Target.createTarget", json!({}));
    let outcome = Ok((TAB, Some(WindowId(3))));
    worker.handle(Input::TabCreated { request: request(1), outcome });
    worker.attached(TAB, "T1");
    worker.handle(Input::TabRemoved { tab: TAB });
    worker.handle(Input::WindowRemoved { window: WindowId(3) });
    assert_eq!(
        worker.command(2, None, "Target.createTarget", json!({})),
        [create_tab(2, "about:blank", Place::NewSeparateWindow)]
    );
}

#[test]
fn a_tab_released_while_it_is_being_grouped_leaves_the_group_again() {
    let mut worker = Machine::with_groups();
    worker.control(TAB, "T1");
    worker.handle(Input::IconClicked { tab: TAB });
    let group = Some(GroupId(7));
    let effects = worker.handle(Input::Grouped { group });
    assert_eq!(effects, [Effect::Ungroup { tab: TAB, groups: vec![GroupId(7)] }]);
}
