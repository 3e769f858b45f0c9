//! Playwright's whole API, walked through the relay and on a browser's own debugging port.

use std::collections::{BTreeMap, BTreeSet};

use end_to_end::{DirectBrowser, Stage, Walk, show_figure, walk_playwright};

/// The methods that cannot work through a relay, and why.
const EXCEPTIONS: [(&str, &str); 6] = [
    ("Browser.newContext", "the user's profile is the one context there is"),
    ("Browser.newPage", "it makes a context of its own for the page"),
    ("BrowserContext.setStorageState", "it empties the cache of the user's whole profile"),
    ("Page.requestGC", "chrome.debugger has no HeapProfiler"),
    ("Coverage.startJSCoverage", "chrome.debugger has no Profiler"),
    ("Coverage.stopJSCoverage", "chrome.debugger has no Profiler"),
];

/// The share of what passes directly that must pass through the relay too.
const SHARE: f64 = 0.99;

#[tokio::test(flavor = "multi_thread")]
async fn every_playwright_call_that_works_directly_works_through_the_relay() {
    let stage = Stage::with_controlled_tab().await;
    let browser = DirectBrowser::start().await;
    let site = stage.site.url();
    let relay = stage.url();
    let (through_relay, directly) =
        tokio::join!(walk_playwright(&relay, &site), walk_playwright(browser.url(), &site));
    stage.end().await;

    show_classes(&through_relay, &directly);
    show_second_tries("through the relay", &through_relay);
    show_second_tries("directly", &directly);
    let unwalked: Vec<_> = failures(&directly).collect();
    assert!(unwalked.is_empty(), "the walk itself is wrong, or has no case: {unwalked:#?}");
    let passing: Vec<_> = passes(&directly).collect();
    let ours = passing.iter().filter(|case| passed(&through_relay, case)).count();
    let lost: BTreeMap<_, _> = passing
        .iter()
        .filter(|case| !passed(&through_relay, case) && !is_exception(case))
        .map(|case| (*case, through_relay.outcomes.get(*case)))
        .collect();
    assert!(lost.is_empty(), "these pass directly, but not through the relay: {lost:#?}");
    let found: Vec<_> =
        EXCEPTIONS.iter().filter(|(case, _)| passed(&through_relay, case)).collect();
    assert!(found.is_empty(), "these are exceptions no more: {found:#?}");
    assert!(share(ours, passing.len()) >= SHARE, "{ours} of {}", passing.len());
}

/// Prints how many cases of each class pass here and there.
fn show_classes(through_relay: &Walk, directly: &Walk) {
    let classes: BTreeSet<_> =
        directly.outcomes.keys().filter_map(|case| case.split_once('.')).collect();
    let classes: BTreeSet<_> = classes.into_iter().map(|(class, _)| class).collect();
    for class in classes {
        let of_class = |case: &&str| case.split_once('.').is_some_and(|(name, _)| name == class);
        let all: Vec<_> = passes(directly).filter(of_class).collect();
        show_share(class, through_relay, &all);
    }
    show_share("all of Playwright", through_relay, &passes(directly).collect::<Vec<_>>());
}

/// Prints the cases that passed only when they were tried again.
fn show_second_tries(way: &str, walk: &Walk) {
    let twice: Vec<_> = walk.retried.iter().filter(|(case, _)| passed(walk, case)).collect();
    let all = walk.outcomes.len();
    show_figure(
        &format!("walk {way}, passed at the second try"),
        &format!("{} of {all}", twice.len()),
    );
    for (case, trouble) in twice {
        show_figure(&format!("first try of {case}"), trouble);
    }
}

fn show_share(name: &str, through_relay: &Walk, all: &[&str]) {
    let ours = all.iter().filter(|case| passed(through_relay, case)).count();
    let percent = 100.0 * share(ours, all.len());
    show_figure(&format!("walk of {name}"), &format!("{ours} of {} ({percent:.1} %)", all.len()));
}

fn passes(walk: &Walk) -> impl Iterator<Item = &str> {
    walk.outcomes.iter().filter(|(_, outcome)| *outcome == "ok").map(|(case, _)| case.as_str())
}

fn failures(walk: &Walk) -> impl Iterator<Item = (&String, &String)> {
    walk.outcomes.iter().filter(|(_, outcome)| *outcome != "ok")
}

fn passed(walk: &Walk, case: &str) -> bool {
    walk.outcomes.get(case).is_some_and(|outcome| outcome == "ok")
}

fn is_exception(case: &str) -> bool {
    EXCEPTIONS.iter().any(|(name, _)| *name == case)
}

#[expect(clippy::cast_precision_loss, reason = "there are hundreds of cases, not millions")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}
