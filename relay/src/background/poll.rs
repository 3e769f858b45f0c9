//! Polls a relay until its answer is the one that is waited for.

use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until};

use super::{RelayServerError, explained};
use crate::client::{Client, ClientError};

/// The longest wait; no caller waits longer, and no clock overflows.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The judgement of one answer of the relay.
#[derive(Debug)]
pub(crate) enum Poll<T> {
    /// The wanted value is there.
    Ready(T),
    /// The wanted value may still come; the error says why it has not.
    Pending(RelayServerError),
    /// Waiting would not help.
    Failed(RelayServerError),
}

/// Asks the relay again and again, until what it answers is judged or the time is up.
pub(crate) async fn poll<A: DeserializeOwned + Default, T>(
    client: &Client,
    path: &str,
    limit: Duration,
    interval: Duration,
    judge: impl Fn(A) -> Poll<T>,
) -> Result<T, RelayServerError> {
    let interval = interval.min(LONGEST);
    let mut now = Instant::now();
    let given_up = now + limit.min(LONGEST);
    loop {
        let answer = match client.get::<A>(path).await {
            Ok(answer) => answer,
            // The relay may be about to be replaced.
            Err(ClientError::NobodyThere(_) | ClientError::Unreachable { .. })
                if now + interval < given_up =>
            {
                A::default()
            }
            Err(error) => return Err(explained(client, error).await),
        };
        match judge(answer) {
            Poll::Ready(found) => return Ok(found),
            Poll::Failed(why) => return Err(why),
            Poll::Pending(why) if now >= given_up => return Err(why),
            Poll::Pending(_) => {}
        }
        sleep_until((now + interval).min(given_up)).await;
        now = Instant::now();
    }
}
