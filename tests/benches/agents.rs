//! `make bench`: what agents wait for, and what the programs take that wait for agents.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program may show its results, and fail"
)]

use std::time::Duration;

use end_to_end::{Agent, Sdk, Stage, resident_memory};
use relay::server::RelayOptions;
use serde_json::json;
use tokio::time::Instant;

const CALLS: usize = 300;

/// The limit of the memory of MCP server and relay together while nobody has a session, in MiB.
const MEMORY: f64 = 40.0;

/// The limit of what a warm call takes beyond Playwright's own time, in milliseconds.
const OVERHEAD: f64 = 20.0;

/// The number of sessions that are begun on each side; a relay has no more than 32.
const STARTS: usize = 15;

/// The limit of the time by which the boundary delays the start of a sandbox, in milliseconds.
const BOUNDARY: f64 = 50.0;

/// The limit of the delay after which code that overruns its limit is answered, in milliseconds.
const LATE: f64 = 1000.0;

#[tokio::main]
async fn main() {
    let stage = Stage::without_relay().await;
    let mut agent = stage.agent_over_stdio(Sdk::TypeScript);
    agent.tools().await;
    stage
        .until_in_worker("getExtensionState().then((s) => s.connectionState === 'connected')")
        .await;
    let (server, relay) =
        (resident_memory(agent.server()), resident_memory(stage.background_relay()));
    println!(
        "idle memory: MCP server {server:.1} MiB + relay {relay:.1} MiB = {:.1} MiB (limit {MEMORY})",
        server + relay
    );
    assert!(server + relay < MEMORY, "too much memory");

    let start = Instant::now();
    agent.execute("1+1").await;
    println!("first execute, cold: {:.0} ms", milliseconds(start.elapsed()));
    let plain = median(&mut agent, "1+1").await;
    println!("warm execute over stdio, 1+1: {plain:.1} ms (median of {CALLS}; limit {OVERHEAD})");
    assert!(plain < OVERHEAD, "too slow");
    let driven = median(&mut agent, "await page.evaluate('1+1')").await;
    let playwright = playwright(&mut agent).await;
    println!(
        "warm execute over stdio, page.evaluate('1+1'): {driven:.1} ms (median of {CALLS}), of which \
         {playwright:.1} ms are Playwright's (limit {OVERHEAD} besides)"
    );
    assert!(driven - playwright < OVERHEAD, "too slow");
    let late = late(&mut agent).await;
    println!(
        "answer past the limit of code that blocks: {late:.0} ms (slowest of 5; limit {LATE})"
    );
    assert!(late < LATE, "too late");
    let mut over_http = stage.agent_over_http(Sdk::TypeScript);
    over_http.execute("1+1").await;
    let plain = median(&mut over_http, "1+1").await;
    println!("warm execute over HTTP, 1+1: {plain:.1} ms (median of {CALLS}; limit {OVERHEAD})");
    assert!(plain < OVERHEAD, "too slow");
    over_http.end().await;
    agent.end().await;
    stage.end().await;

    let (with, without) = sandbox_starts().await;
    println!(
        "first execute of a session: {with:.0} ms inside of the boundary, {without:.0} ms without it \
         (medians of {STARTS}; limit {BOUNDARY} besides)"
    );
    assert!(with - without < BOUNDARY, "the boundary takes too long");
}

/// Measures the first calls of new sessions, with the boundary and without, in turn.
async fn sandbox_starts() -> (f64, f64) {
    let mut stages = Vec::new();
    for is_confined in [true, false] {
        let mut stage = Stage::without_relay().await;
        let mut executor = stage.executor();
        executor.launcher.take_if(|_| !is_confined);
        stage.start_relay_as(RelayOptions { executor, ..RelayOptions::default() }).await;
        stage.status_when("the extension to connect", |status| status.connected).await;
        stage.control_tab().await;
        let agent = stage.agent_over_http(Sdk::TypeScript);
        stages.push((stage, agent, Vec::new()));
    }
    for number in 0..STARTS {
        for (_, agent, took) in &mut stages {
            let call = json!({ "session": format!("s{number}"), "code": "1+1" });
            let start = Instant::now();
            let answer = agent.call("execute", call).await;
            took.push(start.elapsed());
            assert!(answer.text.contains('2'), "{answer:?}");
        }
    }
    let mut medians = Vec::new();
    for (stage, agent, mut took) in stages {
        took.sort();
        medians.push(milliseconds(took[STARTS / 2]));
        agent.end().await;
        stage.end().await;
    }
    (medians[0], medians[1])
}

async fn median(agent: &mut Agent, code: &str) -> f64 {
    let mut took = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let start = Instant::now();
        let answer = agent.execute(code).await;
        took.push(start.elapsed());
        assert_eq!(answer.text, "2");
    }
    took.sort();
    milliseconds(took[CALLS / 2])
}

/// Measured inside of the worker, without anything of ours.
async fn playwright(agent: &mut Agent) -> f64 {
    let code = format!(
        "const took = [];
         for (let call = 0; call < {CALLS}; call += 1) {{
             const start = performance.now();
             await page.evaluate('1+1');
             took.push(performance.now() - start);
         }}
         took.sort((one, other) => one - other)[{CALLS} / 2].toFixed(1)"
    );
    let answer = agent.execute(&code).await;
    answer.text.parse().expect("a number")
}

async fn late(agent: &mut Agent) -> f64 {
    let limit = Duration::from_millis(300);
    let call = |code| json!({ "session": "late", "code": code, "timeout": limit.as_millis() });
    let mut slowest = Duration::ZERO;
    for _ in 0..5 {
        agent.call("execute", call("1")).await;
        let start = Instant::now();
        let answer = agent.call("execute", call("while (true) {}")).await;
        slowest = slowest.max(start.elapsed().saturating_sub(limit));
        assert!(answer.failed, "{answer:?}");
    }
    milliseconds(slowest)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
