//! Runs one pair of extension and relay by itself, to work on it:
//! `cargo run -p end-to-end --example generations -- <index in Pair::ALL> [words of scenarios]`

use end_to_end::Pair;

#[expect(clippy::print_stdout, reason = "a program may show its results")]
#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let index = words.next().and_then(|index| index.parse::<usize>().ok()).unwrap_or_default();
    let words: Vec<String> = words.collect();
    if let Some(pair) = Pair::ALL.get(index) {
        println!("{pair:?}: {:#?}", pair.run(&words).await);
    }
}
