//! Runs a client's script by itself, to work on it or on the relay:
//! `cargo run -p end-to-end --example conformance -- [--direct] "Playwright 1.65" [words of features]`

use end_to_end::{Client, DirectBrowser, Stage};

#[tokio::main]
async fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let direct = words.first().is_some_and(|word| word == "--direct");
    let mut words = words.drain(usize::from(direct)..);
    let client = Client::named(&words.next().unwrap_or_default());
    let words: Vec<String> = words.collect();
    if direct {
        client.run_directly(&DirectBrowser::start().await, &words).await;
    } else {
        let stage = Stage::with_controlled_tab().await;
        client.run(&stage, &words).await;
        stage.end().await;
    }
}
