//! A client that does not read is let go; nobody else notices, and large messages are no offence.

use std::time::Duration;

use end_to_end::{RawClient, RawTab, RelayProgram, show_figure};
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

/// Enough to fill any queue and the system's buffers, at the weight of an event.
const UNTIL_FULL: u64 = 40_000;
const AFTERWARDS: u64 = 20_000;

const PER_TICK: u64 = 100;
const TICK: Duration = Duration::from_millis(10);

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_let_go_and_the_other_gets_all_in_order() {
    let mut relay = RelayProgram::start().await;
    let tab = relay.raw_tab().await;
    let mut fast = listener(&relay).await;
    let mut stalled = listener(&relay).await;
    let before = relay.peak_memory();

    let sending = tokio::spawn(async move {
        let start = Instant::now();
        let mut ticks = interval(TICK);
        for n in 0..UNTIL_FULL + AFTERWARDS {
            if n % PER_TICK == 0 {
                ticks.tick().await;
            }
            tab.event("Log.entryAdded", json!({ "n": n, "text": "x".repeat(2000) })).await;
        }
        let seconds = start.elapsed().as_secs_f64();
        ((UNTIL_FULL + AFTERWARDS) as f64 / seconds, tab)
    });
    let reading = tokio::spawn(async move {
        for n in 0..UNTIL_FULL + AFTERWARDS {
            assert_eq!(number(&fast.next().await), n);
        }
    });
    relay.said("does not read what it is sent").await;
    // It gets what was on its way, and the reason.
    let mut seen = 0;
    let (code, reason) = loop {
        match stalled.next_or_closed().await {
            Ok(event) => assert_eq!(number(&event), seen),
            Err(closed) => break closed,
        }
        seen += 1;
    };
    assert_eq!(code, 4007, "{reason}");
    assert!(seen < UNTIL_FULL);
    reading.await.unwrap();
    let (rate, _tab) = sending.await.unwrap();
    let grown = relay.peak_memory() - before;
    show_figure("events beside a stalled client", &format!("{rate:.0} a second"));
    show_figure("memory for a stalled client", &format!("{grown} MiB of 160 MiB"));
    assert!(grown < 160);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_messages_pass_both_ways() {
    let relay = RelayProgram::start().await;
    let _tab = relay.raw_tab().await;
    let mut client = relay.raw_client("/cdp").await;
    let session = client.attach(RawTab::TARGET).await;
    for megabytes in [60, 250] {
        let text = "x".repeat(megabytes * 1024 * 1024);
        let command = format!(
            r#"{{"id":2,"sessionId":"{session}","method":"Runtime.evaluate","params":{{"expression":"{text}"}}}}"#
        );
        client.send(&command).await;
        // The tab answers with the parameters.
        let length = client.next_length().await;
        assert!(length > text.len() && length < text.len() + 100, "{megabytes} MiB: {length}");
    }
    client.answer_to(3, r#"{"id":3,"method":"Target.getTargets"}"#).await;
}

/// A client that hears the tab's log entries.
async fn listener(relay: &RelayProgram) -> RawClient {
    let mut client = relay.raw_client("/cdp").await;
    let session = client.attach(RawTab::TARGET).await;
    let enable = json!({ "id": 2, "method": "Log.enable", "sessionId": session });
    client.answer_to(2, &enable.to_string()).await;
    client
}

fn number(event: &Value) -> u64 {
    event["params"]["n"].as_u64().unwrap()
}
