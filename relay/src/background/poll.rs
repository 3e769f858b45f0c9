//! Looking at a relay until it shows what is wanted.

use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until};

use super::{RelayServerError, explained};
use crate::client::{Client, ClientError};

/// Nobody waits longer, and no clock runs over.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What a look at the relay showed.
#[derive(Debug)]
pub(crate) enum Look<T> {
    /// What is wanted.
    Found(T),
    /// It may still come; if it does not, this is why.
    NotYet(RelayServerError),
    /// Waiting would not help.
    Never(RelayServerError),
}

/// Asks the relay again and again, until what it answers is judged or the time is up.
pub(crate) async fn poll<A: DeserializeOwned + Default, T>(
    client: &Client,
    path: &str,
    patience: Duration,
    interval: Duration,
    judge: impl Fn(A) -> Look<T>,
) -> Result<T, RelayServerError> {
    let interval = interval.min(LONGEST);
    let mut now = Instant::now();
    let given_up = now + patience.min(LONGEST);
    loop {
        let answer = match client.get::<A>(path).await {
            Ok(answer) => answer,
            // It may be about to be replaced.
            Err(ClientError::NobodyThere(_) | ClientError::Unreachable { .. })
                if now + interval < given_up =>
            {
                A::default()
            }
            Err(error) => return Err(explained(client, error).await),
        };
        match judge(answer) {
            Look::Found(found) => return Ok(found),
            Look::Never(why) => return Err(why),
            Look::NotYet(why) if now >= given_up => return Err(why),
            Look::NotYet(_) => {}
        }
        sleep_until((now + interval).min(given_up)).await;
        now = Instant::now();
    }
}
