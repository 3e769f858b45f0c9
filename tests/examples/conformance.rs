//! Runs a client's features by themselves, to work on it or on the relay:
//! `cargo run -p end-to-end --example conformance -- [--direct] "Playwright 1.65" [words of features]`

use end_to_end::{Client, DirectBrowser, Stage};

#[expect(clippy::print_stdout, reason = "a program may show its results")]
#[tokio::main]
async fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let direct = words.first().is_some_and(|word| word == "--direct");
    let mut words = words.drain(usize::from(direct)..);
    let client = Client::named(&words.next().unwrap_or_default());
    let words: Vec<String> = words.collect();
    let results = if direct {
        client.run_directly(&DirectBrowser::start().await, &words).await
    } else {
        let stage = Stage::with_controlled_tab().await;
        let results = client.run(&stage, &words).await;
        stage.end().await;
        results
    };
    println!("{results:#?}");
}
