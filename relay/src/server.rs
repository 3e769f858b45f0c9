//! Sockets and a clock around the pure [`Relay`]: one task owns it, everything else sends to it.

mod accept;
mod browsers;
mod call;
mod changes;
mod control;
mod copies;
mod discovery;
mod event_loop;
mod events;
mod guard;
mod json;
mod listen;
mod logger;
mod mcp;
mod outbox;
mod pairing;
mod peer;
mod protocol;
mod refusals;
mod reply;
mod routes;
mod sessions;
mod socket;
mod strangers;
mod token;
mod tokens;
mod users;
mod workers;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{self, join_all};
use shared_protocol::http::{PagesStatus, RelaySettings};
use shared_protocol::{DEFAULT_PORT, TargetId};
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::instrument::WithSubscriber;
use warp::{Filter, Reply};

use crate::executor::{Doors, Executor, ExecutorOptions, Keys};
use crate::log::Logs;
use crate::own_socket::OwnSocket;
use crate::persistent::{RelayServerError, folder_of};
use crate::record::Note;
use crate::secret::{Secret, SecretError};
use accept::Accept;
pub(crate) use browsers::Browsers;
pub use changes::RelayEvent;
use changes::{Publisher, Seen};
use control::{Control, Others};
use events::{Event, Handle};
use guard::Policy;
use listen::Listening;
pub use logger::Logger;
use pairing::Pairing;
pub use pairing::PairingMode;
use peer::Peers;
pub use peer::user_at_ipv6_loopback;
use refusals::Refusals;
use relay_core::{Input, Relay};
pub use token::Token;
use tokens::Tokens;
use users::Users;
pub use users::{AllowedUser, NoSuchUser, user_name};

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
    /// Other names by which programs may call it, such as a proxy's.
    pub allowed_hosts: Vec<String>,
    /// What programs must show. Needed where other machines can reach the relay.
    pub token: Option<Token>,
    /// Users of this machine who are served like this one and root.
    pub allowed_users: Vec<AllowedUser>,
    /// What clients may do beyond driving tabs.
    pub policy: relay_core::Policy,
    /// What the relay leaves on disk.
    pub logs: Option<Logs>,
    /// Takes the relay's words, which otherwise go to the process's own `tracing`.
    pub logger: Option<Logger>,
    /// A folder for a note that only this user can read, with which the relay can be asked to stop
    /// ([`RelayServer::asked_to_stop`]).
    pub note: Option<PathBuf>,
    /// The folder with the secret of this user, from which the keys of extensions and programs come.
    /// Without one, no extension can prove itself, and all are believed.
    pub secret: Option<PathBuf>,
    /// Whether CDP clients have to show a token, too: the user's, or one that is derived from the secret.
    pub paired: bool,
    /// Which extensions are let in.
    pub pairing: PairingMode,
    /// What `playwriter serve` was told, but for the token. It stands in the note, so that a newer
    /// relay in the place of this one is like it.
    pub arguments: Vec<String>,
    /// Whether a browser ends with it, as that of `playwriter browser start` does. It stands in the
    /// note, too: such a relay is not replaced by a newer one.
    pub has_browser: bool,
    /// What it tells as its version; another than this library's for a program that has its own.
    pub version: String,
    /// How agents' code is run.
    pub executor: ExecutorOptions,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            allowed_hosts: Vec::new(),
            token: None,
            allowed_users: Vec::new(),
            policy: relay_core::Policy::default(),
            logs: None,
            logger: None,
            note: None,
            secret: None,
            paired: false,
            pairing: PairingMode::default(),
            arguments: Vec::new(),
            has_browser: false,
            version: crate::VERSION.to_owned(),
            executor: ExecutorOptions::default(),
        }
    }
}

/// The options that most programs need; [`RelayOptions`] has all.
#[derive(Debug, Clone)]
pub struct RelayServerOptions {
    /// 0 takes a free one.
    pub port: u16,
    /// An address or a name of this machine; 127.0.0.1 is served beside it.
    pub host: String,
    /// What programs must show. Needed where other machines can reach the relay.
    pub token: Option<Token>,
    /// Takes the relay's words, which otherwise go to the process's own `tracing`.
    pub logger: Option<Logger>,
    /// Whether tabs that clients open go to a window of their own.
    pub separate_window: bool,
    /// Whether a client that finds no tab gets one.
    pub auto_enable: bool,
    /// The home folder in whose `.playwriter` the secret of its user is; this user's when `None`.
    pub home: Option<PathBuf>,
}

impl Default for RelayServerOptions {
    fn default() -> Self {
        let RelayOptions { host, port, token, policy, .. } = RelayOptions::default();
        let relay_core::Policy { separate_window, opens_first_tab: auto_enable, .. } = policy;
        Self { port, host, token, logger: None, separate_window, auto_enable, home: None }
    }
}

impl From<RelayServerOptions> for RelayOptions {
    fn from(options: RelayServerOptions) -> Self {
        let RelayServerOptions { port, host, token, logger, separate_window, auto_enable, home } =
            options;
        let policy = relay_core::Policy {
            separate_window,
            opens_first_tab: auto_enable,
            ..relay_core::Policy::default()
        };
        let secret = folder_of(home.as_deref(), port).ok();
        Self { host, port, token, logger, policy, secret, ..Self::default() }
    }
}

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

/// Why a relay did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Other machines could reach it, and nothing would keep them out.
    #[error(
        "the relay cannot listen on {0} without a token: other machines can reach it there\n\nhint: set PLAYWRITER_TOKEN to a secret, for example one from `openssl rand -hex 16`"
    )]
    TokenNeeded(String),
    /// Whoever has another name for it may be elsewhere.
    #[error(
        "the relay cannot be called {0} without a token: a proxy of that name lets other machines in\n\nhint: set PLAYWRITER_TOKEN to a secret, for example one from `openssl rand -hex 16`"
    )]
    TokenNeededFor(String),
    /// No program could send it.
    #[error(
        "the token is empty, or has other characters than letters, digits and signs\n\nhint: use a secret like one from `openssl rand -hex 16`"
    )]
    UnusableToken,
    /// Other machines could find it out.
    #[error(
        "the token is too short for a relay that other machines can reach: 16 characters are needed\n\nhint: use a secret like one from `openssl rand -hex 16`"
    )]
    ShortToken,
    /// No such name.
    #[error(
        "the address of {0} cannot be found\n\nhint: use an address of this machine, or leave --host out"
    )]
    UnknownHost(String),
    /// Somebody else listens there.
    #[error("port {0} is already in use")]
    PortTaken(u16),
    /// Paired programs need a secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
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
        peers.tell_workers_apart(executor.clone());
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
        let routes = routes::routes(handle.clone(), policy, control, version, agents, pairing);
        let routes = routes.map(Reply::into_response).boxed();
        let (stop, stopped) = oneshot::channel::<()>();
        // Told or dropped: either way nobody wants the relay any more.
        let stopped = stopped.map(drop).boxed().shared();
        let places = accept::places();
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
        let serving_workers = workers::serve(for_workers, handle.clone(), keys);
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
    match Note::leave(folder, port, options) {
        Ok(note) => Some(note),
        Err(error) => {
            let folder = folder.display();
            tracing::warn!(%folder, %error, "`playwriter stop` will not work: the note for it cannot be written");
            None
        }
    }
}
