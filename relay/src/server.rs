//! Sockets and a clock around the pure [`Relay`]: one task owns it, everything else sends to it.

mod call;
mod discovery;
mod event_loop;
mod events;
mod guard;
mod json;
mod listen;
mod outbox;
mod protocol;
mod reply;
mod routes;
mod socket;
mod token;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use shared_protocol::http::PagesStatus;
use shared_protocol::{DEFAULT_PORT, TargetId};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::log::Logs;
use crate::state::Relay;
use events::Handle;
use guard::Policy;
pub use token::Token;

/// How long sockets may take to say goodbye when the relay stops.
const GOODBYE: Duration = Duration::from_secs(2);

/// How long the last lines of the logs may take.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Where a relay listens, and how it serves.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// An address or a name of this machine; 127.0.0.1 is served beside it.
    pub host: String,
    /// 0 takes a free one.
    pub port: u16,
    /// What programs must show. Needed where other machines can reach the relay.
    pub token: Option<Token>,
    /// Whether tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// What the relay leaves on disk.
    pub logs: Option<Logs>,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            token: None,
            separate_window: false,
            logs: None,
        }
    }
}

/// Why a relay did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Other machines could reach it, and nothing would keep them out.
    #[error(
        "the relay cannot listen on {0} without a token: other machines can reach it there\n\nhint: set PLAYWRITER_TOKEN to a secret, for example one from `openssl rand -hex 16`"
    )]
    TokenNeeded(String),
    /// No program could send it.
    #[error(
        "the token is empty, or has other characters than letters, digits and signs\n\nhint: use a secret like one from `openssl rand -hex 16`"
    )]
    UnusableToken,
    /// No such name.
    #[error(
        "the address of {0} cannot be found\n\nhint: use an address of this machine, or leave --host out"
    )]
    UnknownHost(String),
    /// Somebody else listens there.
    #[error("port {0} is already in use")]
    PortTaken(u16),
    /// The system refused for another reason.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
}

/// A relay that runs in this process until it is closed or dropped.
#[derive(Debug)]
pub struct RelayServer {
    address: SocketAddr,
    handle: Handle,
    status: watch::Receiver<PagesStatus>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    logs: Option<Logs>,
}

impl RelayServer {
    /// Starts to listen and serves in the background.
    ///
    /// # Errors
    ///
    /// Says why the address cannot be had.
    pub async fn start(options: &RelayOptions) -> Result<Self, StartError> {
        let (listeners, port) = listen::listen(options).await?;
        // Only the one that has the port may touch the files.
        let logs = options.logs.clone().filter(Logs::open);
        let traffic = logs.as_ref().map(|logs| logs.traffic(options.token.clone()));
        let (handle, mut events) = Handle::new();
        let (publish, status) = watch::channel(PagesStatus::default());
        let relay = Relay::new(TargetId::clone(handle.browser_id()), options.separate_window);
        let policy = Policy::new(&options.host, options.token.clone());
        let routes = routes::routes(handle.clone(), policy);
        let (stop, stopped) = oneshot::channel::<()>();
        // Told or dropped: either way nobody wants the relay any more.
        let stopped = stopped.map(drop).shared();
        let serving = listeners.into_iter().map(move |listener| {
            warp::serve(routes.clone()).incoming(listener).graceful(stopped.clone()).run()
        });
        let serving = join_all(serving);
        let serving = tokio::spawn(async move {
            tokio::select! {
                _ = serving => {}
                () = event_loop::run(relay, &mut events, publish, traffic) => {}
            }
            // The loop's outboxes are gone, so every socket says goodbye and then drops its handle.
            let sockets_ended = async { while events.recv().await.is_some() {} };
            drop(timeout(GOODBYE, sockets_ended).await);
        });
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        tracing::info!(%address, host = options.host, "relay is listening");
        Ok(Self { address, handle, status, stop, serving, logs })
    }

    /// Where programs on this machine reach it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until the status is as wanted, and gives it.
    pub async fn status_when(&self, wanted: impl Fn(&PagesStatus) -> bool) -> PagesStatus {
        let mut status = self.status.clone();
        match status.wait_for(wanted).await {
            Ok(status) => status.clone(),
            Err(_) => PagesStatus::default(),
        }
    }

    /// Serves until `shutdown` completes.
    pub async fn run_until(mut self, shutdown: impl Future<Output = ()>) {
        tokio::select! {
            () = shutdown => self.close().await,
            // It ended by itself, which only a mistake of ours can bring about.
            _ = &mut self.serving => {}
        }
    }

    /// Closes every socket, stops listening and writes the last lines of the logs.
    pub async fn close(self) {
        drop((self.stop, self.handle));
        drop(self.serving.await);
        if let Some(logs) = self.logs {
            drop(timeout(LAST_LINES, logs.written()).await);
        }
    }
}
