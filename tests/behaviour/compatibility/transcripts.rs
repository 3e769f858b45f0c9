//! Transcripts of earlier extensions are replayed: the wire is frozen.

use end_to_end::{generations, replay};

#[tokio::test]
async fn extensions_without_a_version_are_served_as_ever() {
    replay("unversioned").await;
}

#[tokio::test]
async fn extensions_of_0_4_are_served_as_ever() {
    replay("0.4").await;
}

#[tokio::test]
async fn extensions_of_0_7_are_served_as_ever() {
    replay("0.7").await;
}

#[tokio::test]
async fn our_extensions_of_1_0_0_are_served_as_ever() {
    replay("1.0.0").await;
}

#[tokio::test]
async fn our_extensions_of_1_0_0_prove_themselves_as_ever() {
    replay("1.0.0-paired").await;
}

#[test]
fn every_transcript_is_replayed() {
    let recorded: Vec<String> = generations().into_keys().collect();
    assert_eq!(
        recorded,
        ["0.4", "0.7", "1.0.0", "1.0.0-paired", "unversioned"],
        "add a test for the new one"
    );
}
