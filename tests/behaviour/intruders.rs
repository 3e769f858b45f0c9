//! Attacks on every door, each played with the real parts. A row of `docs/attacks.md` is a test here.

mod agents;
mod attack;
mod confined_clients;
mod consent;
mod extensions;
mod handshakes;
mod header_strippers;
mod left_behind;
mod native_code;
mod older_kernels;
mod one_folder;
mod other_users;
mod own_programs;
mod own_socket;
mod surroundings;
mod takeovers;
mod user_lookup;
mod web_pages;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use attack::{Attack, Threat};

const INTRODUCTION: &str = "# Attacks that are tried

`make test` plays every attack on this page with a real relay, a real Chromium and real users of the
system, and fails when one succeeds. It makes this page from the tests, and fails when the page was not
up to date. [SECURITY.md](../SECURITY.md) says what is promised against whom.
";

/// The files of this folder, and what each attacks.
const PARTS: [(&str, &[Attack]); 17] = [
    ("web_pages", web_pages::ATTACKS),
    ("header_strippers", header_strippers::ATTACKS),
    ("extensions", extensions::ATTACKS),
    ("handshakes", handshakes::ATTACKS),
    ("takeovers", takeovers::ATTACKS),
    ("one_folder", one_folder::ATTACKS),
    ("other_users", other_users::ATTACKS),
    ("user_lookup", user_lookup::ATTACKS),
    ("own_programs", own_programs::ATTACKS),
    ("own_socket", own_socket::ATTACKS),
    ("native_code", native_code::ATTACKS),
    ("older_kernels", older_kernels::ATTACKS),
    ("agents", agents::ATTACKS),
    ("surroundings", surroundings::ATTACKS),
    ("confined_clients", confined_clients::ATTACKS),
    ("left_behind", left_behind::ATTACKS),
    ("consent", consent::ATTACKS),
];

#[test]
fn the_page_of_attacks_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/attacks.md");
    let page = page();
    if fs::read_to_string(&file).unwrap_or_default() != page {
        fs::write(&file, page).unwrap();
        panic!("docs/attacks.md was out of date and has been written: look, and commit it");
    }
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for threat in Threat::ALL {
        let of_threat = |attack: &&Attack| attack.threat == threat;
        let count = PARTS.iter().flat_map(|(_, attacks)| attacks.iter()).filter(of_threat).count();
        if count == 0 {
            continue;
        }
        writeln!(page, "\n## {}\n", threat.title()).unwrap();
        writeln!(page, "| attack | outcome | test in `tests/behaviour/intruders/` |").unwrap();
        writeln!(page, "| --- | --- | --- |").unwrap();
        for (part, attacks) in PARTS {
            for Attack { attack, outcome, name, .. } in attacks.iter().filter(of_threat) {
                writeln!(page, "| {attack} | {outcome} | `{part}.rs`: `{name}` |").unwrap();
            }
        }
    }
    page
}
