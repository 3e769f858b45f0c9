//! `make bench`: what the relay costs, against the same browser without it and against
//! the relay in TypeScript, in one run.

#![expect(clippy::print_stdout, reason = "a program may show its results")]
#![expect(clippy::unwrap_used, reason = "what goes wrong here ends the bench")]

use std::collections::BTreeMap;
use std::path::Path;

use end_to_end::{DirectBrowser, Maker, Pair, Scene, Stage, flood_beside_a_stalled_client};
use tokio::process::Command;

/// The last release in TypeScript, with its own extension.
const BEFORE: Pair = Pair { extension: Maker::Released("0.7"), relay: Maker::Released("0.7") };
const ROUNDS: usize = 3;

/// Milliseconds by what was called; none for what does not work there.
type Medians = BTreeMap<String, Option<f64>>;

#[tokio::main]
async fn main() {
    round_trips().await;
    events().await;
}

/// Playwright's calls: directly, through our relay, and through the one that came before it. They
/// take turns, so that whatever else the machine does is shared by all three.
async fn round_trips() {
    let direct = DirectBrowser::start().await;
    let ours = Stage::without_relay().await;
    let mut relay = ours.relay_program().await;
    let before = Scene::set_up(BEFORE).await;
    before.until_met().await;

    let mut rounds = <[Vec<Medians>; 3]>::default();
    for _ in 0..ROUNDS {
        rounds[0].push(measured(direct.url(), &direct.site.url()).await);
        rounds[1].push(measured(&ours.url(), &ours.site.url()).await);
        rounds[2].push(measured(&before.url(), &before.site.url()).await);
    }
    before.end().await;
    relay.kill().await.unwrap();
    ours.end().await;

    println!(
        "{:20} {:>10} {:>10} {:>10} {:>14} {:>14}",
        "median of", "direct", "relay", "0.7", "relay / direct", "0.7 / relay"
    );
    for name in rounds[0][0].keys() {
        let [direct, relay, before] = rounds.each_ref().map(|rounds| middle(rounds, name));
        let (direct, relay) = (direct.unwrap(), relay.unwrap());
        let (before, gain) = match before {
            Some(before) => (format!("{before:.2} ms"), format!("{:.2}", before / relay)),
            None => ("fails".to_owned(), String::new()),
        };
        println!(
            "{name:20} {direct:7.2} ms {relay:7.2} ms {before:>10} {:14.2} {gain:>14}",
            relay / direct
        );
    }
}

/// The median of the rounds' medians, if all rounds have one.
fn middle(rounds: &[Medians], name: &str) -> Option<f64> {
    let mut values: Vec<f64> = rounds.iter().map(|round| round[name]).collect::<Option<_>>()?;
    values.sort_by(f64::total_cmp);
    Some(values[values.len() / 2])
}

/// Events to a client that reads, beside one that does not.
async fn events() {
    for per_second in [10_000, 100_000] {
        let flood = flood_beside_a_stalled_client(per_second).await;
        println!(
            "events, {per_second} a second sent: {:.0} a second read in order beside a stalled \
             client, memory +{} MiB",
            flood.per_second, flood.grown
        );
        assert!(flood.per_second > 9_500.0, "a relay forwards 10 000 events a second");
    }
}

async fn measured(cdp: &str, site: &str) -> Medians {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/round_trips.mjs");
    let output = Command::new("node").arg(script).args([cdp, site]).output().await.unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap()
}
