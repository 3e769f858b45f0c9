//! Reports progress to an agent that waits, if it asked for that.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::interval;

use crate::agents::Playwright;

const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Tells why a call has not begun yet, for as long as that is so and this is polled.
pub(super) async fn tell(context: Option<&RequestContext<RoleServer>>) -> Infallible {
    let asked = context.and_then(|context| Some((context, context.meta.get_progress_token()?)));
    let Some((context, token)) = asked else { return pending().await };
    let mut ticks = interval(REPORT_INTERVAL);
    let mut told = 0.0;
    loop {
        ticks.tick().await;
        if Playwright::is_being_installed() {
            told += 1.0;
            let progress = ProgressNotificationParam::new(token.clone(), told)
                .with_message("installing playwright-core, which is done once");
            // A client that has disconnected misses nothing.
            drop(context.peer.notify_progress(progress).await);
        }
    }
}
