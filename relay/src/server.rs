//! Sockets and a clock around the pure [`Relay`]: one task owns it, everything else sends to it.

mod discovery;
mod guard;
mod outbox;
mod routes;
mod socket;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use shared_protocol::http::PagesStatus;
use shared_protocol::{CloseCode, DEFAULT_PORT, LogLevel, TargetId};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::state::{self, ClientId, ConnectionId, Effect, Input, Relay};
use guard::Policy;
use outbox::{Full, Outbox, Outgoing};

/// How many inputs may wait for the event loop before sockets stop being read.
const INBOX: usize = 256;

/// How long sockets may take to say goodbye when the relay stops.
const GOODBYE: Duration = Duration::from_secs(2);

/// Where a relay listens.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// `127.0.0.1` or `localhost`.
    pub host: String,
    /// 0 takes a free one.
    pub port: u16,
    /// What clients may do beyond driving tabs.
    pub policy: state::Policy,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self { host: "127.0.0.1".to_owned(), port: DEFAULT_PORT, policy: state::Policy::default() }
    }
}

/// Why a relay did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Other machines could reach it.
    #[error(
        "the relay cannot listen on {0}: it serves this machine only, where the extension looks for it\n\nhint: use --host 127.0.0.1 or leave it out"
    )]
    NotLoopback(String),
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
}

impl RelayServer {
    /// Starts to listen and serves in the background.
    ///
    /// # Errors
    ///
    /// Says why the address cannot be had.
    pub async fn start(options: &RelayOptions) -> Result<Self, StartError> {
        let listener = listen(options)?;
        let asked = SocketAddr::from(([127, 0, 0, 1], options.port));
        let address = listener
            .local_addr()
            .map_err(|source| StartError::Listen { address: asked, source })?;
        let (inbox, mut events) = mpsc::channel(INBOX);
        let weak_inbox = inbox.downgrade();
        let handle = Handle {
            inbox,
            browser_id: Arc::new(TargetId::new(random_id())),
            last_id: Arc::new(AtomicU64::new(0)),
        };
        let (publish, status) = watch::channel(PagesStatus::default());
        let relay = Relay::new(TargetId::clone(&handle.browser_id), options.policy);
        let routes = routes::routes(handle.clone(), Policy::new(&options.host));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            // Told or dropped: either way nobody wants the relay any more.
            let stopped = async { drop(stopped.await) };
            tokio::select! {
                () = warp::serve(routes).incoming(listener).graceful(stopped).run() => {}
                () = run(relay, weak_inbox, &mut events, publish) => {}
            }
            // The loop's outboxes are gone, so every socket says goodbye and then drops its handle.
            let sockets_ended = async { while events.recv().await.is_some() {} };
            drop(timeout(GOODBYE, sockets_ended).await);
        });
        tracing::info!(%address, "relay is listening");
        Ok(Self { address, handle, status, stop, serving })
    }

    /// Where it listens.
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

    /// Closes every socket and stops listening.
    pub async fn close(self) {
        drop((self.stop, self.handle));
        drop(self.serving.await);
    }
}

fn listen(options: &RelayOptions) -> Result<TcpListener, StartError> {
    // The extension knows no other address.
    if !matches!(options.host.as_str(), "127.0.0.1" | "localhost") {
        return Err(StartError::NotLoopback(options.host.clone()));
    }
    let address = SocketAddr::from(([127, 0, 0, 1], options.port));
    let listen = || -> io::Result<TcpListener> {
        let socket = TcpSocket::new_v4()?;
        // Accepted sockets inherit it: small frames must not wait for an acknowledgement.
        socket.set_nodelay(true)?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(1024)
    };
    listen().map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            StartError::PortTaken(options.port)
        } else {
            StartError::Listen { address, source }
        }
    })
}

/// The one loop that owns the relay, and the one that looks at the clock for it.
#[expect(clippy::disallowed_methods, reason = "this is where the time comes from")]
async fn run(
    mut relay: Relay,
    inbox: mpsc::WeakSender<Event>,
    events: &mut mpsc::Receiver<Event>,
    publish: watch::Sender<PagesStatus>,
) {
    let mut outboxes = Outboxes::default();
    let mut published = relay.revision();
    loop {
        let event = tokio::select! {
            event = events.recv() => match event {
                Some(event) => event,
                None => return,
            },
            () = passed(relay.next_deadline()) => Event::Input(Input::DeadlinePassed),
        };
        let input = match event {
            Event::Opened { peer, outbox, input } => {
                outboxes.0.insert(peer, outbox);
                input
            }
            Event::Input(input) => input,
            Event::View(look) => {
                look(&relay);
                continue;
            }
        };
        if let Some(peer) = Peer::that_left(&input) {
            outboxes.0.remove(&peer);
        }
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            for effect in relay.handle(input, Instant::now()) {
                inputs.extend(outboxes.perform(effect, &inbox));
            }
        }
        if relay.revision() != published {
            published = relay.revision();
            publish.send_replace(relay.pages_status());
        }
    }
}

/// Completes at the instant; without one, never.
async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

#[derive(Debug, Default)]
struct Outboxes(BTreeMap<Peer, Outbox>);

impl Outboxes {
    /// Performs one effect. A peer that does not read is dropped, which is an input of its own.
    fn perform(&mut self, effect: Effect, inbox: &mpsc::WeakSender<Event>) -> Option<Input> {
        let (peer, outgoing) = match effect {
            Effect::SendToClient { client, frame } => {
                (Peer::Client(client), Outgoing::ToClient(frame))
            }
            Effect::SendToExtension { connection, message } => {
                (Peer::Extension(connection), Outgoing::ToExtension(message))
            }
            Effect::CloseClient { client, code, reason } => {
                (Peer::Client(client), Outgoing::Close { code, reason })
            }
            Effect::CloseExtension { connection, code, reason } => {
                (Peer::Extension(connection), Outgoing::Close { code, reason })
            }
            Effect::CopyDownload { connection, guid, from, to } => {
                copy_download(inbox.clone(), connection, guid, from, to);
                return None;
            }
            Effect::Log { level, text } => {
                write_log(level, &text);
                return None;
            }
        };
        let outbox = self.0.get(&peer)?;
        match outbox.push(outgoing) {
            Ok(()) => None,
            Err(Full) => {
                tracing::warn!(?peer, "does not read what it is sent, dropped");
                outbox.cut_off(CloseCode::ClientTooSlow, "too much is waiting to be read");
                self.0.remove(&peer);
                Some(peer.disconnected())
            }
        }
    }
}

/// Copies a file that the browser has downloaded to where clients expect it.
fn copy_download(
    inbox: mpsc::WeakSender<Event>,
    connection: ConnectionId,
    guid: String,
    from: PathBuf,
    to: Vec<PathBuf>,
) {
    tokio::spawn(async move {
        let mut outcome = Ok(());
        for to in to {
            if let Err(error) = tokio::fs::copy(&from, &to).await {
                outcome = Err(format!("cannot copy it to {}: {error}", to.display()));
            }
        }
        if let Some(inbox) = inbox.upgrade() {
            // The relay may be closing.
            drop(
                inbox.send(Event::Input(Input::DownloadCopied { connection, guid, outcome })).await,
            );
        }
    });
}

fn write_log(level: LogLevel, text: &str) {
    match level {
        LogLevel::Debug | LogLevel::Log => tracing::debug!("{text}"),
        LogLevel::Info => tracing::info!("{text}"),
        LogLevel::Warn => tracing::warn!("{text}"),
        LogLevel::Error => tracing::error!("{text}"),
    }
}

/// Either end of a socket, as the event loop names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Peer {
    Extension(ConnectionId),
    Client(ClientId),
}

impl Peer {
    fn disconnected(self) -> Input {
        match self {
            Self::Extension(connection) => Input::ExtensionDisconnected { connection },
            Self::Client(client) => Input::ClientDisconnected { client },
        }
    }

    fn that_left(input: &Input) -> Option<Self> {
        match input {
            Input::ExtensionDisconnected { connection } => Some(Self::Extension(*connection)),
            Input::ClientDisconnected { client } => Some(Self::Client(*client)),
            Input::ExtensionConnected { .. }
            | Input::ExtensionSent { .. }
            | Input::ClientConnected { .. }
            | Input::ClientSent { .. }
            | Input::ClientSentGarbage { .. }
            | Input::DownloadCopied { .. }
            | Input::DeadlinePassed => None,
        }
    }
}

/// What the event loop is told.
enum Event {
    Opened { peer: Peer, outbox: Outbox, input: Input },
    Input(Input),
    View(Box<dyn FnOnce(&Relay) + Send>),
}

/// How sockets and routes reach the event loop.
#[derive(Debug, Clone)]
struct Handle {
    inbox: mpsc::Sender<Event>,
    browser_id: Arc<TargetId>,
    last_id: Arc<AtomicU64>,
}

/// The event loop has ended.
#[derive(Debug)]
struct Stopped;

impl Handle {
    async fn tell(&self, event: Event) -> Result<(), Stopped> {
        self.inbox.send(event).await.map_err(|_| Stopped)
    }

    /// Looks at the relay from its own task; `None` when that has ended.
    async fn view<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Relay) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        // The asker may have left; then nobody misses the answer.
        let look = Box::new(move |relay: &Relay| drop(answer.send(look(relay))));
        self.tell(Event::View(look)).await.ok()?;
        answered.await.ok()
    }

    fn browser_id(&self) -> &TargetId {
        &self.browser_id
    }

    fn next_connection(&self) -> ConnectionId {
        ConnectionId(self.next_id())
    }

    fn next_client(&self) -> ClientId {
        ClientId(self.next_id())
    }

    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Names this run of the relay; a name only, nothing relies on its being secret.
fn random_id() -> String {
    let random = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", random(), random())
}
