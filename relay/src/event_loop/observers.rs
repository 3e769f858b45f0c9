//! Reports peers that come and go, for programs that run a relay inside themselves.

use std::collections::BTreeSet;

use shared_protocol::TargetId;
use shared_protocol::http::PagesStatus;
use tokio::sync::{broadcast, watch};

use relay_core::Relay;

/// The number of events that may wait for a program that does not read; after that it misses the
/// oldest.
const WAITING: usize = 256;

/// An event: a peer or page came or went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RelayEvent {
    ExtensionConnected { extension_id: String },
    ExtensionDisconnected { extension_id: String },
    ClientConnected { client_id: String },
    ClientDisconnected { client_id: String },
    PageAdded { target_id: TargetId },
    PageRemoved { target_id: TargetId },
}

/// The feed that programs read.
#[derive(Debug, Clone)]
pub(crate) struct StatusFeed {
    pub(crate) status: watch::Receiver<PagesStatus>,
    pub(crate) events: broadcast::WeakSender<RelayEvent>,
}

/// Tells the programs that look.
#[derive(Debug)]
pub(crate) struct Publisher {
    status: watch::Sender<PagesStatus>,
    events: broadcast::Sender<RelayEvent>,
    present: Inventory,
    revision: u64,
}

#[derive(Debug, Default)]
struct Inventory {
    extensions: BTreeSet<String>,
    clients: BTreeSet<String>,
    pages: BTreeSet<TargetId>,
}

impl Publisher {
    pub(crate) fn new() -> (Self, StatusFeed) {
        let (publish, status) = watch::channel(PagesStatus::default());
        let (events, _) = broadcast::channel(WAITING);
        let status_feed = StatusFeed { status, events: events.downgrade() };
        (Self { status: publish, events, present: Inventory::default(), revision: 0 }, status_feed)
    }

    /// Tells what is different from last time.
    pub(crate) fn publish(&mut self, relay: &Relay) {
        if relay.revision() == self.revision {
            return;
        }
        self.revision = relay.revision();
        let now = Inventory::of(relay);
        for event in self.present.changes(&now) {
            // There may be no reader.
            drop(self.events.send(event));
        }
        self.present = now;
        self.status.send_replace(relay.pages_status());
    }
}

impl Inventory {
    fn of(relay: &Relay) -> Self {
        let extensions = relay.extensions_status().extensions;
        Self {
            extensions: extensions.into_iter().map(|entry| entry.extension_id).collect(),
            clients: relay.status().clients.into_iter().map(|entry| entry.client_id).collect(),
            pages: relay.pages().map(|info| info.target_id.clone()).collect(),
        }
    }

    /// Extensions come before what they bring, and go after it.
    fn changes(&self, now: &Self) -> Vec<RelayEvent> {
        use RelayEvent::{
            ClientConnected, ClientDisconnected, ExtensionConnected, ExtensionDisconnected,
            PageAdded, PageRemoved,
        };
        let mut events = Vec::new();
        let gone = self.pages.difference(&now.pages).cloned();
        events.extend(gone.map(|target_id| PageRemoved { target_id }));
        let gone = self.clients.difference(&now.clients).cloned();
        events.extend(gone.map(|client_id| ClientDisconnected { client_id }));
        let gone = self.extensions.difference(&now.extensions).cloned();
        events.extend(gone.map(|extension_id| ExtensionDisconnected { extension_id }));
        let come = now.extensions.difference(&self.extensions).cloned();
        events.extend(come.map(|extension_id| ExtensionConnected { extension_id }));
        let come = now.clients.difference(&self.clients).cloned();
        events.extend(come.map(|client_id| ClientConnected { client_id }));
        let come = now.pages.difference(&self.pages).cloned();
        events.extend(come.map(|target_id| PageAdded { target_id }));
        events
    }
}
