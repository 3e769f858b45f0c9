//! Sockets and a clock around the pure [`Relay`]: one task owns it, everything else sends to it.

mod access;
mod http;
mod listen;
mod logger;
mod options;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{self, join_all};
use shared_protocol::TargetId;
use shared_protocol::http::{PagesStatus, RelaySettings};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::instrument::WithSubscriber;
use warp::{Filter, Reply};

use crate::agents::Browsers;
use crate::agents::{Doors, Executor, Keys};
use crate::background::RelayServerError;
use crate::event_loop;
use crate::event_loop::handle::{Event, Handle};
pub use crate::event_loop::observers::RelayEvent;
use crate::event_loop::observers::{Publisher, Seen};
use crate::log::Logs;
use crate::relay_file::{Note, Record};
pub use crate::start_error::StartError;
use crate::system::own_socket::OwnSocket;
pub use crate::system::users::user_name;
pub use crate::trust::Token;
use crate::trust::secret::Secret;
use access::accept::Accept;
use access::guard::Policy;
use access::pairing::Pairing;
pub use access::pairing::PairingMode;
use access::peer::Peers;
pub use access::peer::user_at_ipv6_loopback;
use access::refusals::Refusals;
use access::tokens::Tokens;
use access::users::Users;
pub use access::users::{AllowedUser, NoSuchUser};
use http::control::{Control, Others};
use listen::Listening;
pub use logger::Logger;
pub use options::{RelayOptions, RelayServerOptions};
use relay_core::{Input, Relay};

/// How long sockets may take to say goodbye when the relay stops.
const GOODBYE: Duration = Duration::from_secs(2);

/// How long the last lines of the logs may take.
const LAST_LINES: Duration = Duration::from_secs(2);

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
    handle: Handle,
    seen: Seen,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    logs: Option<Logs>,
    note: Option<Note>,
    stop_wanted: Arc<Notify>,
    executor: Executor,
    tokens: Tokens,
}

impl RelayServer {
    /// Starts to listen and serves in the background.
    ///
    /// # Errors
    ///
    /// Says why the address cannot be had.
    pub async fn start(options: &RelayOptions) -> Result<Self, StartError> {
        match &options.logger {
            Some(logger) => Self::begin(options).with_subscriber(logger.subscriber()).await,
            None => Self::begin(options).await,
        }
    }

    /// As [`RelayServer::start`]; all that it spawns talks to whom it talks itself.
    async fn begin(options: &RelayOptions) -> Result<Self, StartError> {
        let Listening { listeners, port, since, ipv6_refused } = listen::listen(options).await?;
        let (for_workers, workers) = listen::for_workers()?;
        // Only the one that has the port may touch the files.
        let logs = options.logs.clone().filter(Logs::open);
        let tokens = tokens(options)?;
        let token = tokens.for_cdp();
        let traffic = logs.as_ref().map(|logs| logs.traffic(token.clone()));
        let (handle, mut events) = Handle::new();
        let inbox = handle.downgrade();
        let (publisher, seen) = Publisher::new();
        let relay = Relay::new(TargetId::clone(handle.browser_id()), options.policy);
        let relay = if options.secret.is_some() { relay.with_pairing() } else { relay };
        let pairing = Arc::new(Pairing::new(options.secret.clone(), options.pairing, port, since));
        let note = options.note.as_deref().and_then(|folder| leave_note(folder, port, options));
        let keys = Keys::default();
        let peers = Arc::new(Peers::new());
        let users = Arc::new(Users::new(&options.allowed_users));
        let refusals = Arc::new(Refusals::default());
        let policy = Policy::new(&options.host, &options.allowed_hosts, tokens.clone())
            .with_owner(note.as_ref().map(Note::key))
            .with_secret(options.secret.clone(), since)
            .with_users(Arc::clone(&users), Arc::clone(&refusals));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let browsers = Browsers::new(handle.clone(), seen.status.clone());
        let doors = Doors { workers, others: port };
        let executor = Executor::new(&options.executor, doors, browsers, keys.clone());
        let policy = policy.with_workers(executor.clone());
        let stop_wanted = Arc::new(Notify::new());
        let version = options.version.clone();
        let stop_asked = Arc::clone(&stop_wanted);
        let settings = RelaySettings {
            host: options.host.clone(),
            allowed_hosts: options.allowed_hosts.clone(),
            allow_focus: options.policy.may_focus,
            whole_profile: options.policy.whole_profile,
            wants_token: options.token.is_some(),
            is_paired: options.paired,
            allowed_users: options.allowed_users.iter().map(ToString::to_string).collect(),
            pairing_required: options.pairing == PairingMode::Required,
            agents_may: options.policy.agents_may.names().map(str::to_owned).collect(),
        };
        let others = Others {
            peers: Arc::clone(&peers),
            refusals: Arc::clone(&refusals),
            ipv6_refused: ipv6_refused.map(|error| error.to_string()),
        };
        let control = Control {
            settings,
            others,
            stop: stop_asked,
            pairing: Arc::clone(&pairing),
            note: note.as_ref().map(|note| note.pen().clone()),
            executor: executor.clone(),
        };
        let agents = executor.clone();
        let routes =
            http::routes::routes(handle.clone(), policy, control, version, agents, pairing);
        let routes = routes.map(Reply::into_response).boxed();
        let (stop, stopped) = oneshot::channel::<()>();
        // Told or dropped: either way nobody wants the relay any more.
        let stopped = stopped.map(drop).boxed().shared();
        let places = access::accept::places();
        let accept = Accept { routes, peers, users, refusals, places, stopped: stopped.clone() };
        // Whoever has sent half a request, or does not read the answer, holds nobody up for longer.
        let own = [&options.note, &options.secret, &options.executor.folder];
        let own: Arc<[PathBuf]> = own.into_iter().flatten().cloned().collect();
        let workers_stopped = stopped.clone();
        let overdue = stopped.clone().then(|()| sleep(GOODBYE));
        let own_socket = options.secret.as_deref().and_then(|folder| own_socket(folder, port));
        let serving_own = match own_socket {
            Some(socket) => accept.clone().serve(socket).boxed(),
            None => future::ready(()).boxed(),
        };
        let serving = listeners.into_iter().map(move |listener| accept.clone().serve(listener));
        let serving = future::join(join_all(serving), serving_own);
        let serving_workers = http::sandbox_port::serve(for_workers, handle.clone(), keys);
        let serving_workers = future::select(Box::pin(serving_workers), workers_stopped);
        let serving = async move {
            tokio::select! {
                _ = future::join(serving, serving_workers) => {}
                () = overdue => {}
                () = event_loop::run(relay, &mut events, inbox, publisher, traffic, token, own) => {}
            }
            // The loop's outboxes are gone, so every socket says goodbye and then drops its handle.
            let sockets_ended = async { while events.recv().await.is_some() {} };
            drop(timeout(GOODBYE, sockets_ended).await);
        };
        let serving = tokio::spawn(serving.with_current_subscriber());
        tracing::info!(%address, host = options.host, "relay is listening");
        Ok(Self { address, handle, seen, stop, serving, logs, note, stop_wanted, executor, tokens })
    }

    /// Where programs on this machine reach it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that agents show at `/mcp` and `/sessions`; `None` if the secret is gone.
    #[must_use]
    pub fn agents_token(&self) -> Option<Token> {
        self.tokens.for_agents()
    }

    /// Who comes and goes from now on. It ends with the relay; a program that does not look misses
    /// the oldest events, and is told how many.
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
        match self.seen.events.upgrade() {
            Some(events) => events.subscribe(),
            // The relay has ended, and so has its stream.
            None => broadcast::channel(1).1,
        }
    }

    /// Waits until the status is as wanted, and gives it.
    pub async fn status_when(&self, wanted: impl Fn(&PagesStatus) -> bool) -> PagesStatus {
        let mut status = self.seen.status.clone();
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
            // It ended by itself, which only a mistake of ours can bring about.
            _ = &mut self.serving => {}
        }
    }

    /// Closes every socket, stops listening and writes the last lines of the logs.
    pub async fn close(self) {
        if let Some(note) = &self.note {
            note.pen().change(|record| record.is_stopping = true);
        }
        self.executor.close();
        let tabs_given_back = async {
            // Either fails only if the loop has ended, and then nothing can be given back.
            drop(self.handle.tell(Event::Input(Input::Closing)).await);
            self.handle.view(|_| ()).await
        };
        drop(timeout(GOODBYE, tabs_given_back).await);
        drop((self.stop, self.handle, self.executor));
        drop(self.serving.await);
        drop(self.note);
        if let Some(logs) = self.logs {
            drop(timeout(LAST_LINES, logs.written()).await);
        }
    }
}

/// Our own programs come by the port where there is no socket.
fn own_socket(folder: &Path, port: u16) -> Option<OwnSocket> {
    OwnSocket::listen(folder, port)
        .inspect_err(|error| tracing::debug!(%error, "there is no socket for our own programs"))
        .ok()
}

/// A relay works without a secret that others know, unless programs are to be paired by it.
fn tokens(options: &RelayOptions) -> Result<Tokens, StartError> {
    let kept = match options.secret.as_deref().map(Secret::read_or_make).transpose() {
        Ok(kept) => kept,
        Err(error) if options.paired && options.token.is_none() => return Err(error.into()),
        Err(error) => {
            tracing::warn!("the relay cannot prove whose it is: {error}");
            None
        }
    };
    Ok(match (&options.token, &options.secret) {
        (Some(token), _) => Tokens::chosen(token.clone()),
        (None, Some(folder)) if kept.is_some() => Tokens::of_user(folder.clone(), options.paired),
        (None, _) => Tokens::of_relay(Secret::of_process()?, options.paired),
    })
}

/// A relay works without its note, so a failure is only said.
fn leave_note(folder: &Path, port: u16, options: &RelayOptions) -> Option<Note> {
    let record = Record::new(port, &options.version).map(|record| Record {
        arguments: options.arguments.clone(),
        separate_window: options.policy.separate_window,
        wants_token: options.token.is_some(),
        has_browser: options.has_browser,
        ..record
    });
    match record.and_then(|record| Note::leave(folder, record)) {
        Ok(note) => Some(note),
        Err(error) => {
            let folder = folder.display();
            tracing::warn!(%folder, %error, "`playwriter stop` will not work: the note for it cannot be written");
            None
        }
    }
}
