//! `docs/clients.md`: written from what the runs saw, never by hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use end_to_end::{CLIENTS, Client, Results};

/// A feature that a client does not have through the relay, and why.
pub(crate) struct Exception {
    pub(crate) client: &'static str,
    pub(crate) feature: &'static str,
    reason: &'static str,
}

const LATE_FRAMES: &str = "this version does not look for frames in other processes that were \
                           there before it; it does not find them in a browser of its own either";

/// All exceptions. A feature that works must not be listed.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        client: "Playwright 1.59",
        feature: "two clients: the late one sees the frame",
        reason: LATE_FRAMES,
    },
    Exception {
        client: "Playwright 1.55",
        feature: "two clients: the late one sees the frame",
        reason: LATE_FRAMES,
    },
    Exception {
        client: "Playwright 1.52",
        feature: "two clients: the late one sees the frame",
        reason: LATE_FRAMES,
    },
];

/// Forgets what an earlier run saw of a client, so that the page tells of this one only.
pub(crate) fn forget(client: &Client) {
    // The row may not exist.
    drop(fs::remove_file(row_of(client)));
}

/// Keeps a client's results, and writes the page as soon as there are results of all clients.
pub(crate) fn write(client: &Client, results: &Results) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(|broken| broken.into_inner());
    let row = serde_json::to_string_pretty(results).unwrap();
    fs::create_dir_all(rows()).unwrap();
    fs::write(row_of(client), row).unwrap();
    let all: Option<Vec<(Client, Results)>> =
        CLIENTS.iter().map(|client| Some((*client, read(client)?))).collect();
    if let Some(all) = all {
        let docs = root().join("docs");
        fs::create_dir_all(&docs).unwrap();
        fs::write(docs.join("clients.md"), page(&all)).unwrap();
    }
}

fn page(all: &[(Client, Results)]) -> String {
    let mut page = String::from(
        "# What works with which client\n\n\
         Seen by `make test` with the real clients, a real Chromium, the extension and the relay; \
         that run\nwrites this page. A dash means that the client was not asked.\n",
    );
    let mut families: Vec<&str> = all.iter().map(|(client, _)| client.family).collect();
    families.dedup();
    for family in families {
        let columns: Vec<&(Client, Results)> =
            all.iter().filter(|(client, _)| client.family == family).collect();
        write_family(&mut page, family, &columns);
    }
    page
}

fn write_family(page: &mut String, family: &str, columns: &[&(Client, Results)]) {
    let title = |client: &Client| match client.version {
        "" => "works".to_owned(),
        version => version.to_owned(),
    };
    let titles: Vec<String> = columns.iter().map(|(client, _)| title(client)).collect();
    let features: BTreeSet<&String> =
        columns.iter().flat_map(|(_, results)| results.keys()).collect();
    writeln!(page, "\n## {family}\n\n| feature | {} |", titles.join(" | ")).unwrap();
    writeln!(page, "| --- |{}", " --- |".repeat(columns.len())).unwrap();
    for feature in features {
        let cell = |results: &Results| match results.get(feature).map(String::as_str) {
            Some("ok") => "yes",
            Some(_) => "**no**",
            None => "–",
        };
        let cells: Vec<&str> = columns.iter().map(|(_, results)| cell(results)).collect();
        writeln!(page, "| {feature} | {} |", cells.join(" | ")).unwrap();
    }
    let names: Vec<String> = columns.iter().map(|(client, _)| client.name()).collect();
    for known in EXCEPTIONS.iter().filter(|known| names.iter().any(|name| name == known.client)) {
        let Exception { client, feature, reason } = known;
        writeln!(page, "\n{client}, {feature}: {reason}.").unwrap();
    }
}

fn read(client: &Client) -> Option<Results> {
    serde_json::from_str(&fs::read_to_string(row_of(client)).ok()?).ok()
}

fn row_of(client: &Client) -> PathBuf {
    rows().join(format!("{}.json", client.name().replace(['/', ' '], "-")))
}

fn rows() -> PathBuf {
    root().join("target/conformance")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
