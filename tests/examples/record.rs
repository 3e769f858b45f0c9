//! Records the transcript of a generation, as `CONTRIBUTING.md` says:
//! `cargo run -p end-to-end --example record -- <generation> ours|0.4|0.7|<folder of a built extension>`

use std::path::PathBuf;

use end_to_end::{Maker, record};

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let generation = words.next().unwrap_or_default();
    let (maker, folder) = match words.next().as_deref() {
        Some("0.4") => (Maker::Released("0.4"), None),
        Some("0.7") => (Maker::Released("0.7"), None),
        Some("ours") | None => (Maker::Ours, None),
        Some(folder) => (Maker::Ours, Some(PathBuf::from(folder))),
    };
    record(&generation, maker, folder).await;
}
