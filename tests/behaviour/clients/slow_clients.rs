//! A client that does not read is let go; nobody else notices, and large messages are no offence.

use end_to_end::{Flood, RawTab, RelayProgram, Stage, flood_beside_a_stalled_client, show_figure};
use serde_json::{Value, json};

/// The events a second that the relay must forward. `make bench` shows that the release build does; here
/// it shares the machine with the other tests.
const PER_SECOND: u64 = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_let_go_and_the_other_gets_all_in_order() {
    let Flood { per_second, grown, closed: (code, reason, seen) } =
        flood_beside_a_stalled_client(PER_SECOND).await;
    assert_eq!(code, 4007, "{reason}");
    assert!(seen < Flood::EVENTS);
    show_figure("events beside a stalled client", &format!("{per_second:.0} a second"));
    show_figure("memory for a stalled client", &format!("{grown} MiB of 350 MiB"));
    assert!(grown < 350);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_slower_than_a_burst_gets_all_of_it() {
    let relay = RelayProgram::start().await;
    let tab = relay.raw_tab().await;
    let [mut slow, mut other] = [relay.listener().await, relay.listener().await];
    // More than the system's buffers hold, and less than Chrome's own socket does.
    let text = "x".repeat(4 * 1024 * 1024);
    let number = |event: Value| event["params"]["n"].as_u64().unwrap();
    let mut read = 0;
    for n in 0..30 {
        tab.event("Log.entryAdded", json!({ "n": n, "text": text })).await;
        assert_eq!(number(other.next().await), n);
        if n % 10 == 9 {
            assert_eq!(number(slow.next().await), read);
            read += 1;
        }
    }
    for n in read..30 {
        assert_eq!(number(slow.next().await), n);
    }
}

#[tokio::test]
async fn large_values_pass_both_ways_through_a_real_browser() {
    let stage = Stage::with_controlled_tab().await;
    let mut client = stage.raw_client("/cdp").await;
    let targets = client.answer_to(1, r#"{"id":1,"method":"Target.getTargets"}"#).await;
    let target = targets["result"]["targetInfos"][0]["targetId"].as_str().unwrap();
    let session = client.attach(target).await;
    let mut evaluate = async |expression: &str| {
        let params = json!({ "expression": expression });
        let command = json!({
            "id": 2, "sessionId": session, "method": "Runtime.evaluate", "params": params,
        });
        client.send(&command.to_string()).await;
        client.next_length().await
    };
    let length = evaluate("'x'.repeat(60e6)").await;
    assert!(length > 60_000_000 && length < 60_000_200, "{length}");
    let length = evaluate(&format!("'{}'.length", "x".repeat(60_000_000))).await;
    assert!(length > 60 && length < 200, "{length}");
    stage.end().await;
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
