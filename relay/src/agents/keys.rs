//! The keys with which sandboxes connect to the relay.
//!
//! Not the user's token: agents' code can find out whatever its sandbox knows. A key opens nothing
//! but a CDP connection, and that is confined to the session's folders.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use warp::http::HeaderMap;

use super::limits::MAX_SOCKETS;
use crate::trust::Token;
use relay_core::Confinement;

/// The keys of all sandboxes that run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Arc<Mutex<Vec<Issued>>>);

#[derive(Debug)]
struct Issued {
    token: Token,
    confinement: Confinement,
    /// The browser that its session stays with.
    browser: Option<String>,
    /// The permits for sockets: one for each that may be open.
    sockets: Arc<Semaphore>,
}

/// The result of checking the headers of a request for a key.
#[derive(Debug)]
pub(crate) enum Shown {
    Nothing,
    /// A key with which as many sockets are open as may be.
    TooOften,
    Key(Entry),
}

/// The right to one socket, which a key gives and which lasts until it is dropped.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) confinement: Confinement,
    /// The only one that it drives, whatever its address says.
    pub(crate) browser: Option<String>,
    _socket: OwnedSemaphorePermit,
}

/// A sandbox's key, which is good until it is dropped.
#[derive(Debug)]
pub(super) struct Key {
    token: Token,
    keys: Keys,
}

impl Keys {
    /// Checks the headers of a request for a key, and returns the rights that the key gives.
    pub(crate) fn shown(&self, headers: &HeaderMap) -> Shown {
        let keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(issued) = keys.iter().find(|issued| issued.token.is_shown(headers, "")) else {
            return Shown::Nothing;
        };
        let (confinement, browser) = (issued.confinement.clone(), issued.browser.clone());
        match Arc::clone(&issued.sockets).try_acquire_owned() {
            Ok(socket) => Shown::Key(Entry { confinement, browser, _socket: socket }),
            Err(_) => Shown::TooOften,
        }
    }

    pub(super) fn issue(
        &self,
        confinement: Confinement,
        browser: Option<String>,
    ) -> std::io::Result<Key> {
        let token = Token::random()?;
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sockets = Arc::new(Semaphore::new(MAX_SOCKETS));
        keys.push(Issued { token: token.clone(), confinement, browser, sockets });
        Ok(Key { token, keys: self.clone() })
    }
}

impl Key {
    pub(super) fn secret(&self) -> &str {
        self.token.secret()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let mut keys = self.keys.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|issued| issued.token != self.token);
    }
}
