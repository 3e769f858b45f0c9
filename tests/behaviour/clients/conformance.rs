//! Clients are tried through the relay, feature by feature; a table shows the outcome.

use end_to_end::{CLIENTS, Client, Results, Stage};

use super::conformance_table::{self as table, EXCEPTIONS};

/// A test for each client, and the list of them.
macro_rules! clients {
    ($($test:ident: $name:literal;)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                conforms($name).await;
            }
        )*

        #[test]
        fn every_client_is_tried() {
            assert_eq!(CLIENTS.map(|client| client.name()), [$($name),*]);
        }
    };
}

clients! {
    playwright_1_65: "Playwright 1.65";
    playwright_1_59: "Playwright 1.59";
    playwright_1_55: "Playwright 1.55";
    playwright_1_52: "Playwright 1.52";
    puppeteer_25: "Puppeteer 25";
    puppeteer_24: "Puppeteer 24";
    puppeteer_22: "Puppeteer 22";
    several_clients_on_one_tab: "Several clients on one tab";
    clients_that_vanish: "Clients that vanish";
    chromiumoxide: "chromiumoxide";
    chrome_remote_interface: "chrome-remote-interface";
    chrome_devtools_mcp: "chrome-devtools-mcp";
    playwright_mcp: "@playwright/mcp";
    agent_browser: "agent-browser";
    raw_sequences: "Raw sequences";
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
