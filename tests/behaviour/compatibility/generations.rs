//! Extensions and relays of different ages work together, in a real browser and for a real client.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use end_to_end::Maker::{Ours, Released};
use end_to_end::{Pair, Results, SCENARIOS, Scene, Trust, http_until};

/// A test for each pair, and the list of them.
macro_rules! pairs {
    ($($name:ident: $extension:expr, $relay:expr;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                works(Pair { extension: $extension, relay: $relay }).await;
            }
        )*

        #[test]
        fn every_pair_is_tried() {
            assert_eq!(Pair::ALL, [$(Pair { extension: $extension, relay: $relay }),*]);
        }
    };
}

pairs! {
    a_released_0_4_extension_with_our_relay: Released("0.4"), Ours;
    a_released_0_7_extension_with_our_relay: Released("0.7"), Ours;
    our_extension_with_a_released_0_4_relay: Ours, Released("0.4");
    our_extension_with_a_released_0_7_relay: Ours, Released("0.7");
    our_extension_with_our_relay: Ours, Ours;
}

const OURS: Pair = Pair { extension: Ours, relay: Ours };

#[tokio::test]
async fn two_that_prove_themselves_do_all_that_others_do() {
    for trust in [Trust::Paired, Trust::Required] {
        let results = OURS.run_with(trust, &[]).await;
        for scenario in SCENARIOS {
            assert_eq!(
                results.get(scenario).map(String::as_str),
                Some("ok"),
                "{trust:?} {scenario}"
            );
        }
    }
}

#[tokio::test]
async fn a_relay_that_requires_proofs_takes_no_extension_of_any_age_without_one() {
    for extension in [Released("0.4"), Released("0.7"), Ours] {
        let scene = Scene::set_up_with(Pair { extension, relay: Ours }, Trust::Missing).await;
        let port = scene.url().rsplit(':').next().unwrap().parse().unwrap();
        let was_refused = |status: &serde_json::Value| status.to_string().contains("is not paired");
        http_until(port, "GET /relay/status", was_refused).await;
        let met = |status: &serde_json::Value| status["connected"] == false;
        http_until(port, "GET /extension/status", met).await;
        scene.end().await;
    }
}

/// Runs all scenarios with a pair, and keeps its column of the matrix.
async fn works(pair: Pair) {
    let results = pair.run(&[]).await;
    keep(pair, &results);
    let outcome = |scenario: &str| results.get(scenario).map_or("not tried", String::as_str);
    let wrong: Vec<String> = SCENARIOS
        .into_iter()
        .filter(|scenario| outcome(scenario) != "ok")
        .map(|scenario| format!("{scenario}: {}", outcome(scenario)))
        .collect();
    assert!(wrong.is_empty(), "{pair:?}:\n  {}", wrong.join("\n  "));
    assert_eq!(results.len(), SCENARIOS.len(), "a scenario is not in the table: {results:?}");
}

/// Writes the matrix of what this run has tried so far, which `make test` shows at its end.
fn keep(pair: Pair, results: &Results) {
    static SEEN: Mutex<BTreeMap<usize, Results>> = Mutex::new(BTreeMap::new());
    let column = Pair::ALL.iter().position(|known| *known == pair).unwrap();
    let mut seen = SEEN.lock().unwrap_or_else(|broken| broken.into_inner());
    seen.insert(column, results.clone());
    let matrix = matrix(&seen);
    drop(seen);
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("versions.txt"), matrix).unwrap();
}

fn matrix(seen: &BTreeMap<usize, Results>) -> String {
    let names = |which: fn(&Pair) -> String| {
        let names: Vec<String> =
            seen.keys().map(|column| format!("{:>13}", which(&Pair::ALL[*column]))).collect();
        names.join("")
    };
    let mut matrix = format!("{:32}{}\n", "extension", names(|pair| pair.extension.name()));
    writeln!(matrix, "{:32}{}", "relay", names(|pair| pair.relay.name())).unwrap();
    for scenario in SCENARIOS {
        let cell = |results: &Results| match results.get(scenario).map(String::as_str) {
            Some("ok") => "passes",
            Some(_) => "FAILS",
            None => "not tried",
        };
        let cells: Vec<String> =
            seen.values().map(|results| format!("{:>13}", cell(results))).collect();
        writeln!(matrix, "{scenario:32}{}", cells.join("")).unwrap();
    }
    matrix
}
