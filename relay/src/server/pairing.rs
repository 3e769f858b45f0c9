//! Extensions that prove themselves, and whether others are let in.
//!
//! The two proofs are the first two frames of the very socket that is then used: nobody can take the
//! place of either side in between. Nothing of the handshake is kept, and what is known of keys is read
//! from the disk each time.

mod handshake;
mod places;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shared_protocol::http::RELAY_NAME;
use shared_protocol::pairing::{KeyId, Knock, RelayHello, VERSION};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};
use warp::Reply;
use warp::reply::Response;
use warp::ws::Ws;

use super::events::{Event, Handle, Peer};
use super::guard::Policy;
use super::listen::Since;
use super::peer::Remote;
use super::routes::upgraded;
use super::socket::{self, MAX_MESSAGE};
use crate::pairing as files;
use handshake::Proven;
use places::Places;
use relay_core::Input;

/// How many extensions whose keys are known may be proving themselves at once: of this user, and of all
/// others together. The oldest makes room.
const MAX_OURS: usize = 64;
const MAX_OTHERS: usize = 8;

/// How many that were refused are told so at once; the rest is just cut off.
const MAX_REFUSED: usize = 32;

/// How much is read of an extension before it has proven itself. What it says next may be read in one
/// go with its proof.
const MAX_UNPROVEN: u64 = 256 * 1024;

/// How often it is looked whether the key of a connected extension is still good.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How long it is told that an extension was refused, and how seldom it is logged.
const LATELY: Duration = Duration::from_secs(60);

const NOT_PAIRED: &str = "this relay takes paired browsers only: run `playwriter extension install`, \
                          then click the round arrow on its card in chrome://extensions";

const MUST_PROVE: &str = "this installation of the extension has proven itself before, and has to: \
                          run `playwriter extension install`, or end its pairing with --unpaired";

/// Which extensions a relay lets in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PairingMode {
    /// All of this user's; one that has proven itself once has to from then on.
    #[default]
    Auto,
    /// Only those that prove themselves.
    Required,
}

/// What a relay knows about the extensions that knock.
#[derive(Debug)]
pub(crate) struct Pairing {
    /// Where the secret of the user is.
    home: Option<PathBuf>,
    mode: PairingMode,
    /// Where the relay listens, which is part of every proof.
    port: u16,
    listening: Since,
    ours: Places,
    others: Places,
    goodbyes: Arc<Semaphore>,
    refused: Mutex<Refused>,
}

/// When extensions were refused last, by the reason.
#[derive(Debug, Default)]
struct Refused {
    unknown_key: Option<Instant>,
    not_paired: Option<Instant>,
}

/// An extension at the door that wants to prove itself.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) knock: Knock,
    pub(crate) user_agent: String,
    pub(crate) remote: Remote,
    pub(crate) policy: Arc<Policy>,
}

impl Pairing {
    pub(crate) fn new(
        home: Option<PathBuf>,
        mode: PairingMode,
        port: u16,
        listening: Since,
    ) -> Self {
        Self {
            home,
            mode,
            port,
            listening,
            ours: Places::new(MAX_OURS),
            others: Places::new(MAX_OTHERS),
            goodbyes: Arc::new(Semaphore::new(MAX_REFUSED)),
            refused: Mutex::default(),
        }
    }

    /// The answer to `GET /extension/hello`, for anybody.
    pub(crate) fn hello(&self) -> RelayHello {
        let pairing = self.home.iter().map(|_| VERSION.to_owned()).collect();
        let required = self.mode == PairingMode::Required;
        RelayHello { name: RELAY_NAME.to_owned(), pairing, required }
    }

    /// Why an extension that shows no proof is not let in, if it is not.
    pub(crate) async fn refuses(&self, install_id: Option<String>) -> Option<&'static str> {
        if self.mode == PairingMode::Required {
            self.note(|refused| &mut refused.not_paired, NOT_PAIRED);
            return Some(NOT_PAIRED);
        }
        let (home, install_id) = (self.home.clone()?, install_id?);
        let is_proven = spawn_blocking(move || files::is_proven(&home, &install_id)).await;
        // Who cannot be looked up is not let in.
        if !is_proven.unwrap_or(true) {
            return None;
        }
        self.note(|refused| &mut refused.not_paired, MUST_PROVE);
        Some(MUST_PROVE)
    }

    /// Which extensions were not let in lately, in words for the user.
    pub(crate) fn refused(&self) -> Vec<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_late = |at: &Option<Instant>| at.is_some_and(|at| at.elapsed() < LATELY);
        let unknown = is_late(&refused.unknown_key).then_some(
            "a browser with an unknown key knocked: run `playwriter extension install` as its user",
        );
        let unpaired = is_late(&refused.not_paired).then_some(
            "a browser was refused, since it is not paired: run `playwriter extension install`, then \
             click the round arrow on its card in chrome://extensions",
        );
        unknown.into_iter().chain(unpaired).map(str::to_owned).collect()
    }

    /// Keeps that an extension was refused; anybody may knock each second, so few lines are logged.
    fn note(&self, reason: impl FnOnce(&mut Refused) -> &mut Option<Instant>, words: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let last = reason(&mut refused);
        if last.is_none_or(|last| last.elapsed() >= LATELY) {
            tracing::info!("an extension was refused: {words}");
        }
        *last = Some(Instant::now());
    }

    fn unknown_key(&self) {
        self.note(|refused| &mut refused.unknown_key, "its key is not known");
    }

    fn places(&self, is_of_this_user: bool) -> &Places {
        if is_of_this_user { &self.ours } else { &self.others }
    }

    /// A place among those who are told why they are refused.
    fn goodbye(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.goodbyes).try_acquire_owned().ok()
    }

    /// Completes when the key of a connected extension is not good any more.
    async fn key_ended(&self, kid: KeyId) {
        loop {
            sleep(LOOK_AGAIN).await;
            let Some(home) = self.home.clone() else { return };
            let looked = spawn_blocking(move || files::is_still_known(&home, kid));
            if !looked.await.unwrap_or(true) {
                return;
            }
        }
    }

    async fn remember(&self, install_id: Option<String>, kid: KeyId) {
        let (Some(home), Some(install_id)) = (self.home.clone(), install_id) else { return };
        let kept = spawn_blocking(move || files::remember_proven(&home, &install_id, kid)).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(%error, "it cannot be kept that an extension has proven itself");
        }
    }
}

/// Lets an extension prove itself, and serves it if it has.
pub(crate) fn knocked(
    handle: &Handle,
    pairing: &Arc<Pairing>,
    ws: Ws,
    Entry { knock, user_agent, remote, policy }: Entry,
) -> Response {
    let (handle, pairing) = (handle.clone(), Arc::clone(pairing));
    let upgraded = upgraded(ws, MAX_MESSAGE, move |socket| async move {
        // What is longer would have to be kept before it could be refused.
        remote.allowance().limit(MAX_UNPROVEN);
        let places = pairing.places(policy.is_known(&remote));
        let proven = handshake::shake(socket, &knock, &pairing, places).await;
        let Some(Proven { socket, hello }) = proven else { return };
        remote.allowance().lift();
        policy.extension_proved_itself(&remote);
        // Before it is there: nobody may take its place from now on.
        pairing.remember(hello.install_id.clone(), knock.kid).await;
        let connection = handle.next_connection();
        let peer = Peer::Extension(connection);
        let connected = Input::ExtensionConnected { connection, hello, user_agent, proven: true };
        tokio::select! {
            () = socket::run(socket, handle.clone(), peer, connected) => {}
            () = pairing.key_ended(knock.kid) => {
                tracing::info!(%connection, "the key of an extension is not good any more");
                // The event loop may have ended.
                drop(handle.tell(Event::Input(peer.disconnected())).await);
            }
        }
    });
    upgraded.into_response()
}
