//! A CDP client inside this process, for what is asked over HTTP.

use std::time::Duration;

use serde_json::Value;
use shared_protocol::{RequestId, TargetId};
use tokio::time::timeout;

use super::handle::{LoopEvent, Peer, RelayHandle};
use super::outbox::{LIMIT, Outgoing, Pending, outbox};
use relay_core::cdp::{Command, Error, Frame};
use relay_core::payload::Payload;
use relay_core::{ClientHello, Input};

/// The time that a tab may take to open or close before the caller gets an error.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

const ID: RequestId = RequestId(1);

impl RelayHandle {
    /// Connects as a client, of one page or of a browser, sends one command and leaves.
    pub(crate) async fn call(
        &self,
        extension: Option<String>,
        page: Option<TargetId>,
        method: &str,
        params: &Value,
    ) -> Result<Payload, Error> {
        let command = Command {
            id: ID,
            session: None,
            method: method.to_owned(),
            params: Some(Payload::of(params)),
        };
        let handle = self.clone();
        // A task of its own: the HTTP caller may hang up, and the client must leave all the same.
        let calling = tokio::spawn(async move { handle.call_once(extension, page, command).await });
        calling.await.unwrap_or_else(|_| Err(stopped()))
    }

    async fn call_once(
        &self,
        extension: Option<String>,
        page: Option<TargetId>,
        command: Command,
    ) -> Result<Payload, Error> {
        let (outbox, pending) = outbox(LIMIT);
        let client = self.next_client();
        let peer = Peer::Client(client);
        let input = Input::ClientConnected {
            client,
            hello: ClientHello { extension, page, ..ClientHello::default() },
        };
        let sent = LoopEvent::Input(Input::ClientSent { client, command });
        for event in [LoopEvent::Opened { peer, outbox, input }, sent] {
            self.send(event).await.map_err(|_| stopped())?;
        }
        let answered = timeout(COMMAND_TIMEOUT, answer(pending)).await;
        // The event loop may have ended before us.
        drop(self.send(LoopEvent::Input(peer.disconnected())).await);
        answered.unwrap_or_else(|_| Err(Error::server("the browser did not answer")))
    }
}

async fn answer(mut pending: Pending) -> Result<Payload, Error> {
    while let Some(outgoing) = pending.next().await {
        match outgoing {
            Outgoing::ToClient(Frame::Reply { id: ID, outcome, .. }) => return outcome,
            Outgoing::Close { reason, .. } => return Err(Error::server(reason)),
            Outgoing::ToClient(_) | Outgoing::ToExtension(_) => {}
        }
    }
    Err(stopped())
}

fn stopped() -> Error {
    Error::server("the relay is shutting down")
}
