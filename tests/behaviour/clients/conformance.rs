//! What clients can do through the relay, feature by feature, and the table that says so.

use end_to_end::{Client, Results, Stage};

use super::conformance_table::{self as table, EXCEPTIONS};

#[tokio::test]
async fn playwright_1_65() {
    conforms("Playwright 1.65").await;
}

#[tokio::test]
async fn playwright_1_59() {
    conforms("Playwright 1.59").await;
}

#[tokio::test]
async fn playwright_1_55() {
    conforms("Playwright 1.55").await;
}

#[tokio::test]
async fn playwright_1_52() {
    conforms("Playwright 1.52").await;
}

#[tokio::test]
async fn puppeteer_25() {
    conforms("Puppeteer 25").await;
}

#[tokio::test]
async fn puppeteer_24() {
    conforms("Puppeteer 24").await;
}

#[tokio::test]
async fn puppeteer_22() {
    conforms("Puppeteer 22").await;
}

#[tokio::test]
async fn several_clients_on_one_tab() {
    conforms("Several clients on one tab").await;
}

#[tokio::test]
async fn clients_that_vanish() {
    conforms("Clients that vanish").await;
}

#[tokio::test]
async fn chromiumoxide() {
    conforms("chromiumoxide").await;
}

#[tokio::test]
async fn raw_sequences() {
    conforms("Raw sequences").await;
}

#[tokio::test]
async fn chrome_remote_interface() {
    conforms("chrome-remote-interface").await;
}

#[tokio::test]
async fn chrome_devtools_mcp() {
    conforms("chrome-devtools-mcp").await;
}

#[tokio::test]
async fn playwright_mcp() {
    conforms("@playwright/mcp").await;
}

#[tokio::test]
async fn agent_browser() {
    conforms("agent-browser").await;
}

/// Runs a client's features on a stage of its own.
async fn conforms(name: &str) {
    let client = Client::named(name);
    table::forget(&client);
    let stage = Stage::with_controlled_tab().await;
    let results = client.run(&stage, &[]).await;
    stage.end().await;
    judge(&client, &results);
}

/// Writes the results down; fails unless every feature works, but for the known exceptions.
fn judge(client: &Client, results: &Results) {
    table::write(client, results);
    assert!(!results.is_empty(), "{} did nothing", client.name());
    let excepted = |feature: &str| {
        EXCEPTIONS.iter().any(|known| known.client == client.name() && known.feature == feature)
    };
    let wrong: Vec<String> = results
        .iter()
        .filter(|(feature, outcome)| (*outcome == "ok") == excepted(feature))
        .map(|(feature, outcome)| match outcome.as_str() {
            "ok" => format!("{feature}: works, and is still listed as an exception"),
            trouble => format!("{feature}: {trouble}"),
        })
        .collect();
    assert!(wrong.is_empty(), "{}:\n  {}", client.name(), wrong.join("\n  "));
}
