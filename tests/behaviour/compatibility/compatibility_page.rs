//! `docs/compatibility.md`: made from the code, so that it cannot lie.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use end_to_end::{Pair, SCENARIOS, generations};
use shared_protocol::{ExtensionHello, Feature, Features};

const INTRODUCTION: &str = "# Which versions work together

Extensions reach users slowly, relays at once, so either may be older than the other. `make test`
makes this page from the code and fails when it was not up to date.

## What an extension understands

The relay derives it from how the extension introduces itself, and sends nothing else. *Unversioned*
are extensions from before they told their version; 0.4 and 0.7 came with the npm packages of these
versions; ours begin with 1.0. A newer extension than this tree's understands at least as much, and an
older one whatever it names as a capability beside what its version has.
";

const SCENES: &str = "
## What was tried

With real builds of the extension in a real Chromium, a real relay, and Playwright as the client.
`make test` fails unless all of it works. Released relays let in only extensions that have the id of a
released one, so ours has its key in these tests; with its own key they refuse it, and its icon says so.
";

#[test]
fn the_page_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/compatibility.md");
    let page = page();
    if fs::read_to_string(&file).unwrap_or_default() != page {
        fs::write(&file, page).unwrap();
        panic!("docs/compatibility.md was out of date and has been written: look, and commit it");
    }
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let columns = columns();
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    write_row(&mut page, ["", "messages"].into_iter().chain(names).chain(["without it"]));
    write_row(&mut page, ["---"].repeat(columns.len() + 3).into_iter());
    for feature in Feature::ALL {
        let has = columns.iter().map(|(_, features)| yes_or_no(features.has(feature)));
        let (messages, without) = words(feature);
        write_row(&mut page, [feature.name(), messages].into_iter().chain(has).chain([without]));
    }
    page.push_str(SCENES);
    let pairs = Pair::ALL
        .map(|pair| format!("extension {}, relay {}", pair.extension.name(), pair.relay.name()));
    write_row(&mut page, [""].into_iter().chain(pairs.iter().map(String::as_str)));
    write_row(&mut page, ["---"].repeat(pairs.len() + 1).into_iter());
    for scenario in SCENARIOS {
        write_row(&mut page, [scenario].into_iter().chain(pairs.iter().map(|_| "yes")));
    }
    page
}

/// The recorded generations, oldest first, and what this tree builds.
fn columns() -> Vec<(String, Features)> {
    let features = |query: &str| {
        let hello: ExtensionHello = serde_urlencoded::from_str(query).unwrap();
        Features::of(&hello)
    };
    let mut columns: Vec<(String, Features)> =
        generations().iter().map(|(name, query)| (name.clone(), features(query))).collect();
    columns.sort_by_key(|(name, features)| {
        (name != "unversioned", features.has(Feature::WindowMode), name.clone())
    });
    for (name, features) in &mut columns {
        if features.has(Feature::WindowMode) {
            name.push_str(" (ours)");
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let now = features(&format!("v={version}&capabilities={}", Feature::capabilities()));
    columns.push(("this tree".to_owned(), now));
    columns
}

fn write_row<'a>(page: &mut String, cells: impl Iterator<Item = &'a str>) {
    let cells: Vec<&str> = cells.collect();
    let start = if page.ends_with(".\n") { "\n" } else { "" };
    writeln!(page, "{start}| {} |", cells.join(" | ")).unwrap();
}

fn yes_or_no(has: bool) -> &'static str {
    if has { "yes" } else { "–" }
}

/// The messages that need it, and what happens without.
fn words(feature: Feature) -> (&'static str, &'static str) {
    match feature {
        Feature::InitialTab => {
            ("`createInitialTab`", "a client that finds no tab gets one by `Target.createTarget`")
        }
        Feature::InventoryReady => {
            ("`ready`", "clients do not wait for tabs that nobody has told of")
        }
        Feature::WindowMode => {
            ("`setWindowMode`", "`--separate-window` has no effect, and the relay warns")
        }
        Feature::Windows => (
            "`getWindow`, `setWindow`, `activateTab`",
            "asking for window bounds fails, with words that say what to update",
        ),
        Feature::Permissions => {
            ("`setPermissions`", "granting fails, with words that say what to update")
        }
        Feature::Downloads => (
            "`findDownload`, `cancelDownload`",
            "a client that wants the file hears that it was cancelled, and the relay warns",
        ),
        Feature::Notices => (
            "`setNotice`",
            "what it is too old for stands in the log and in `playwriter status`, not on its icon",
        ),
        Feature::Cookies => (
            "`callCookies`",
            "while no tab is controlled, a client sees and clears none, and setting fails",
        ),
        Feature::Pairing => (
            "the handshake before all else",
            "it gets no client while a paired browser is there, and clients get no files of its \
             downloads; `--pairing=required` refuses it",
        ),
        Feature::RestrictedTabs => (
            "`blankTab`, `closeTab`",
            "a tab on a certificate warning stays there: going elsewhere fails, with words that say \
             what to update, and a page that is closed is closed for clients only",
        ),
    }
}
