//! More events than one of two clients reads.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, interval};

use super::RelayProgram;

/// Far more than the system's buffers hold, at the weight of an event.
const UNTIL_FULL: u64 = 40_000;
const AFTERWARDS: u64 = 20_000;

const PER_TICK: u64 = 100;

/// The number of events that may be on their way to the client that reads. Its queue has room for ten
/// times as many.
const AHEAD: usize = 10_000;

/// The outcome. If the reading client did not get everything in order, the test has failed.
#[derive(Debug)]
pub struct Flood {
    /// The number of events a second that reached the client that reads.
    pub per_second: f64,
    /// The growth of the relay, in MiB.
    pub grown: u64,
    /// The close code and reason for the other client, and the number of events that it had received.
    pub closed: (u16, String, u64),
}

impl Flood {
    /// The number of events that are sent.
    pub const EVENTS: u64 = UNTIL_FULL + AFTERWARDS;
}

/// Sends events at this rate at most to a client that reads and one that does not.
pub async fn flood_beside_a_stalled_client(per_second: u64) -> Flood {
    let mut relay = RelayProgram::start().await;
    let tab = relay.raw_tab().await;
    let mut fast = relay.listener().await;
    let mut stalled = relay.listener().await;
    let before = relay.peak_memory();
    let start = Instant::now();
    // However the machine shares its time out, the one that reads is not left behind.
    let ahead = Arc::new(Semaphore::new(AHEAD));
    let read = Arc::clone(&ahead);
    let sending = tokio::spawn(async move {
        let mut ticks = interval(Duration::from_secs(1) * PER_TICK as u32 / per_second as u32);
        for n in 0..Flood::EVENTS {
            if n % PER_TICK == 0 {
                ticks.tick().await;
            }
            ahead.acquire().await.expect("it is open").forget();
            tab.event("Log.entryAdded", json!({ "n": n, "text": "x".repeat(2000) })).await;
        }
        tab
    });
    let reading = tokio::spawn(async move {
        for n in 0..Flood::EVENTS {
            assert_eq!(number(&fast.next().await), n);
            read.add_permits(1);
        }
        Flood::EVENTS as f64 / start.elapsed().as_secs_f64()
    });
    relay.said("dropped a peer that does not read").await;
    // The client gets the messages on their way, and the reason.
    let mut seen = 0;
    let (code, reason) = loop {
        match stalled.next_or_closed().await {
            Ok(event) => assert_eq!(number(&event), seen),
            Err(closed) => break closed,
        }
        seen += 1;
    };
    let per_second = reading.await.expect("the reading client gets all in order");
    let _tab = sending.await.expect("the relay reads");
    Flood { per_second, grown: relay.peak_memory() - before, closed: (code, reason, seen) }
}

fn number(event: &Value) -> u64 {
    event["params"]["n"].as_u64().expect("events are numbered")
}
