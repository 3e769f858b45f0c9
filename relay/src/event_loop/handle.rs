//! The handle of the event loop, through which sockets and routes reach it.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shared_protocol::TargetId;
use tokio::sync::{mpsc, oneshot};

use super::outbox::Outbox;
use relay_core::{ClientId, ConnectionId, Input, Relay};

/// The number of inputs that may wait for the event loop before sockets stop being read.
const INBOX: usize = 256;

/// A message to the event loop.
pub(crate) enum LoopEvent {
    Opened { peer: Peer, outbox: Outbox, input: Input },
    Input(Input),
    Query(Box<dyn FnOnce(&Relay) + Send>),
}

/// Either end of a socket, as the event loop names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    Extension(ConnectionId),
    Client(ClientId),
}

/// The handle through which sockets and routes reach the event loop.
#[derive(Debug, Clone)]
pub(crate) struct RelayHandle {
    inbox: mpsc::Sender<LoopEvent>,
    browser_id: Arc<TargetId>,
    last_id: Arc<AtomicU64>,
}

/// The event loop has ended.
#[derive(Debug)]
pub(crate) struct Stopped;

impl RelayHandle {
    /// A handle, and what comes through it.
    pub(crate) fn new() -> (Self, mpsc::Receiver<LoopEvent>) {
        let (inbox, events) = mpsc::channel(INBOX);
        let handle = Self {
            inbox,
            browser_id: Arc::new(TargetId::new(random_id())),
            last_id: Arc::new(AtomicU64::new(0)),
        };
        (handle, events)
    }

    /// A way in that does not keep the event loop alive.
    pub(crate) fn downgrade(&self) -> mpsc::WeakSender<LoopEvent> {
        self.inbox.downgrade()
    }

    pub(crate) async fn send(&self, event: LoopEvent) -> Result<(), Stopped> {
        self.inbox.send(event).await.map_err(|_| Stopped)
    }

    /// Looks at the relay from its own task; `None` when that has ended.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Relay) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        // The asker may have left; then nobody misses the answer.
        let look = Box::new(move |relay: &Relay| drop(answer.send(look(relay))));
        self.send(LoopEvent::Query(look)).await.ok()?;
        answered.await.ok()
    }

    pub(crate) fn browser_id(&self) -> &TargetId {
        &self.browser_id
    }

    pub(crate) fn next_connection(&self) -> ConnectionId {
        ConnectionId(self.next_id())
    }

    pub(crate) fn next_client(&self) -> ClientId {
        ClientId(self.next_id())
    }

    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Peer {
    pub(crate) fn disconnected(self) -> Input {
        match self {
            Self::Extension(connection) => Input::ExtensionDisconnected { connection },
            Self::Client(client) => Input::ClientDisconnected { client },
        }
    }

    pub(crate) fn disconnected_by(input: &Input) -> Option<Self> {
        match input {
            Input::ExtensionDisconnected { connection } => Some(Self::Extension(*connection)),
            Input::ClientDisconnected { client } => Some(Self::Client(*client)),
            Input::ExtensionConnected { .. }
            | Input::ExtensionSent { .. }
            | Input::ClientConnected { .. }
            | Input::ClientSent { .. }
            | Input::ClientSentGarbage { .. }
            | Input::DownloadCopied { .. }
            | Input::CommandRefused { .. }
            | Input::WindowModeChosen { .. }
            | Input::Closing
            | Input::DeadlinePassed => None,
        }
    }
}

/// Names this run of the relay; a name only, nothing relies on its being secret.
fn random_id() -> String {
    let random = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", random(), random())
}
