//! The relay as a server: what it is started with, its addresses, who gets in, and what it answers.
//!
//! `access/` decides who gets in, `http/` answers. The task that owns the pure relay is in
//! `event_loop/`, and agents' code in `agents/`: routes only pass on to them.

mod access;
mod http;
mod listen;
mod logger;
mod options;
mod start;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use shared_protocol::http::PagesStatus;
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use access::pairing::PairingMode;
pub use access::peer::user_at_ipv6_loopback;
pub use access::users::{AllowedUser, NoSuchUser};
pub use logger::Logger;
pub use options::{RelayOptions, RelayServerOptions};

use crate::agents::Executor;
use crate::background::RelayServerError;
use crate::event_loop::handle::{LoopEvent, RelayHandle};
pub use crate::event_loop::observers::RelayEvent;
use crate::event_loop::observers::StatusFeed;
use crate::log::Logs;
use crate::relay_file::RelayFile;
pub use crate::start_error::StartError;
pub use crate::system::users::user_name;
pub use crate::trust::Token;
use access::tokens::Tokens;
use relay_core::Input;

/// The time that sockets may take to close when the relay stops.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The time that the last lines of the logs may take.
const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Starts a relay in this process. It ends with it: see
/// [`ensure_persistent_relay`](crate::ensure_persistent_relay) for one that does not.
///
/// ```
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use relay::{RelayServerOptions, start_relay_server};
///
/// let server = start_relay_server(RelayServerOptions { port: 0, ..Default::default() }).await?;
/// println!("CDP clients connect to http://{}", server.address());
/// server.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Says why the address cannot be had.
pub async fn start_relay_server(
    options: RelayServerOptions,
) -> Result<RelayServer, RelayServerError> {
    let port = options.port;
    let started = RelayServer::start(&options.into()).await;
    started.map_err(|source| RelayServerError::Start { port, source })
}

/// A relay that runs in this process until it is closed or dropped.
#[derive(Debug)]
pub struct RelayServer {
    address: SocketAddr,
    handle: RelayHandle,
    status_feed: StatusFeed,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    logs: Option<Logs>,
    relay_file: Option<RelayFile>,
    stop_wanted: Arc<Notify>,
    executor: Executor,
    tokens: Tokens,
}

impl RelayServer {
    /// Returns the address at which programs on this machine reach the relay.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that agents show at `/mcp` and `/sessions`; `None` if the secret is gone.
    #[must_use]
    pub fn agents_token(&self) -> Option<Token> {
        self.tokens.for_agents()
    }

    /// Returns the events of peers that come and go from now on. The stream ends with the relay; a
    /// program that does not read misses the oldest events, and is told how many.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use relay::{RelayServerOptions, start_relay_server};
    ///
    /// let server = start_relay_server(RelayServerOptions { port: 0, ..Default::default() }).await?;
    /// let mut events = server.events();
    /// tokio::spawn(async move {
    ///     while let Ok(event) = events.recv().await {
    ///         println!("{event:?}");
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<RelayEvent> {
        match self.status_feed.events.upgrade() {
            Some(events) => events.subscribe(),
            // The relay has ended, and so has its stream.
            None => broadcast::channel(1).1,
        }
    }

    /// Waits until the status is as wanted, and gives it.
    pub async fn status_when(&self, wanted: impl Fn(&PagesStatus) -> bool) -> PagesStatus {
        let mut status = self.status_feed.status.clone();
        match status.wait_for(wanted).await {
            Ok(status) => status.clone(),
            Err(_) => PagesStatus::default(),
        }
    }

    /// Completes when this user wants the relay to stop, as `playwriter stop` does.
    pub async fn asked_to_stop(&self) {
        self.stop_wanted.notified().await;
    }

    /// Serves until `shutdown` completes, or until the user wants it to stop.
    pub async fn run_until(mut self, shutdown: impl Future<Output = ()>) {
        let stop_wanted = Arc::clone(&self.stop_wanted);
        tokio::select! {
            () = shutdown => self.close().await,
            () = stop_wanted.notified() => self.close().await,
            // The relay ended by itself, which only a mistake of ours can cause.
            _ = &mut self.serving => {}
        }
    }

    /// Closes every socket, stops listening and writes the last lines of the logs.
    pub async fn close(self) {
        if let Some(relay_file) = &self.relay_file {
            relay_file.writer().change(|record| record.is_stopping = true);
        }
        self.executor.close();
        let tabs_given_back = async {
            // Either fails only if the loop has ended, and then nothing can be given back.
            drop(self.handle.send(LoopEvent::Input(Input::Closing)).await);
            self.handle.query(|_| ()).await
        };
        drop(timeout(CLOSE_TIMEOUT, tabs_given_back).await);
        drop((self.stop, self.handle, self.executor));
        drop(self.serving.await);
        drop(self.relay_file);
        if let Some(logs) = self.logs {
            drop(timeout(LOG_FLUSH_TIMEOUT, logs.written()).await);
        }
    }
}
