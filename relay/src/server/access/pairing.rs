//! Extensions that prove themselves, and whether others are let in.
//!
//! The two proofs are the first two frames of the very socket that is then used: nobody can take the
//! place of either side in between. Nothing of the handshake is kept, and what is known of keys is read
//! from the disk each time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shared_protocol::http::RELAY_NAME;
use shared_protocol::pairing::{KeyId, RelayHello, VERSION};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::places::Places;
use super::since::Since;
use crate::trust::pairing as files;

/// How many extensions whose keys are known may be proving themselves at once: of this user, and of all
/// others together. The oldest makes room.
const MAX_OURS: usize = 64;
const MAX_OTHERS: usize = 8;

/// How many refused extensions are told so at once; the others are cut off.
const MAX_REFUSED: usize = 32;

/// How often it is looked whether the key of a connected extension is still good.
const KEY_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// How long it is told that an extension was refused, and how seldom it is logged.
const REFUSAL_SHOWN_FOR: Duration = Duration::from_secs(60);

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
    pub(crate) home: Option<PathBuf>,
    mode: PairingMode,
    /// Where the relay listens, which is part of every proof.
    pub(crate) port: u16,
    pub(crate) listening: Since,
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
        let is_late = |at: &Option<Instant>| at.is_some_and(|at| at.elapsed() < REFUSAL_SHOWN_FOR);
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
        if last.is_none_or(|last| last.elapsed() >= REFUSAL_SHOWN_FOR) {
            tracing::info!("an extension was refused: {words}");
        }
        *last = Some(Instant::now());
    }

    pub(crate) fn unknown_key(&self) {
        self.note(|refused| &mut refused.unknown_key, "its key is not known");
    }

    pub(crate) fn places(&self, is_of_this_user: bool) -> &Places {
        if is_of_this_user { &self.ours } else { &self.others }
    }

    /// Takes a place among the extensions that are told why they are refused.
    pub(crate) fn goodbye(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.goodbyes).try_acquire_owned().ok()
    }

    /// Completes when the key of a connected extension is not good any more.
    pub(crate) async fn key_ended(&self, kid: KeyId) {
        loop {
            sleep(KEY_CHECK_INTERVAL).await;
            let Some(home) = self.home.clone() else { return };
            let looked = spawn_blocking(move || files::is_still_known(&home, kid));
            if !looked.await.unwrap_or(true) {
                return;
            }
        }
    }

    pub(crate) async fn remember(&self, install_id: Option<String>, kid: KeyId) {
        let (Some(home), Some(install_id)) = (self.home.clone(), install_id) else { return };
        let kept = spawn_blocking(move || files::remember_proven(&home, &install_id, kid)).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(%error, "it cannot be kept that an extension has proven itself");
        }
    }
}
