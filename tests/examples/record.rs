//! Records the transcript of a generation, as `CONTRIBUTING.md` says:
//! `cargo run -p end-to-end --example record -- <generation> ours|paired|0.4|0.7|<folder of a built extension>`

use std::path::PathBuf;

use end_to_end::{Maker, Recorded, record};

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let generation = words.next().unwrap_or_default();
    let recorded = match words.next().as_deref() {
        Some("0.4") => Recorded::Of(Maker::Released("0.4")),
        Some("0.7") => Recorded::Of(Maker::Released("0.7")),
        Some("ours") | None => Recorded::Of(Maker::Ours),
        Some("paired") => Recorded::Paired,
        Some(folder) => Recorded::In(PathBuf::from(folder)),
    };
    record(&generation, &recorded).await;
}
