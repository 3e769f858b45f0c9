//! Random histories: whatever happens in whatever order, the relay hears a consistent story.

#![expect(clippy::wildcard_enum_match_arm, reason = "the rest is of no interest here")]

mod world;

use proptest::prelude::*;
use world::World;

/// Something that the user, Chrome or the relay may do at any moment.
#[derive(Debug, Clone)]
enum Move {
    Click(i32),
    ReleaseAll,
    Command {
        session: u32,
        method: &'static str,
    },
    CreateTarget,
    Request {
        method: &'static str,
        params: &'static str,
    },
    TabUnresponsive(i32),
    TabReplaced(i32),
    DebuggerTakenAway {
        tab: i32,
        reason: &'static str,
    },
    TabClosed(i32),
    TabNavigated(i32),
    TabRegrouped(i32, Option<i32>),
    Crash(i32),
    Tells(i32),
    PopupOf(i32),
    RelayLost(u16),
    WindowMode(bool),
    /// Chrome or the clock answers one of the things that are under way; `fails` decides how.
    Answer {
        which: usize,
        fails: bool,
    },
    WorkerDies,
}

fn moves() -> impl Strategy<Value = Move> {
    let tab = 1..5_i32;
    prop_oneof![
        4 => tab.clone().prop_map(Move::Click),
        1 => Just(Move::ReleaseAll),
        4 => (1..8_u32, prop_oneof![
            Just("Runtime.enable"), Just("Page.captureScreenshot"), Just("Target.setAutoAttach"),
        ]).prop_map(|(session, method)| Move::Command { session, method }),
        2 => Just(Move::CreateTarget),
        2 => prop_oneof![
            Just(("getWindow", r#"{"windowId":9}"#)),
            Just(("setWindow", r#"{"windowId":9,"left":1}"#)),
            Just(("activateTab", r#"{"targetId":"T1"}"#)),
            Just(("blankTab", r#"{"targetId":"T1"}"#)),
            Just(("closeTab", r#"{"targetId":"T1"}"#)),
            Just(("setPermissions", r#"{"rules":[{"name":"camera","setting":"allow"}]}"#)),
            Just(("findDownload", r#"{"url":"http://site/"}"#)),
            Just(("callCookies", r#"{"function":"set","details":[{}]}"#)),
            Just(("cancelDownload", r#"{"id":1}"#)),
        ].prop_map(|(method, params)| Move::Request { method, params }),
        2 => tab.clone().prop_map(Move::TabUnresponsive),
        1 => tab.clone().prop_map(Move::TabReplaced),
        2 => (tab.clone(), prop_oneof![Just("target_closed"), Just("canceled_by_user")])
            .prop_map(|(tab, reason)| Move::DebuggerTakenAway { tab, reason }),
        1 => tab.clone().prop_map(Move::TabClosed),
        2 => tab.clone().prop_map(Move::TabNavigated),
        2 => (tab.clone(), prop_oneof![Just(None), (50..52_i32).prop_map(Some)])
            .prop_map(|(tab, group)| Move::TabRegrouped(tab, group)),
        1 => tab.clone().prop_map(Move::Crash),
        3 => tab.clone().prop_map(Move::Tells),
        1 => tab.prop_map(Move::PopupOf),
        1 => prop_oneof![Just(1006), Just(4001)].prop_map(Move::RelayLost),
        1 => any::<bool>().prop_map(Move::WindowMode),
        20 => (any::<usize>(), any::<bool>()).prop_map(|(which, fails)| Move::Answer { which, fails }),
        1 => Just(Move::WorkerDies),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_relay_is_told_a_consistent_story(moves in prop::collection::vec(moves(), 1..120)) {
        let mut world = World::new();
        for next in moves {
            world.make(next)?;
        }
        world.answer_everything()?;
        prop_assert!(world.unanswered.is_empty(), "never answered: {:?}", world.unanswered);
    }
}
