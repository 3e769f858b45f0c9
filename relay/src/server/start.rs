//! Starts a relay: takes its port, builds the routes, and serves them in a task of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{self, join_all};
use shared_protocol::TargetId;
use shared_protocol::http::RelaySettings;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tracing::instrument::WithSubscriber;
use warp::{Filter, Reply};

use super::access::accept::{self, Accept, Stopped};
use super::access::guard::Policy;
use super::access::pairing::{Pairing, PairingMode};
use super::access::peer::Peers;
use super::access::refusals::Refusals;
use super::access::tokens::Tokens;
use super::access::users::Users;
use super::http::control::{Control, Others};
use super::http::{routes, sandbox_port};
use super::listen::{self, Listening};
use super::{CLOSE_TIMEOUT, RelayOptions, RelayServer, StartError};
use crate::agents::{Browsers, Executor, Keys, RelayPorts};
use crate::event_loop;
use crate::event_loop::handle::{LoopEvent, RelayHandle};
use crate::event_loop::observers::Publisher;
use crate::log::{Logs, Traffic};
use crate::relay_file::{RelayFile, RelayRecord};
use crate::system::own_socket::OwnSocket;
use crate::trust::Token;
use crate::trust::secret::Secret;
use relay_core::Relay;

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

    /// Works like [`RelayServer::start`]. All tasks that it spawns log to the subscriber of the
    /// caller.
    async fn begin(options: &RelayOptions) -> Result<Self, StartError> {
        let Listening { listeners, port, since, ipv6_refused } = listen::listen(options).await?;
        let (sandbox_listener, sandboxes) = listen::for_sandboxes()?;
        // Only the relay that has the port may touch the files.
        let logs = options.logs.clone().filter(Logs::open);
        let tokens = tokens(options)?;
        let (handle, events) = RelayHandle::new();
        let (publisher, status_feed) = Publisher::new();
        let relay_file = options
            .relay_file
            .as_deref()
            .and_then(|folder| write_relay_file(folder, port, options));
        let keys = Keys::default();
        let browsers = Browsers::new(handle.clone(), status_feed.status.clone());
        let relay_ports = RelayPorts { sandboxes, others: port };
        let executor = Executor::new(&options.executor, relay_ports, browsers, keys.clone());
        let peers = Arc::new(Peers::new().with_sandboxes(executor.clone()));
        let users = Arc::new(Users::new(&options.allowed_users));
        let refusals = Arc::new(Refusals::default());
        let policy = Policy::new(&options.host, &options.allowed_hosts, tokens.clone())
            .with_owner(relay_file.as_ref().map(RelayFile::key))
            .with_secret(options.secret.clone(), since)
            .with_users(Arc::clone(&users), Arc::clone(&refusals));
        let pairing = Arc::new(Pairing::new(options.secret.clone(), options.pairing, port, since));
        let stop_wanted = Arc::new(Notify::new());
        let ipv6_refused = ipv6_refused.map(|error| error.to_string());
        let (seen_peers, seen_refusals) = (Arc::clone(&peers), Arc::clone(&refusals));
        let control = Control {
            settings: settings(options),
            others: Others { peers: seen_peers, refusals: seen_refusals, ipv6_refused },
            stop: Arc::clone(&stop_wanted),
            pairing: Arc::clone(&pairing),
            relay_file: relay_file.as_ref().map(|relay_file| relay_file.writer().clone()),
            executor: executor.clone(),
        };
        let (version, agents) = (options.version.clone(), executor.clone());
        let routes = routes::routes(handle.clone(), policy, control, version, agents, pairing);
        let routes = routes.map(Reply::into_response).boxed();
        let (stop, stopped) = oneshot::channel::<()>();
        // Told or dropped: either way nobody wants the relay any more.
        let stopped = stopped.map(drop).boxed().shared();
        let places = accept::places();
        let accept = Accept { routes, peers, users, refusals, places, stopped: stopped.clone() };
        let own_socket = options.secret.as_deref().and_then(|folder| own_socket(folder, port));
        let accepting = accept_all(accept, listeners, own_socket);
        let serving_sandboxes = sandbox_port::serve(sandbox_listener, handle.clone(), keys);
        let traffic = logs.as_ref().map(|logs| logs.traffic(tokens.for_cdp()));
        let the_loop = LoopParts::new(options, &handle, events, publisher, traffic, &tokens);
        let serving = serve(accepting, serving_sandboxes, the_loop, stopped);
        let serving = tokio::spawn(serving.with_current_subscriber());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        tracing::info!(%address, host = options.host, "relay is listening");
        Ok(Self {
            address,
            handle,
            status_feed,
            stop,
            serving,
            logs,
            relay_file,
            stop_wanted,
            executor,
            tokens,
        })
    }
}

/// The settings of a relay, as `/relay/status` shows them.
fn settings(options: &RelayOptions) -> RelaySettings {
    RelaySettings {
        host: options.host.clone(),
        allowed_hosts: options.allowed_hosts.clone(),
        allow_focus: options.policy.may_focus,
        whole_profile: options.policy.whole_profile,
        wants_token: options.token.is_some(),
        is_paired: options.paired,
        allowed_users: options.allowed_users.iter().map(ToString::to_string).collect(),
        pairing_required: options.pairing == PairingMode::Required,
        agents_may: options.policy.agents_may.names().map(str::to_owned).collect(),
    }
}

/// Accepts connections at all addresses, and at the socket of our own programs if there is one.
async fn accept_all(accept: Accept, listeners: Vec<TcpListener>, own_socket: Option<OwnSocket>) {
    let accepting_own = match own_socket {
        Some(socket) => accept.clone().serve(socket).boxed(),
        None => future::ready(()).boxed(),
    };
    let accepting = listeners.into_iter().map(|listener| accept.clone().serve(listener));
    future::join(join_all(accepting), accepting_own).await;
}

/// The event loop, before it runs.
struct LoopParts {
    relay: Relay,
    events: mpsc::Receiver<LoopEvent>,
    inbox: mpsc::WeakSender<LoopEvent>,
    publisher: Publisher,
    traffic: Option<Traffic>,
    token: Option<Token>,
    own_folders: Arc<[PathBuf]>,
}

impl LoopParts {
    fn new(
        options: &RelayOptions,
        handle: &RelayHandle,
        events: mpsc::Receiver<LoopEvent>,
        publisher: Publisher,
        traffic: Option<Traffic>,
        tokens: &Tokens,
    ) -> Self {
        let relay = Relay::new(TargetId::clone(handle.browser_id()), options.policy);
        let relay = if options.secret.is_some() { relay.with_pairing() } else { relay };
        let own_folders = [&options.relay_file, &options.secret, &options.executor.folder];
        Self {
            relay,
            events,
            inbox: handle.downgrade(),
            publisher,
            traffic,
            token: tokens.for_cdp(),
            own_folders: own_folders.into_iter().flatten().cloned().collect(),
        }
    }
}

/// Serves until the relay is told to stop, and then until its sockets are closed.
async fn serve(
    accepting: impl Future<Output = ()>,
    serving_sandboxes: impl Future<Output = ()>,
    the_loop: LoopParts,
    stopped: Stopped,
) {
    let LoopParts { relay, mut events, inbox, publisher, traffic, token, own_folders } = the_loop;
    let serving_sandboxes = pin!(serving_sandboxes);
    let serving_sandboxes = future::select(serving_sandboxes, stopped.clone());
    // A peer that has sent half a request, or does not read the answer, delays the stop no longer
    // than this.
    let overdue = stopped.then(|()| sleep(CLOSE_TIMEOUT));
    tokio::select! {
        _ = future::join(accepting, serving_sandboxes) => {}
        () = overdue => {}
        () = event_loop::run(relay, &mut events, inbox, publisher, traffic, token, own_folders) => {}
    }
    // The loop's outboxes are gone, so every socket says goodbye and then drops its handle.
    let sockets_ended = async { while events.recv().await.is_some() {} };
    drop(timeout(CLOSE_TIMEOUT, sockets_ended).await);
}

/// Opens the socket for our own programs. They use the port where there is no socket.
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
            tracing::warn!("the relay cannot prove itself to programs: {error}");
            None
        }
    };
    Ok(match (&options.token, &options.secret) {
        (Some(token), _) => Tokens::chosen(token.clone()),
        (None, Some(folder)) if kept.is_some() => Tokens::of_user(folder.clone(), options.paired),
        (None, _) => Tokens::of_relay(Secret::of_process()?, options.paired),
    })
}

/// Writes the relay file. A relay works without it, so a failure is only logged.
fn write_relay_file(folder: &Path, port: u16, options: &RelayOptions) -> Option<RelayFile> {
    let record = RelayRecord::new(port, &options.version).map(|record| RelayRecord {
        arguments: options.arguments.clone(),
        separate_window: options.policy.separate_window,
        wants_token: options.token.is_some(),
        has_browser: options.has_browser,
        ..record
    });
    match record.and_then(|record| RelayFile::create(folder, record)) {
        Ok(relay_file) => Some(relay_file),
        Err(error) => {
            let folder = folder.display();
            tracing::warn!(%folder, %error, "`playwriter stop` will not work: the relay file cannot be written");
            None
        }
    }
}
